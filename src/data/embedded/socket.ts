import { Duplex } from 'node:stream'
import { endsReadyForQuery } from './messages.ts'

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
