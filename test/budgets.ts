/**
 * What there is to read falls or stays, each figure with its reason. A capability that needs lines takes them away elsewhere
 * first.
 */

/** Figures of `src` and `schemas` together; `source-figures.ts` says what they count. */
export const FIGURES: Record<string, readonly [most: number, why: string]> = {
  files: [420, 'a file for an idea: 80 to 500 lines'],
  lines: [79_500, 'what a reader has before them'],
  exportedTypes: [660, 'names to learn'],
  oneImporter: [130, 'a file with one importer lies in it, unless it is an idea of its own'],
  ofFunctions: [90, 'functions are verbs'],
  bannedWords: [46, 'words that have a plainer one'],
}

/** Lines of rooms: of `src` itself, of its folders, and of `schemas`. */
export const ROOM_LINES: Record<string, readonly [most: number, why: string]> = {
  schemas: [6_200, 'the contract of the core: TypeBox alone'],
  src: [2_000, 'how a process begins, settings and errors'],
  'src/accounts': [3_800, 'logins, keys, throttles'],
  'src/advice': [20_000, 'the way of an answer'],
  'src/catalog': [4_400, 'releases, areas, countries'],
  'src/cli': [5_000, 'the tool of operators'],
  'src/data': [9_500, 'databases, migrations, audit, tiles'],
  'src/extensions': [40_000, 'all that can be deleted'],
  'src/history': [5_000, 'items, feedback, statistics'],
  'src/http': [9_000, 'plugins, formats, the document, pages'],
  'src/ingest': [11_500, 'files to rasters to tables'],
  'src/lib': [3_200, 'tools without a domain'],
  'src/lookup': [3_500, 'which release answers, values, places'],
  'src/maps': [6_000, 'layers, tiles, downloads'],
  'src/raster': [3_500, 'grids, codecs, kernels of zones'],
  'src/standards': [8_000, 'what becomes maps and extensions'],
}
