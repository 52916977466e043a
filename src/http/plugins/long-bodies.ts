import type { Readable } from 'node:stream'
import type { FastifyReply, FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import { ApiError } from '#src/errors.ts'
import { isObject } from '#src/lib/collections.ts'
import type { ClientKey } from '#src/lib/fair-queue.ts'
import type { App } from '../app.ts'
import { clientKeyOf } from '../request.ts'
import { NOT_UTF8, nestingError } from './body-parser.ts'
import { refuseSlowRequest } from './error-handler.ts'
import { overloaded } from './overload.ts'

/** What is enough for every body but those that have many points, or the outline of something. */
const SHORT_BODY_BYTES = 8192

/** A character beyond the first 65,536, as those write it who send ASCII alone: `\ud83c\udf3e`. */
const LONGEST_CHARACTER_BYTES = 12

/** For what is around the texts of a body. */
const REMAINDER_BYTES = 2048

/**
 * Holds the body of each route that says no `bodyLimit` itself to 8 kB, or to what its texts can take at their
 * longest: what is longer is not even received.
 */
export const bodyLimits = fp(
  async (app: App) => {
    app.addHook('onRoute', function (route) {
      if (route.bodyLimit !== undefined) return
      const texts = LONGEST_CHARACTER_BYTES * charactersOf(route.schema?.body, (id) => this.getSchema(id))
      const needed = Math.max(SHORT_BODY_BYTES, texts + REMAINDER_BYTES)
      route.bodyLimit = Math.min(needed, app.config.BODY_LIMIT_BYTES)
    })
  },
  { name: 'body-limits' },
)

/** How many characters all texts of a schema have together, at their longest. */
function charactersOf(schema: unknown, schemaOf: (id: string) => unknown): number {
  if (Array.isArray(schema)) return schema.reduce((sum, part) => sum + charactersOf(part, schemaOf), 0)
  if (!isObject(schema)) return 0
  const { $ref, maxLength, ...parts } = schema
  if (typeof $ref === 'string') return charactersOf(schemaOf($ref.replace('#', '')), schemaOf)
  return (typeof maxLength === 'number' ? maxLength : 0) + charactersOf(Object.values(parts), schemaOf)
}

interface ByteRoomLimits {
  /** So many bytes are held at the same time, */
  bytes: number
  /** of them so many for one network, */
  bytesEachNetwork: number
  /** and so many for one caller, from wherever it asks. Nobody may wish to hold more at once. */
  bytesEach: number
  /** So many more wait. */
  waiting: number
}

/** What somebody holds of a room. */
export interface Place {
  /** So many bytes. */
  readonly bytes: number
  /** Gives back what is held beyond so many bytes. */
  shrinkTo(bytes: number): void
  /** Takes what is missing to so many bytes, at once; false where there is no room for it, or the place was left. */
  growTo(bytes: number): boolean
  /** Gives all of it back, for good. */
  leave(): void
}

/** Bounds what is held in memory by all together, and by each of them, so that nobody can take all of it. */
interface ByteRoom {
  /**
   * Waits for room: whoever holds least comes first.
   *
   * @param signal ends the waiting, with its reason
   * @throws what the room refuses with, where too many wait: the network with most waiting loses the newest
   */
  enter(clientKey: ClientKey, bytes: number, signal: AbortSignal): Promise<Place>
  /**
   * Whether what another holds keeps somebody from so many bytes: where a share is full, that of the same caller or
   * network, and else that of the network that holds most.
   */
  isInTheWay(other: ClientKey, clientKey: ClientKey, bytes: number): boolean
}

interface Waiting {
  clientKey: ClientKey
  bytes: number
  enter(): void
  refuse(error: unknown): void
}

/** @param refusal makes what is refused with where too many wait */
export function createByteRoom(limits: ByteRoomLimits, refusal: () => Error): ByteRoom {
  const held = createHoldings(limits)
  const waiting: Waiting[] = []

  function remove(one: Waiting): void {
    waiting.splice(waiting.indexOf(one), 1)
  }

  function letIn(): void {
    for (;;) {
      const next = held.leastOf(
        waiting.filter(({ clientKey, bytes }) => held.isWithinShare(clientKey, bytes)),
      )
      // Shorter ones do not overtake it: it might wait for ever.
      if (!next || !held.isRoomFor(next.bytes)) return
      remove(next)
      next.enter()
    }
  }

  return {
    enter(clientKey, bytes, signal) {
      return new Promise((resolve, reject) => {
        if (signal.aborted) throw signal.reason
        const leave = () => {
          remove(one)
          reject(signal.reason)
          letIn()
        }
        const one: Waiting = {
          clientKey,
          bytes,
          enter() {
            signal.removeEventListener('abort', leave)
            held.add(clientKey, bytes)
            resolve(createPlace(clientKey, bytes, held, letIn))
          },
          refuse(error) {
            signal.removeEventListener('abort', leave)
            reject(error)
          },
        }
        signal.addEventListener('abort', leave, { once: true })
        waiting.push(one)
        letIn()
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
 * @param bytes that are held already
 * @param letIn lets others in where something is given back
 */
function createPlace(clientKey: ClientKey, bytes: number, held: Holdings, letIn: () => void): Place {
  let own = bytes
  let left = false
  const change = (by: number) => {
    own += by
    held.add(clientKey, by)
  }
  return {
    get bytes() {
      return own
    },
    shrinkTo(wanted) {
      if (wanted >= own) return
      change(wanted - own)
      letIn()
    },
    growTo(wanted) {
      if (left) return false
      const more = wanted - own
      if (more <= 0) return true
      if (!held.isWithinShare(clientKey, more) || !held.isRoomFor(more)) return false
      change(more)
      return true
    },
    leave() {
      left = true
      change(-own)
      letIn()
    },
  }
}

type Holdings = ReturnType<typeof createHoldings>

/** Who holds how many bytes. */
function createHoldings({ bytes: most, bytesEachNetwork, bytesEach }: ByteRoomLimits) {
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
    isRoomFor: (bytes: number) => total + bytes <= most,
    isWithinShare: (clientKey: ClientKey, bytes: number) =>
      fitsCaller(clientKey, bytes) && fitsNetwork(clientKey, bytes),
    isInTheWay(other: ClientKey, clientKey: ClientKey, bytes: number): boolean {
      if (!fitsCaller(clientKey, bytes)) return other.caller === clientKey.caller
      if (!fitsNetwork(clientKey, bytes)) return other.network === clientKey.network
      return inNetwork(other) === Math.max(...ofNetworks.values())
    },
    /** Whose network holds least, and within it who does; the first of several. */
    leastOf(all: readonly Waiting[]): Waiting | undefined {
      const before = (a: ClientKey, b: ClientKey) => inNetwork(a) - inNetwork(b) || ofCaller(a) - ofCaller(b)
      return all.reduce<Waiting | undefined>(
        (least, one) => (least && before(least.clientKey, one.clientKey) <= 0 ? least : one),
        undefined,
      )
    },
  }
}

function addTo(sums: Map<string, number>, key: string, bytes: number): void {
  const sum = (sums.get(key) ?? 0) + bytes
  if (sum > 0) sums.set(key, sum)
  else sums.delete(key)
}

/** The newest of the network that has most waiting; of several networks, of the one whose newest came last. */
function newestOfMost(waiting: readonly Waiting[]): Waiting {
  const counts = new Map<string, number>()
  for (const { clientKey } of waiting) addTo(counts, clientKey.network, 1)
  const most = Math.max(...counts.values())
  return waiting.findLast(({ clientKey }) => counts.get(clientKey.network) === most) as Waiting
}

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Bodies may be long: they are not received before there is room for them. */
    longBody?: true
  }
  interface FastifyRequest {
    /** What a long body, and what becomes of it, holds of the room; null for others. */
    place: Place | null
  }
}

/** Some 1,000 points. There is always room for a body of this length: what comes at once is in memory anyway. */
const SHORT_BYTES = 65_536

/** What is expected of a body that does not say how long it is, or will be when it is decoded. */
const EXPECTED_BYTES = 1_048_576

/** So many bodies of full length are in memory at a time: one of a caller, two of a network. */
const LONGEST_BODIES = 4
const LONGEST_BODIES_EACH_NETWORK = 2

/** So many bodies wait. Each has a few thousand bytes here, and the rest with its client. */
const MOST_WAITING = 100

/** So often in the time for which it may wait a body has the slowest one ended that is in its way. */
const ROOM_IS_MADE = 4

/** A long body that is being received. */
interface Arrival {
  response: FastifyReply['raw']
  clientKey: ClientKey
  /** When there was room for it, in milliseconds. */
  since: number
}

/**
 * Bounds how much of long bodies is in memory at a time, from before they arrive until their answers have been
 * made. Those for which there is no room are not read, which makes their clients wait: they have no pace to keep.
 * Those that are received may be as slow as any, but where others wait for their room, each has SLOW_CLIENT_MS.
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
    const room = createByteRoom(limits, overloaded)
    // The oldest first: a set keeps the order in which its members came.
    const arriving = new Set<Arrival>()

    app.decorateRequest('place', null)
    app.addHook('onRoute', (route) => {
      if (!route.config?.longBody) return
      const { bodyLimit = longest } = route
      route.preParsing = async (request: FastifyRequest, reply: FastifyReply, payload: unknown) => {
        const bytes = expectedBytes(request, bodyLimit)
        if (bytes > SHORT_BYTES) await enter(request, reply, bytes)
        // What could not be decoded while it waited tells nobody a second time.
        const { errored } = payload as Readable
        if (errored) throw errored
      }
    })

    async function enter(request: FastifyRequest, reply: FastifyReply, bytes: number): Promise<void> {
      const controller = new AbortController()
      const refuse = () => controller.abort(overloaded())
      const timer = setTimeout(refuse, SLOW_CLIENT_MS)
      const clientKey = clientKeyOf(request)
      const makingRoom = setInterval(() => endSlowest(clientKey, bytes), SLOW_CLIENT_MS / ROOM_IS_MADE)
      // An answer behind another one on its connection has no socket yet, and is not told when that closes.
      const ends = [reply.raw, request.raw.socket]
      for (const end of ends) end.once('close', refuse)
      try {
        const place = await room.enter(clientKey, bytes, controller.signal)
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
        // The client may have gone before anybody listened.
        if (ends.some(({ destroyed }) => destroyed)) leave()
      } catch (error) {
        // The rest of the body would be received for nothing.
        reply.header('connection', 'close')
        throw error
      } finally {
        clearTimeout(timer)
        clearInterval(makingRoom)
        for (const end of ends) end.off('close', refuse)
      }
    }

    /** Ends the upload that has been in the way of somebody for longest, where that is too long. */
    function endSlowest(clientKey: ClientKey, bytes: number): void {
      const before = performance.now() - SLOW_CLIENT_MS
      for (const one of arriving) {
        if (one.since > before) return
        if (!room.isInTheWay(one.clientKey, clientKey, bytes)) continue
        arriving.delete(one)
        app.endedConnection('slow_sending')
        refuseSlowRequest(one.response)
        return
      }
    }
  },
  { name: 'long-bodies', dependencies: ['error-handler', 'connections'] },
)

/** How long a body is going to be, as far as can be told; what is longer than it may be is refused without room. */
function expectedBytes({ headers }: FastifyRequest, limit: number): number {
  const { 'content-length': length, 'content-encoding': encoding, 'transfer-encoding': transfer } = headers
  if (transfer !== undefined || (encoding !== undefined && length !== '0'))
    return Math.min(EXPECTED_BYTES, limit)
  const announced = Number(length ?? 0)
  return announced > limit ? 0 : announced
}

/** Several times as many as features of as many points as a call may have, or positions of its polygons. */
const MOST_LISTS = 200_000

/**
 * The bytes of a long body, not more than the limit of them, nor than there is room for.
 *
 * @param tooLarge makes what is answered to more bytes than the limit
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
        // What else comes is read by nobody, and thrown away by Node; what decodes it ends.
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

/** The text of a long body, without a byte order mark. */
export function textOf(body: Buffer): string {
  let text: string
  try {
    text = UTF_8.decode(body)
  } catch {
    throw new ApiError('MALFORMED_BODY', NOT_UTF8)
  }
  if (text.includes('\0')) throw new ApiError('MALFORMED_BODY', 'The body contains NUL characters.')
  return text
}

/** Makes what parses the text of a long body, and throws what is answered where it is no JSON. */
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
 * Gives back what a call holds of the room as its answer is made.
 *
 * @param left says how much the rest of the answer is made of, in any unit
 */
export async function* givingBack(
  place: Place | null,
  left: () => number,
  pieces: AsyncGenerator<Buffer>,
): AsyncGenerator<Buffer> {
  const bytesPerUnit = (place?.bytes ?? 0) / left()
  for await (const piece of pieces) {
    place?.shrinkTo(left() * bytesPerUnit)
    yield piece
  }
}
