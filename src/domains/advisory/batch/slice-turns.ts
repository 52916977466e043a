import type { FastifyReply, FastifyRequest } from 'fastify'
import type { App } from '#src/http/app.ts'
import { untilGone } from '#src/http/deadline.ts'
import { partyOf } from '#src/http/party.ts'
import type { Party } from '#src/lib/fair-line.ts'

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
 * calls there are, points are answered in between.
 */
export function createSliceTurns({ turns }: App): (call: FastifyRequest, reply: FastifyReply) => SliceTurns {
  return (call, reply) => {
    const party = partyOf(call)
    const signal = untilGone(reply)
    return {
      party,
      async slice(work) {
        await turns.next(party, signal)
        return work()
      },
    }
  }
}
