import { Duplex } from 'node:stream'
import { formatError } from '#src/lib/promises.ts'

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
function endsReadyForQuery(answer: Uint8Array): boolean {
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
export function describeFileError(error: unknown): string {
  const number = (error as { errno?: number } | null)?.errno
  return (number !== undefined && SENTENCES[number]) || formatError(error)
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

/** Types of messages that a client sends and then waits for the answer: Query, Sync and Flush. */
const ASKS_FOR_ANSWER = new Set([0x51, 0x53, 0x48])
const TERMINATE = 0x58

export interface ProtocolServer {
  /** Resolves when the server is no more, to what its clients are told. */
  ended: Promise<Error>
  /** Hands over whole protocol messages; resolves to the answer's bytes. */
  exchange(messages: Uint8Array): Promise<Uint8Array>
  /** Told when the client is gone, and whether it was still owed an answer. */
  disconnected(abandoned: boolean): void
}

/**
 * The client's end of a connection to the embedded server, in the place of a TCP socket: what pg
 * writes goes to the server message by message, what the server answers can be read.
 */
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

  // What pg calls on a net.Socket.
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
  setKeepAlive(): this {
    return this
  }
  ref(): this {
    return this
  }
  unref(): this {
    return this
  }

  override _read(): void {}

  override _write(chunk: Buffer, _encoding: unknown, done: (error?: Error | null) => void): void {
    this.#send(chunk).then(() => done(), done)
  }

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
    const answer = await this.#server.exchange(request)
    this.#waiting = false
    if (endsReadyForQuery(answer)) {
      this.push(Buffer.from(answer.buffer, answer.byteOffset, answer.byteLength))
    } else {
      // The server answers every request with ReadyForQuery at its end, errors included. Where it does
      // not, the WASM code was unwound in the middle and nothing it says later can be trusted.
      this.#waiting = true
      throw new Error('the embedded database failed inside this statement and was restarted')
    }
  }

  /** Where the last message ends that asks for an answer: 0 when there is none yet. */
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
