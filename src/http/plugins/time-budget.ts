import type { FastifyReply, FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import type { ApiError } from '#src/errors.ts'
import { createTimeBudget, type TimeBudget } from '#src/lib/time-budget.ts'
import type { App } from '../app.ts'
import { databaseUnavailable } from './error-handler.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** How long the request still waits for the database; null until it does for the first time. */
    timeBudget: TimeBudget | null
    /** Answers the client while the work goes on to its end; null where nobody needs to know what comes of it. */
    answerLate: ((error: ApiError) => void) | null
  }
}

/**
 * Bounds how long a request waits for the database: STATEMENT_TIMEOUT_MS in all, for its caller to be looked up, its
 * turn, a connection and the answers. What it waits for besides (a body, passwords that are hashed) is not counted.
 * Requests that are answered from memory have no part in it.
 */
export const timeBudget = fp(
  async (app: App) => {
    app.decorateRequest('timeBudget', null)
    app.decorateRequest('answerLate', null)
  },
  { name: 'time-budget' },
)

/** The time budget of a request. While its answer is being sent, that is what its client shows: it begins anew. */
export function timeBudgetOf(request: FastifyRequest, reply: FastifyReply): TimeBudget {
  if (request.timeBudget === null || reply.raw.headersSent) {
    request.timeBudget = createTimeBudget(request.server.config.STATEMENT_TIMEOUT_MS)
  }
  return request.timeBudget
}

/**
 * Waits for work at the database as long as the request may. Work that takes longer goes on: whether it is done in
 * the end is not known to whoever has asked for it. Within `toTheEnd` it is the client alone who is told that it is late.
 *
 * @param share of the time that is left, for what an answer can do without: it is given up, in any case
 * @throws {ApiError} DATABASE_UNAVAILABLE where it takes too long
 */
export function withTimeout<Result>(
  request: FastifyRequest,
  reply: FastifyReply,
  work: () => Promise<Result>,
  share?: number,
): Promise<Result> {
  const timeBudget = timeBudgetOf(request, reply)
  const { answerLate } = request
  if (answerLate === null || share !== undefined) return timeBudget.wait(work, databaseUnavailable, share)
  return timeBudget.outlast(work, () => answerLate(databaseUnavailable()))
}

/**
 * Does the work of a request of which it has to be known what comes of it. Its client is answered in time; the work
 * and its answer part ways then, and the work goes on to its end.
 *
 * @param failedLate is told why work failed whose client had been answered
 * @throws {ApiError} DATABASE_UNAVAILABLE where it takes too long
 */
export function toTheEnd<Result>(
  request: FastifyRequest,
  work: () => Promise<Result>,
  failedLate: (error: unknown) => void,
): Promise<Result> {
  return new Promise((resolve, reject) => {
    let fail: (error: unknown) => void = reject
    request.answerLate = (error) => {
      fail = failedLate
      reject(error)
    }
    work().then(resolve, (error) => fail(error))
  })
}

/** What is left of the time for what an answer can do without goes to the answer. */
export const SHARE_OF_EXTRAS = 0.8
