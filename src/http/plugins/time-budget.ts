import type { EventEmitter } from 'node:events'
import type { ServerResponse } from 'node:http'
import type { FastifyReply, FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import { ApiError, databaseUnavailable } from '#src/errors.ts'
import { createDeadline, TimeBudget } from '#src/lib/time-budget.ts'
import type { App } from '../app.ts'

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

/** Begins the budget anew, for a request that makes progress: its body goes on arriving, or its fields are read in pages. */
export function renewTimeBudget(request: FastifyRequest): void {
  request.timeBudget = null
}

/**
 * Waits for work at the database until the deadline of the request. Late work goes on; within `toTheEnd` only the
 * client is told of the deadline.
 *
 * @param share of the time left, for an optional part of the answer: late ones are always given up
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

/** Does work with an outcome that has to be known: it goes on to its end after the client was answered at the deadline. */
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

export type Deadline = ReturnType<typeof startDeadline>

/** A signal that is aborted at the deadline or without the client, with the error to answer with. */
export function startDeadline({ raw }: FastifyReply, milliseconds?: number, late?: () => ApiError) {
  const deadline = createDeadline()
  const stopWatching = whenClosed(raw, () => deadline.abort(clientGone()))
  const setDue = (due: number, lateThen = () => tooSlow(due)): void => deadline.setDue(due, lateThen)
  if (milliseconds !== undefined) setDue(milliseconds, late)
  return {
    signal: deadline.signal,
    setDue,
    abort: (reason: ApiError): void => deadline.abort(reason),
    end(): void {
      deadline.end()
      stopWatching()
    },
  }
}

export function tooSlow(milliseconds: number): ApiError {
  return new ApiError(
    'QUERY_TIMEOUT',
    `The answer was not there within ${milliseconds / 1000} seconds: ask for less, or try again.`,
  )
}

/** Calls back once, when an answer was sent or its client has gone: `onResponse` of Fastify misses the latter. */
export function whenOver(
  { raw: { socket } }: FastifyRequest,
  { raw }: FastifyReply,
  callback: () => void,
): void {
  const ofConnection = callbacksOf(socket)
  const over = () => {
    raw.off('finish', over).off('close', over)
    ofConnection.delete(over)
    callback()
  }
  raw.once('finish', over).once('close', over)
  // A response behind another one of its connection has no socket yet, and gets no `close` of it.
  ofConnection.add(over)
}

/** A signal that is aborted when the client has the answer, or has gone. */
export function createClientSignal(reply: FastifyReply): AbortSignal {
  return startDeadline(reply).signal
}

/** One listener of each response and socket for all callbacks: Node warns of more than ten. */
const closeCallbacks = new WeakMap<EventEmitter, Set<() => void>>()

/** Calls back when a response is closed, at once if it is; gives the way to stop. */
function whenClosed(raw: ServerResponse, callback: () => void): () => void {
  // The client may have gone while the caller was looked up.
  if (raw.destroyed) callback()
  const callbacks = callbacksOf(raw)
  callbacks.add(callback)
  return () => callbacks.delete(callback)
}

function callbacksOf(emitter: EventEmitter): Set<() => void> {
  const stored = closeCallbacks.get(emitter)
  if (stored) return stored
  const callbacks = new Set<() => void>()
  emitter.once('close', () => {
    for (const callback of callbacks) callback()
  })
  closeCallbacks.set(emitter, callbacks)
  return callbacks
}

/** Waits for a request that has no reply yet; the signal is aborted when the client goes. */
export async function waitWhileConnected<Result>(
  { raw: { socket } }: FastifyRequest,
  wait: (signal: AbortSignal) => Promise<Result>,
): Promise<Result> {
  const controller = new AbortController()
  const callbacks = callbacksOf(socket)
  const abort = () => controller.abort(clientGone())
  callbacks.add(abort)
  if (socket.destroyed) abort()
  try {
    return await wait(controller.signal)
  } finally {
    // The connection may serve many more requests.
    callbacks.delete(abort)
  }
}

function clientGone(): ApiError {
  return new ApiError('QUERY_TIMEOUT', 'The client has gone away.')
}
