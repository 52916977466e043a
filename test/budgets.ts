/**
 * What there is to read falls or stays, each figure with its reason. A capability that needs lines takes them away elsewhere
 * first.
 */

/** Figures of the core; `source-figures.ts` says what they count. */
export const FIGURES: Record<string, readonly [most: number, why: string]> = {
  files: [324, 'a file for an idea: 80 to 500 lines'],
  lines: [61_643, 'what a reader has before them'],
  exportedTypes: [526, 'names to learn'],
  oneImporter: [93, 'a file with one importer lies in it, unless it is an idea of its own'],
  ofFunctions: [78, 'functions are verbs'],
  bannedWords: [42, 'words that have a plainer one'],
}

/** Lines of rooms: of `src` itself, of its folders, and of `schemas`. */
export const ROOM_LINES: Record<string, readonly [most: number, why: string]> = {
  schemas: [4_710, 'the contract of the core: TypeBox alone'],
  src: [1_678, 'how a process begins, settings and errors'],
  'src/accounts': [3_115, 'logins, keys, throttles'],
  'src/advice': [9_270, 'the way of an answer'],
  'src/catalog': [2_296, 'releases, areas, countries'],
  'src/cli': [3_608, 'the tool of operators'],
  'src/data': [6_477, 'databases, migrations, audit, tiles'],
  'src/extensions': [18_619, 'all that can be deleted, with the heads of extensions'],
  'src/history': [1_982, 'items, feedback, statistics'],
  'src/http': [7_438, 'plugins, formats, the document, pages'],
  'src/ingest': [10_962, 'files to rasters to tables'],
  'src/lib': [2_487, 'tools without a domain'],
  'src/lookup': [3_032, 'which release answers, values, places'],
  'src/maps': [1_507, 'layers, tiles, downloads'],
  'src/raster': [3_081, 'grids, codecs, kernels of zones'],
}
