import type { EventEmitter } from 'node:events'
import type { ServerResponse } from 'node:http'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { ApiError } from '#src/errors.ts'
import type { Pause } from '#src/lib/limiter.ts'
import { createDeadline } from '#src/lib/time-budget.ts'
import type { Exchange } from '../exchange.ts'

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
export function whenOver({ request, reply: { raw } }: Exchange, callback: () => void): void {
  const ofConnection = callbacksOf(request.raw.socket)
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

/** Makes the pause of long work: it lets other requests proceed, and ends with the client. */
export function createPause(exchange: Exchange<unknown>): Pause {
  const gone = createClientSignal(exchange.reply)
  // Of an address it takes longer than most slices.
  const { app, clientKey } = exchange
  return () => app.slices.next(clientKey, gone)
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
