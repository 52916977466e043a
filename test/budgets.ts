/**
 * What there is to read falls or stays, each figure with its reason. A capability that needs lines takes them away elsewhere
 * first.
 */

/** Figures of `src` and `schemas` together; `source-figures.ts` says what they count. */
export const FIGURES: Record<string, readonly [most: number, why: string]> = {
  files: [393, 'a file for an idea: 80 to 500 lines'],
  lines: [78_620, 'what a reader has before them'],
  exportedTypes: [631, 'names to learn'],
  oneImporter: [112, 'a file with one importer lies in it, unless it is an idea of its own'],
  ofFunctions: [85, 'functions are verbs'],
  bannedWords: [45, 'words that have a plainer one'],
}

/** Lines of rooms: of `src` itself, of its folders, and of `schemas`. */
export const ROOM_LINES: Record<string, readonly [most: number, why: string]> = {}
