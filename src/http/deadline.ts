import type { EventEmitter } from 'node:events'
import type { ServerResponse } from 'node:http'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { ApiError } from '#src/errors.ts'

export interface Deadline {
  /** Aborted, with an error to answer with, when time is up or the client has gone away. */
  signal: AbortSignal
  /**
   * Sets anew when time is up.
   *
   * @param milliseconds from now
   * @param late makes the error
   */
  setDue(milliseconds: number, late?: () => ApiError): void
  /** Ends the work before, with an error to answer with. */
  abort(reason: ApiError): void
  /** The work is done: nothing is to be ended any more. */
  end(): void
}

/**
 * Bounds the work on an answer by time, and by the client's waiting for it.
 *
 * @param milliseconds until time is up; without them, that is set later
 * @param late makes the error where time is up
 */
export function deadlineOf({ raw }: FastifyReply, milliseconds?: number, late?: () => ApiError): Deadline {
  const controller = new AbortController()
  let timer: NodeJS.Timeout | undefined
  const stopWatching = whenClosed(raw, () => controller.abort(clientGone()))
  const setDue: Deadline['setDue'] = (due, lateThen = () => tooSlow(due)) => {
    clearTimeout(timer)
    timer = setTimeout(() => controller.abort(lateThen()), due)
  }
  if (milliseconds !== undefined) setDue(milliseconds, late)
  return {
    signal: controller.signal,
    setDue,
    abort: (reason) => controller.abort(reason),
    end() {
      clearTimeout(timer)
      stopWatching()
    },
  }
}

/** The error where an answer is not there in time. */
export function tooSlow(milliseconds: number): ApiError {
  return new ApiError(
    'QUERY_TIMEOUT',
    `The answer was not there within ${milliseconds / 1000} seconds: ask for less, or try again.`,
  )
}

/** Calls something once, when an answer was sent or its client has gone away: Fastify's `onResponse` misses the latter. */
export function whenOver(
  { raw: { socket } }: FastifyRequest,
  { raw }: FastifyReply,
  callback: () => void,
): void {
  const ofConnection = closingsOf(socket)
  const over = () => {
    raw.off('finish', over).off('close', over)
    ofConnection.delete(over)
    callback()
  }
  raw.once('finish', over).once('close', over)
  // A response behind another one of its connection has none yet, and does not notice that it closes.
  ofConnection.add(over)
}

/** A signal that is aborted when nobody waits for the answer any more: the client has it, or has gone away. */
export function untilGone({ raw }: FastifyReply): AbortSignal {
  const controller = new AbortController()
  whenClosed(raw, () => controller.abort(clientGone()))
  return controller.signal
}

/** What is called when responses and connections are closed. One listener has all of it: Node warns of more than ten. */
const closings = new WeakMap<EventEmitter, Set<() => void>>()

/**
 * Calls something when a response is closed, at once where it has been.
 *
 * @returns a function after which it is not called any more
 */
function whenClosed(raw: ServerResponse, callback: () => void): () => void {
  // The client may have gone while the caller was looked up.
  if (raw.destroyed) callback()
  const callbacks = closingsOf(raw)
  callbacks.add(callback)
  return () => callbacks.delete(callback)
}

function closingsOf(closing: EventEmitter): Set<() => void> {
  const known = closings.get(closing)
  if (known) return known
  const callbacks = new Set<() => void>()
  closing.once('close', () => {
    for (const callback of callbacks) callback()
  })
  closings.set(closing, callbacks)
  return callbacks
}

/**
 * Waits for something on behalf of a request that has no reply yet.
 *
 * @param wait is given a signal that is aborted when the client goes away
 */
export async function retryIfReplaced<Result>(
  { raw: { socket } }: FastifyRequest,
  wait: (signal: AbortSignal) => Promise<Result>,
): Promise<Result> {
  const controller = new AbortController()
  const gone = () => controller.abort(clientGone())
  socket.once('close', gone)
  if (socket.destroyed) gone()
  try {
    return await wait(controller.signal)
  } finally {
    // The connection may be there for many more requests.
    socket.off('close', gone)
  }
}

function clientGone(): ApiError {
  return new ApiError('QUERY_TIMEOUT', 'The client has gone away.')
}
