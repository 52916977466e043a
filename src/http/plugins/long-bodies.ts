import type { Readable } from 'node:stream'
import type { FastifyReply, FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import { createByteRoom, type Place } from '#src/lib/byte-room.ts'
import type { Party } from '#src/lib/fair-line.ts'
import type { App } from '../app.ts'
import { partyOf } from '../party.ts'
import { refuseSlowRequest } from './error-handler.ts'
import { overloaded } from './overload.ts'

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
  party: Party
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
      const party = partyOf(request)
      const makingRoom = setInterval(() => endSlowest(party, bytes), SLOW_CLIENT_MS / ROOM_IS_MADE)
      // An answer behind another one on its connection has no socket yet, and is not told when that closes.
      const ends = [reply.raw, request.raw.socket]
      for (const end of ends) end.once('close', refuse)
      try {
        const place = await room.enter(party, bytes, controller.signal)
        request.place = place
        const arrival = { response: reply.raw, party, since: performance.now() }
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
    function endSlowest(party: Party, bytes: number): void {
      const before = performance.now() - SLOW_CLIENT_MS
      for (const one of arriving) {
        if (one.since > before) return
        if (!room.isInTheWay(one.party, party, bytes)) continue
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
