import type { FastifyReply, FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import type { ApiError } from '#src/errors.ts'
import { TimeBudget } from '#src/lib/time-budget.ts'
import type { App } from '../app.ts'
import { databaseUnavailable } from './error-handler.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** Null until the first wait for the database. */
    timeBudget: TimeBudget | null
    /** Answers the client at the deadline, while the work goes on; null where the work is not awaited then. */
    answerLate: ((error: ApiError) => void) | null
  }
}

/**
 * Bounds the time that a request waits for the database: STATEMENT_TIMEOUT_MS for its caller, its permit, a connection
 * and the answers. Other waits (body, password hashes) do not count. Answers from memory need none.
 */
export const timeBudget = fp(
  async (app: App) => {
    app.decorateRequest('timeBudget', null)
    app.decorateRequest('answerLate', null)
  },
  { name: 'time-budget' },
)

/** The budget begins anew while the answer is being sent, since the client sees progress. */
export function getTimeBudget(request: FastifyRequest, reply: FastifyReply): TimeBudget {
  if (request.timeBudget === null || reply.raw.headersSent) {
    request.timeBudget = new TimeBudget(request.server.config.STATEMENT_TIMEOUT_MS)
  }
  return request.timeBudget
}

/**
 * Waits for work at the database until the deadline of the request. Late work goes on; within `toTheEnd` only the
 * client is told of the deadline.
 *
 * @param share of the time left, for an optional part of the answer: late ones are always given up
 * @throws {ApiError} DATABASE_UNAVAILABLE at the deadline
 */
export function withTimeout<Result>(
  request: FastifyRequest,
  reply: FastifyReply,
  work: () => Promise<Result>,
  share?: number,
): Promise<Result> {
  const timeBudget = getTimeBudget(request, reply)
  const { answerLate } = request
  if (answerLate === null || share !== undefined) return timeBudget.wait(work, databaseUnavailable, share)
  return timeBudget.outlast(work, () => answerLate(databaseUnavailable()))
}

/**
 * Does work whose outcome has to be known. At the deadline the client is answered, and the work goes on to its end.
 *
 * @param failedLate receives the error of work whose client was answered
 * @throws {ApiError} DATABASE_UNAVAILABLE at the deadline
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

/** Share of the time left for optional parts of an answer. */
export const SHARE_OF_EXTRAS = 0.8
