/** Why a PostgreSQL that ended did so, as far as it said. */
export interface LastWords {
  /** Takes a line of its log. */
  hear(line: string): void
  /** What it ended with; undefined where it said nothing of the kind. */
  spoken(): string | undefined
}

/**
 * Errors of statements are logged as well; these are said by a server that does not go on. Only the beginning of a
 * line is PostgreSQL's own: what comes after may be a client's.
 */
const ENDING = /^\S+ \S+ \S+ \[\d+\] (?:FATAL|PANIC): {2}(.+)$/
const DETAIL = /^\S+ \S+ \S+ \[\d+\] DETAIL: {2}(.+?)\.?$/

/** Listens to what a PostgreSQL logs. */
export function listenForLastWords(): LastWords {
  let words: string | undefined
  return {
    hear(line) {
      const ending = ENDING.exec(line)?.[1]
      const detail = DETAIL.exec(line)?.[1]
      if (ending) words = ending
      else if (detail && words) words += ` (${detail})`
    },
    spoken: () => words,
  }
}
