import { Duplex } from 'node:stream'
import { formatError } from '#src/lib/promises.ts'

/** The last message of an answer: type, length 5, and the state of the transaction. */
const READY_FOR_QUERY = Buffer.from([0x5a, 0, 0, 0, 5])
export const READY_BYTES = 6
const OUTSIDE_TRANSACTION = 0x49

/** How an answer ends; all but those of a server that failed inside them are finished, errors included. */
type Ending = 'idle' | 'in transaction' | 'unfinished'

/** Bytes of an answer; the last ones come with its ending. */
interface Piece {
  bytes: Uint8Array
  ending: Ending | undefined
}

/** A Query message: a statement without parameters. */
export function queryMessage(statement: string): Uint8Array {
  const message = Buffer.alloc(1 + 4 + Buffer.byteLength(statement) + 1)
  message.write('Q')
  message.writeUInt32BE(message.length - 1, 1)
  message.write(statement, 5)
  return message
}

/** @param answer all of it, or its end */
export function readEnding(answer: Buffer): Ending {
  if (!answer.subarray(-READY_BYTES, -1).equals(READY_FOR_QUERY)) return 'unfinished'
  return answer.at(-1) === OUTSIDE_TRANSACTION ? 'idle' : 'in transaction'
}

/** Requests that run statements: Parse, Bind and Query. */
const RUNS = new Set([0x50, 0x42, 0x51])
const QUERY = 0x51
/** CommandComplete and ErrorResponse. EmptyQueryResponse is one of Query alone: after such exceptions it comes too. */
const OUTCOMES = [0x43, 0x45]
const EMPTY_QUERY = 0x49

/**
 * Looks for the outcome of a statement in the pieces of its answer. After some exceptions of GEOS, PGlite says that it is
 * ready without one: the transaction may be gone, and clients would take it for no rows.
 */
export function awaitOutcome(request: Uint8Array) {
  const outcomes = request[0] === QUERY ? [...OUTCOMES, EMPTY_QUERY] : OUTCOMES
  let found = !RUNS.has(request[0] as number)
  let rest = Buffer.alloc(0)
  let skipped = 0
  return {
    hear(bytes: Uint8Array): void {
      if (found) return
      rest = Buffer.concat([rest, bytes.subarray(skipped)])
      skipped = Math.max(0, skipped - bytes.length)
      let at = 0
      while (!found && at + 5 <= rest.length) {
        found = outcomes.includes(rest.readUInt8(at))
        at += 1 + rest.readUInt32BE(at + 1)
      }
      skipped += Math.max(0, at - rest.length)
      rest = rest.subarray(at)
    },
    isMissing: () => !found,
  }
}

/** Sentences for the error numbers of WASI, which Emscripten gives alone. */
const SENTENCES: Record<number, string> = {
  2: 'EACCES: permission denied',
  19: 'EDQUOT: disk quota exceeded',
  29: 'EIO: i/o error',
  51: 'ENOSPC: no space left on device',
  63: 'EPERM: operation not permitted',
  69: 'EROFS: read-only file system',
}

/** The message of an error of PGlite: an error of files has a number alone. */
export function describeFileError(error: unknown): string {
  const number = (error as { errno?: number } | null)?.errno
  return (number !== undefined && SENTENCES[number]) || formatError(error)
}

/** Lines of a server that ends. Only the begin of a line is PostgreSQL's own: the rest may be a client's. */
const ENDING = /^\S+ \S+ \S+ \[\d+\] (?:FATAL|PANIC): {2}(.+)$/
const DETAIL = /^\S+ \S+ \S+ \[\d+\] DETAIL: {2}(.+?)\.?$/

/** Finds the reason of its end in the log of PostgreSQL. */
export function listenForLastWords() {
  let words: string | undefined
  return {
    hear(line: string): void {
      const ending = ENDING.exec(line)?.[1]
      const detail = DETAIL.exec(line)?.[1]
      if (ending) words = ending
      else if (detail && words) words += ` (${detail})`
    },
    spoken: () => words,
  }
}

/** Messages with an answer: Query, Sync and Flush. */
const ASKS_FOR_ANSWER = new Set([0x51, 0x53, 0x48])
const TERMINATE = 0x58

export interface ProtocolServer {
  /** Resolves at its end, to the error of its clients. */
  ended: Promise<Error>
  /**
   * @param messages whole messages of the protocol
   * @param receive takes the answer, piece by piece
   */
  exchange(messages: Uint8Array, receive: (piece: Piece) => void): Promise<Ending>
  /** @param abandoned whether the client still waits for an answer */
  disconnected(abandoned: boolean): void
}

/** The client's end of a connection to the embedded server, instead of a TCP socket. */
export class EmbeddedSocket extends Duplex {
  readonly #attach: () => Promise<ProtocolServer>
  #server: ProtocolServer | undefined
  #received: Buffer = Buffer.alloc(0)
  #started = false
  #waiting = false

  constructor(attach: () => Promise<ProtocolServer>) {
    super()
    this.#attach = attach
  }

  // Of net.Socket, for pg.
  connect(): this {
    this.#attach().then(
      (server) => {
        if (this.destroyed) return server.disconnected(false)
        this.#server = server
        server.ended.then((error) => this.destroy(error))
        this.emit('connect')
      },
      (error) => this.destroy(error),
    )
    return this
  }
  setNoDelay(): this {
    return this
  }
  ref(): this {
    return this
  }

  override _read(): void {}

  override _writev(chunks: { chunk: Buffer }[], done: (error?: Error | null) => void): void {
    this.#send(Buffer.concat(chunks.map(({ chunk }) => chunk))).then(() => done(), done)
  }

  override _final(done: () => void): void {
    this.push(null)
    done()
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    this.#server?.disconnected(this.#waiting)
    this.#server = undefined
    done(error)
  }

  async #send(bytes: Buffer): Promise<void> {
    this.#received = this.#received.length === 0 ? bytes : Buffer.concat([this.#received, bytes])
    const { end, terminated } = this.#endOfRequest()
    if (terminated) {
      this.push(null)
      this.destroy()
      return
    }
    if (end === 0 || !this.#server) return
    const request = this.#received.subarray(0, end)
    this.#received = this.#received.subarray(end)

    this.#waiting = true
    const ending = await this.#server.exchange(request, ({ bytes, ending }) => {
      if (ending === 'unfinished') return
      // A client that has the last piece may hang up at once.
      if (ending) this.#waiting = false
      if (!this.destroyed) this.push(bytes)
    })
    // The WASM code was unwound in the middle, and no later answer can be trusted.
    if (ending === 'unfinished')
      throw new Error('the embedded database failed inside this statement and was restarted')
  }

  /** End of the last message with an answer, or 0. */
  #endOfRequest(): { end: number; terminated: boolean } {
    const bytes = this.#received
    let end = 0
    let position = 0
    while (position + 5 <= bytes.length) {
      // The first message, the startup packet, has no type byte.
      const type = this.#started ? bytes.readUInt8(position) : undefined
      const length = this.#started ? 1 + bytes.readUInt32BE(position + 1) : bytes.readUInt32BE(position)
      if (position + length > bytes.length) break
      if (type === TERMINATE) return { end, terminated: true }
      position += length
      if (type === undefined || ASKS_FOR_ANSWER.has(type)) end = position
      this.#started = true
    }
    return { end, terminated: false }
  }
}
