import type { Readable } from 'node:stream'
import type { FastifyReply, FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import { ApiError } from '#src/errors.ts'
import { isObject } from '#src/lib/collections.ts'
import { addTo, type ClientKey } from '#src/lib/fair-queue.ts'
import type { App } from '../app.ts'
import { clientKeyOf } from '../request.ts'
import { NOT_UTF8, nestingError } from './body-parser.ts'
import { refuseSlowRequest } from './error-handler.ts'
import { overloaded } from './overload.ts'

/** Enough for each body without many points or an outline. */
const SHORT_BODY_BYTES = 8192

/** A character beyond the first 65,536 in ASCII: `\ud83c\udf3e`. */
const LONGEST_CHARACTER_BYTES = 12

/** Bytes of a body around its texts. */
const REMAINDER_BYTES = 2048

/** Limits the body of each route without a `bodyLimit` to 8 kB, or to its texts at their longest. */
export const bodyLimits = fp(
  async (app: App) => {
    app.addHook('onRoute', function (route) {
      if (route.bodyLimit !== undefined) return
      const texts = LONGEST_CHARACTER_BYTES * countCharacters(route.schema?.body, (id) => this.getSchema(id))
      const needed = Math.max(SHORT_BODY_BYTES, texts + REMAINDER_BYTES)
      route.bodyLimit = Math.min(needed, app.config.BODY_LIMIT_BYTES)
    })
  },
  { name: 'body-limits' },
)

/** Characters of all texts of a schema at their longest. */
function countCharacters(schema: unknown, schemaOf: (id: string) => unknown): number {
  if (Array.isArray(schema)) return schema.reduce((sum, part) => sum + countCharacters(part, schemaOf), 0)
  if (!isObject(schema)) return 0
  const { $ref, maxLength, ...parts } = schema
  if (typeof $ref === 'string') return countCharacters(schemaOf($ref.replace('#', '')), schemaOf)
  return (typeof maxLength === 'number' ? maxLength : 0) + countCharacters(Object.values(parts), schemaOf)
}

interface ByteLimits {
  /** Bytes in memory at the same time. */
  bytes: number
  bytesEachNetwork: number
  /** Of one caller in any network; no permit is larger. */
  bytesEach: number
  /** Requests that wait. */
  waiting: number
}

/** Permit to hold bytes in memory. */
export interface BytePermit {
  readonly bytes: number
  shrinkTo(bytes: number): void
  /** False without space, or after `leave`. */
  growTo(bytes: number): boolean
  leave(): void
}

interface Waiting {
  clientKey: ClientKey
  bytes: number
  enter(): void
  refuse(error: unknown): void
}

/** A limiter of bytes in memory, with shares of networks and callers. */
export function createByteLimiter(limits: ByteLimits, refusal: () => Error) {
  const held = createHoldings(limits)
  const waiting: Waiting[] = []

  function remove(one: Waiting): void {
    waiting.splice(waiting.indexOf(one), 1)
  }

  function admit(): void {
    for (;;) {
      const next = held.leastOf(waiting.filter(({ clientKey, bytes }) => held.isInShare(clientKey, bytes)))
      // Shorter bodies do not overtake it, or it might wait for ever.
      if (!next || !held.hasSpace(next.bytes)) return
      remove(next)
      next.enter()
    }
  }

  return {
    /**
     * Waits for a permit; the client with least bytes is first.
     *
     * @param signal ends the wait with its reason
     * @throws the refusal where too many wait: the network with most waiting requests loses the newest
     */
    enter(clientKey: ClientKey, bytes: number, signal: AbortSignal): Promise<BytePermit> {
      return new Promise((resolve, reject) => {
        if (signal.aborted) throw signal.reason
        const abort = () => {
          remove(one)
          reject(signal.reason)
          admit()
        }
        const one: Waiting = {
          clientKey,
          bytes,
          enter() {
            signal.removeEventListener('abort', abort)
            held.add(clientKey, bytes)
            resolve(createPermit(clientKey, bytes, held, admit))
          },
          refuse(error) {
            signal.removeEventListener('abort', abort)
            reject(error)
          },
        }
        signal.addEventListener('abort', abort, { once: true })
        waiting.push(one)
        admit()
        if (waiting.length <= limits.waiting) return
        const refused = newestOfMost(waiting)
        remove(refused)
        refused.refuse(refusal())
      })
    },
    isInTheWay: held.isInTheWay,
  }
}

/**
 * @param bytes already held
 * @param admit is called after a release
 */
function createPermit(clientKey: ClientKey, bytes: number, held: Holdings, admit: () => void): BytePermit {
  let own = bytes
  let isReleased = false
  const change = (by: number) => {
    own += by
    held.add(clientKey, by)
  }
  return {
    get bytes() {
      return own
    },
    shrinkTo(target) {
      if (target >= own) return
      change(target - own)
      admit()
    },
    growTo(target) {
      if (isReleased) return false
      const more = target - own
      if (more <= 0) return true
      if (!held.isInShare(clientKey, more) || !held.hasSpace(more)) return false
      change(more)
      return true
    },
    leave() {
      isReleased = true
      change(-own)
      admit()
    },
  }
}

type Holdings = ReturnType<typeof createHoldings>

/** Held bytes by network and by caller. */
function createHoldings({ bytes: most, bytesEachNetwork, bytesEach }: ByteLimits) {
  const ofNetworks = new Map<string, number>()
  const ofCallers = new Map<string, number>()
  let total = 0
  const inNetwork = ({ network }: ClientKey) => ofNetworks.get(network) ?? 0
  const ofCaller = ({ caller }: ClientKey) => ofCallers.get(caller) ?? 0
  const fitsCaller = (clientKey: ClientKey, bytes: number) => ofCaller(clientKey) + bytes <= bytesEach
  const fitsNetwork = (clientKey: ClientKey, bytes: number) =>
    inNetwork(clientKey) + bytes <= bytesEachNetwork
  return {
    add(clientKey: ClientKey, bytes: number): void {
      total += bytes
      addTo(ofNetworks, clientKey.network, bytes)
      addTo(ofCallers, clientKey.caller, bytes)
    },
    hasSpace: (bytes: number) => total + bytes <= most,
    isInShare: (clientKey: ClientKey, bytes: number) =>
      fitsCaller(clientKey, bytes) && fitsNetwork(clientKey, bytes),
    /**
     * Whether bytes of another client keep a client from a permit: those of the same caller or network where that
     * share is full, else those of the network with most bytes.
     */
    isInTheWay(other: ClientKey, clientKey: ClientKey, bytes: number): boolean {
      if (!fitsCaller(clientKey, bytes)) return other.caller === clientKey.caller
      if (!fitsNetwork(clientKey, bytes)) return other.network === clientKey.network
      return inNetwork(other) === Math.max(...ofNetworks.values())
    },
    /** The first request of the network, and within it of the caller, with least bytes. */
    leastOf(all: readonly Waiting[]): Waiting | undefined {
      const before = (a: ClientKey, b: ClientKey) => inNetwork(a) - inNetwork(b) || ofCaller(a) - ofCaller(b)
      return all.reduce<Waiting | undefined>(
        (least, one) => (least && before(least.clientKey, one.clientKey) <= 0 ? least : one),
        undefined,
      )
    },
  }
}

/** Of several networks with most, the newest of all. */
function newestOfMost(waiting: readonly Waiting[]): Waiting {
  const counts = new Map<string, number>()
  for (const { clientKey } of waiting) addTo(counts, clientKey.network, 1)
  const most = Math.max(...counts.values())
  return waiting.findLast(({ clientKey }) => counts.get(clientKey.network) === most) as Waiting
}

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Long bodies wait for a permit before they are received. */
    longBody?: true
  }
  interface FastifyRequest {
    /** Permit of a long body and of the work on it. */
    place: BytePermit | null
  }
}

/** Some 1,000 points. A body of this length needs no permit: the first read holds as much anyway. */
const SHORT_BYTES = 65_536

/** Permit of a body without a length, or with an encoding. */
const EXPECTED_BYTES = 1_048_576

/** Bodies of full length in memory: one of a caller, two of a network. */
const LONGEST_BODIES = 4
const LONGEST_BODIES_EACH_NETWORK = 2

/** Each waiting body has a few thousand bytes here, and the rest with its client. */
const MOST_WAITING = 100

/** Looks for a slow upload in the time that a body may wait. */
const LOOKS = 4

interface Arrival {
  response: FastifyReply['raw']
  clientKey: ClientKey
  /** Time of the permit. */
  since: number
}

/**
 * Bounds the bytes of long bodies in memory, from before they arrive until their answers are made. A body without a
 * permit is not read, so that its client waits. A body with one may be slow, but while others wait for its bytes, only
 * for SLOW_CLIENT_MS.
 */
export const longBodies = fp(
  async (app: App) => {
    const { BODY_LIMIT_BYTES, BATCH_BODY_LIMIT_BYTES, SLOW_CLIENT_MS } = app.config
    const longest = Math.max(BODY_LIMIT_BYTES, BATCH_BODY_LIMIT_BYTES)
    const limits = {
      bytes: LONGEST_BODIES * longest,
      bytesEachNetwork: LONGEST_BODIES_EACH_NETWORK * longest,
      bytesEach: longest,
      waiting: MOST_WAITING,
    }
    const limiter = createByteLimiter(limits, overloaded)
    // The oldest first: a set keeps the order of insertion.
    const arriving = new Set<Arrival>()

    app.decorateRequest('place', null)
    app.addHook('onRoute', (route) => {
      if (!route.config?.longBody) return
      const { bodyLimit = longest } = route
      route.preParsing = async (request: FastifyRequest, reply: FastifyReply, payload: unknown) => {
        const bytes = expectedBytes(request, bodyLimit)
        if (bytes > SHORT_BYTES) await enter(request, reply, bytes)
        // A decoder that failed meanwhile emits no second error.
        const { errored } = payload as Readable
        if (errored) throw errored
      }
    })

    async function enter(request: FastifyRequest, reply: FastifyReply, bytes: number): Promise<void> {
      const controller = new AbortController()
      const refuse = () => controller.abort(overloaded())
      const timer = setTimeout(refuse, SLOW_CLIENT_MS)
      const clientKey = clientKeyOf(request)
      const looks = setInterval(() => endSlowest(clientKey, bytes), SLOW_CLIENT_MS / LOOKS)
      // A response behind another one of its connection has no socket yet, and gets no `close` of it.
      const ends = [reply.raw, request.raw.socket]
      for (const end of ends) end.once('close', refuse)
      try {
        const place = await limiter.enter(clientKey, bytes, controller.signal)
        request.place = place
        const arrival = { response: reply.raw, clientKey, since: performance.now() }
        arriving.add(arrival)
        const arrived = () => arriving.delete(arrival)
        request.raw.once('end', arrived)
        const leave = () => {
          arrived()
          place.leave()
          for (const end of ends) end.off('close', leave)
        }
        for (const end of ends) end.once('close', leave)
        // The client may have gone before.
        if (ends.some(({ destroyed }) => destroyed)) leave()
      } catch (error) {
        // The rest of the body would be received for nothing.
        reply.header('connection', 'close')
        throw error
      } finally {
        clearTimeout(timer)
        clearInterval(looks)
        for (const end of ends) end.off('close', refuse)
      }
    }

    /** Ends the oldest upload that is in the way of a client and takes too long. */
    function endSlowest(clientKey: ClientKey, bytes: number): void {
      const before = performance.now() - SLOW_CLIENT_MS
      for (const one of arriving) {
        if (one.since > before) return
        if (!limiter.isInTheWay(one.clientKey, clientKey, bytes)) continue
        arriving.delete(one)
        app.endedConnection('slow_sending')
        refuseSlowRequest(one.response)
        return
      }
    }
  },
  { name: 'long-bodies', dependencies: ['error-handler', 'connections'] },
)

/** 0 for a body over the limit, which is refused without a permit. */
function expectedBytes({ headers }: FastifyRequest, limit: number): number {
  const { 'content-length': length, 'content-encoding': encoding, 'transfer-encoding': transfer } = headers
  if (transfer !== undefined || (encoding !== undefined && length !== '0'))
    return Math.min(EXPECTED_BYTES, limit)
  const announced = Number(length ?? 0)
  return announced > limit ? 0 : announced
}

/** Several times as many as the points of a call as features, or the positions of its polygons. */
const MOST_LISTS = 200_000

/**
 * Reads a long body within the limit and its permit.
 *
 * @param tooLarge makes the error of a body over the limit
 */
export function collectBody(
  request: FastifyRequest,
  stream: NodeJS.ReadableStream,
  limit: number,
  tooLarge: (bytes: number) => Error,
): Promise<Buffer> {
  const announced = Number(request.headers['content-length'])
  if (announced > limit) return Promise.reject(tooLarge(announced))
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = []
    let length = 0
    stream.on('data', (chunk: Buffer) => {
      length += chunk.length
      if (length <= limit && (request.place?.growTo(length) ?? true)) {
        chunks.push(chunk)
      } else {
        // Node drops the rest; the decoder ends.
        stream.removeAllListeners('data')
        if (stream !== request.raw) (stream as Readable).destroy()
        reject(length > limit ? tooLarge(length) : overloaded())
      }
    })
    stream.on('end', () => resolve(Buffer.concat(chunks, length)))
    stream.on('error', reject)
  })
}

const UTF_8 = new TextDecoder('utf-8', { fatal: true })

/** Decodes a long body, without its byte order mark. */
export function decodeBody(body: Buffer): string {
  let text: string
  try {
    text = UTF_8.decode(body)
  } catch {
    throw new ApiError('MALFORMED_BODY', NOT_UTF8)
  }
  if (text.includes('\0')) throw new ApiError('MALFORMED_BODY', 'The body contains NUL characters.')
  return text
}

/** Makes the parser of long JSON bodies; it throws the error to answer with. */
export function longJsonParser(app: App): (request: FastifyRequest, json: string) => unknown {
  const jsonParser = app.getDefaultJsonParser('error', 'error')
  return (request, json) => {
    const excess = nestingError(json, 'body', MOST_LISTS)
    if (excess) throw excess
    let parsed: unknown
    // The parser calls back before it returns.
    void jsonParser(request, json, (error, body) => {
      if (error) throw error
      parsed = body
    })
    return parsed
  }
}

/**
 * Shrinks the permit of a call while its answer is sent.
 *
 * @param left size of the rest of the request, in any unit
 */
export async function* givingBack(
  place: BytePermit | null,
  left: () => number,
  pieces: AsyncGenerator<Buffer>,
): AsyncGenerator<Buffer> {
  const bytesPerUnit = (place?.bytes ?? 0) / left()
  for await (const piece of pieces) {
    place?.shrinkTo(left() * bytesPerUnit)
    yield piece
  }
}
