/**
 * What there is to read falls or stays, each figure with its reason. A capability that needs lines takes them away elsewhere
 * first.
 */

/** Figures of the core; `source-figures.ts` says what they count. */
export const FIGURES: Record<string, readonly [most: number, why: string]> = {
  files: [295, 'a file for an idea: 80 to 500 lines'],
  lines: [54_860, 'what a reader has before them'],
  exportedTypes: [492, 'names to learn'],
  oneImporter: [86, 'a file with one importer lies in it, unless it is an idea of its own'],
  ofFunctions: [55, 'functions are verbs'],
  bannedWords: [12, 'words that have a plainer one'],
}

/** Lines of rooms: of `src` itself, of its folders, and of `schemas`. */
export const ROOM_LINES: Record<string, readonly [most: number, why: string]> = {
  schemas: [4_633, 'the contract of the core: TypeBox alone'],
  src: [1_630, 'how a process begins, settings and errors'],
  'src/accounts': [2_868, 'logins, keys, throttles'],
  'src/advice': [8_238, 'the way of an answer'],
  'src/catalog': [2_002, 'releases, areas, countries'],
  'src/cli': [2_009, 'the tool of operators'],
  'src/data': [3_993, 'databases, migrations, audit, tiles'],
  'src/extensions': [24_611, 'all that can be deleted, with the heads of extensions'],
  'src/history': [1_952, 'items, feedback, statistics'],
  'src/http': [7_518, 'plugins, formats, the document, pages'],
  'src/ingest': [10_864, 'files to rasters to tables'],
  'src/lib': [2_417, 'tools without a domain'],
  'src/lookup': [2_572, 'which release answers, values, places'],
  'src/maps': [1_083, 'layers, tiles, downloads'],
  'src/raster': [3_081, 'grids, codecs, kernels of zones'],
}
