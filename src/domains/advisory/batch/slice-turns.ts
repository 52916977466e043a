import { setImmediate } from 'node:timers/promises'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { untilGone } from '#src/http/deadline.ts'
import { partyOf } from '#src/http/party.ts'
import { overloaded } from '#src/http/plugins/overload.ts'
import { createFairQueue, type Party } from '#src/lib/fair-queue.ts'

/** How the work on a call gets on beside that on others. */
export interface SliceTurns {
  party: Party
  /**
   * Works on a slice of the points when its turn comes.
   *
   * @throws {ApiError} where the client has gone away meanwhile
   */
  slice<Result>(work: () => Result): Promise<Result>
}

/**
 * Makes what lets the slices of all calls take turns, caller by caller and network by network: however many
 * calls there are, one slice is worked on in a turn of the event loop, so that points are answered in between.
 */
export function createSliceTurns(): (call: FastifyRequest, reply: FastifyReply) => SliceTurns {
  // Each call has one slice waiting: none is refused of what has been begun.
  const slices = createFairQueue({ running: 1, waiting: Number.POSITIVE_INFINITY }, overloaded)
  return (call, reply) => {
    const party = partyOf(call)
    const signal = untilGone(reply)
    return {
      party,
      async slice(work) {
        const leave = await slices.enter(party, signal)
        await setImmediate()
        try {
          return work()
        } finally {
          leave()
        }
      },
    }
  }
}
