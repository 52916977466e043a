import { messageOf } from '#src/lib/promises.ts'

/** The last message of an answer: type, length 5, and the state of the transaction. */
const READY_FOR_QUERY = Buffer.from([0x5a, 0, 0, 0, 5])
const OUTSIDE_TRANSACTION = 0x49

/** A Query message: a statement without parameters. */
export function queryMessage(statement: string): Uint8Array {
  const message = Buffer.alloc(1 + 4 + Buffer.byteLength(statement) + 1)
  message.write('Q')
  message.writeUInt32BE(message.length - 1, 1)
  message.write(statement, 5)
  return message
}

/** Whether an answer ends with the server ready for the next query, and outside of any transaction. */
export function isIdle(answer: Uint8Array): boolean {
  return endsReadyForQuery(answer) && answer.at(-1) === OUTSIDE_TRANSACTION
}

/** Whether an answer is one to the end, as those to all requests are, errors included. */
export function endsReadyForQuery(answer: Uint8Array): boolean {
  const at = answer.length - 6
  return at >= 0 && READY_FOR_QUERY.every((byte, index) => answer[at + index] === byte)
}

/** Emscripten numbers what can go wrong with files as WASI does, and says nothing else about it. */
const SENTENCES: Record<number, string> = {
  2: 'EACCES: permission denied',
  19: 'EDQUOT: disk quota exceeded',
  29: 'EIO: i/o error',
  51: 'ENOSPC: no space left on device',
  63: 'EPERM: operation not permitted',
  69: 'EROFS: read-only file system',
}

/** What an error says that PGlite has thrown: one about files is no Error, and has a number alone. */
export function fileErrorOf(error: unknown): string {
  const number = (error as { errno?: number } | null)?.errno
  return (number !== undefined && SENTENCES[number]) || messageOf(error)
}

/** Why a PostgreSQL that ended did so, as far as it said. */
interface LastWords {
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
