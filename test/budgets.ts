/**
 * What there is to read falls or stays, each figure with its reason. A capability that needs lines takes them away elsewhere
 * first.
 */

/** Figures of the core; `source-figures.ts` says what they count. */
export const FIGURES: Record<string, readonly [most: number, why: string]> = {
  files: [296, 'a file for an idea: 80 to 500 lines'],
  lines: [55_398, 'what a reader has before them'],
  exportedTypes: [499, 'names to learn'],
  oneImporter: [84, 'a file with one importer lies in it, unless it is an idea of its own'],
  ofFunctions: [56, 'functions are verbs'],
  bannedWords: [12, 'words that have a plainer one'],
}

/** Lines of rooms: of `src` itself, of its folders, and of `schemas`. */
export const ROOM_LINES: Record<string, readonly [most: number, why: string]> = {
  schemas: [4_645, 'the contract of the core: TypeBox alone'],
  src: [1_746, 'how a process begins, settings and errors'],
  'src/accounts': [2_868, 'logins, keys, throttles'],
  'src/advice': [8_443, 'the way of an answer'],
  'src/catalog': [2_005, 'releases, areas, countries'],
  'src/cli': [2_084, 'the tool of operators'],
  'src/data': [4_052, 'databases, migrations, audit, tiles'],
  'src/extensions': [31_655, 'all that can be deleted, with the heads of extensions'],
  'src/history': [1_954, 'items, feedback, statistics'],
  'src/http': [7_174, 'plugins, formats, the document, pages'],
  'src/ingest': [11_129, 'files to rasters to tables'],
  'src/lib': [2_512, 'tools without a domain'],
  'src/lookup': [2_572, 'which release answers, values, places'],
  'src/maps': [1_113, 'layers, tiles, downloads'],
  'src/raster': [3_101, 'grids, codecs, kernels of zones'],
}
