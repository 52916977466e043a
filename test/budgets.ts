/**
 * What there is to read falls or stays, each figure with its reason. A capability that needs lines takes them away elsewhere
 * first.
 */

/** Figures of the core; `source-figures.ts` says what they count. */
export const FIGURES: Record<string, readonly [most: number, why: string]> = {
  files: [309, 'a file for an idea: 80 to 500 lines'],
  lines: [59_199, 'what a reader has before them'],
  exportedTypes: [507, 'names to learn'],
  oneImporter: [88, 'a file with one importer lies in it, unless it is an idea of its own'],
  ofFunctions: [61, 'functions are verbs'],
  bannedWords: [14, 'words that have a plainer one'],
}

/** Lines of rooms: of `src` itself, of its folders, and of `schemas`. */
export const ROOM_LINES: Record<string, readonly [most: number, why: string]> = {
  schemas: [4_695, 'the contract of the core: TypeBox alone'],
  src: [1_637, 'how a process begins, settings and errors'],
  'src/accounts': [3_045, 'logins, keys, throttles'],
  'src/advice': [9_156, 'the way of an answer'],
  'src/catalog': [2_276, 'releases, areas, countries'],
  'src/cli': [3_386, 'the tool of operators'],
  'src/data': [4_658, 'databases, migrations, audit, tiles'],
  'src/extensions': [20_090, 'all that can be deleted, with the heads of extensions'],
  'src/history': [1_950, 'items, feedback, statistics'],
  'src/http': [7_406, 'plugins, formats, the document, pages'],
  'src/ingest': [10_870, 'files to rasters to tables'],
  'src/lib': [2_541, 'tools without a domain'],
  'src/lookup': [3_007, 'which release answers, values, places'],
  'src/maps': [1_491, 'layers, tiles, downloads'],
  'src/raster': [3_081, 'grids, codecs, kernels of zones'],
}
