import type { FastifyReply, FastifyRequest } from 'fastify'
import { ApiError } from '#src/errors.ts'
import type { App } from '#src/http/app.ts'
import { deadlineOf, tooSlow } from '#src/http/deadline.ts'
import { observeQueue } from '#src/http/metrics/observe.ts'
import { partyOf } from '#src/http/party.ts'
import { createFairQueue } from '#src/lib/fair-queue.ts'
import { type Computation, computationUntil } from '../computing.ts'

/** Comparisons read much, and admins are few: one at a time, and so many wait. */
const LIMITS = { running: 1, waiting: 10 }

/** How long a comparison takes at most, with the wait for its turn: as long as proxies wait for an answer. */
const TIMEOUT_MS = 60_000

/** Does a comparison for a request when its turn comes. */
export type CompareInTime = <Result>(
  request: FastifyRequest,
  reply: FastifyReply,
  compare: (computation: Computation) => Promise<Result>,
) => Promise<Result>

export function createComparing(app: App): CompareInTime {
  const queue = createFairQueue(LIMITS, tooMany)
  observeQueue(app.metrics, 'comparisons', queue.state)

  return async (request, reply, compare) => {
    const party = partyOf(request)
    const deadline = deadlineOf(reply, TIMEOUT_MS, () => tooSlow(TIMEOUT_MS))
    try {
      return await queue.run(party, () => compare(computationUntil(app, party, deadline)), deadline.signal)
    } finally {
      deadline.end()
    }
  }
}

function tooMany(): ApiError {
  return new ApiError('OVERLOADED', 'Comparison queue full; retry after 1 s.')
}
