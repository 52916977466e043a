import type { FastifyReply, FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import { createPatience, type Patience } from '#src/lib/patience.ts'
import type { App } from '../app.ts'
import { databaseUnavailable } from '../refusals.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** How long the request still waits for the database; null until it does for the first time. */
    patience: Patience | null
  }
}

/**
 * Bounds how long a request waits for the database: STATEMENT_TIMEOUT_MS in all, for its caller to be looked up, its
 * turn, a connection and the answers. What it waits for besides (a body, passwords that are hashed) is not counted.
 * Requests that are answered from memory have no part in it.
 */
export const patience = fp(
  async (app: App) => {
    app.decorateRequest('patience', null)
  },
  { name: 'patience' },
)

/** The patience of a request. While its answer is being sent, that is what its client shows: it begins anew. */
export function patienceOf(request: FastifyRequest, reply: FastifyReply): Patience {
  if (request.patience === null || reply.raw.headersSent) {
    request.patience = createPatience(request.server.config.STATEMENT_TIMEOUT_MS)
  }
  return request.patience
}

/**
 * Waits for work at the database as long as the request may. Work that takes longer goes on: whether it is done in
 * the end is not known to whoever has asked for it.
 *
 * @param share of the time that is left, where something is to come after it
 * @throws {ApiError} DATABASE_UNAVAILABLE where it takes too long
 */
export function inTime<Result>(
  request: FastifyRequest,
  reply: FastifyReply,
  work: () => Promise<Result>,
  share?: number,
): Promise<Result> {
  return patienceOf(request, reply).wait(work, databaseUnavailable, share)
}

/** What is left of the time for what an answer can do without goes to the answer. */
export const SHARE_OF_EXTRAS = 0.8
