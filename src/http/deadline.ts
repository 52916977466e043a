import type { FastifyReply, FastifyRequest } from 'fastify'
import { ApiError } from '#src/errors.ts'

export interface Deadline {
  /** Aborted, with an error to answer with, when time is up or the client has gone away. */
  signal: AbortSignal
  /** Ends the work before, with an error to answer with. */
  abort(reason: ApiError): void
  /** The work is done: nothing is to be ended any more. */
  end(): void
}

/**
 * Bounds the work on an answer by time, and by the client's waiting for it.
 *
 * @param late makes the error where time is up
 */
export function deadlineOf(
  reply: FastifyReply,
  milliseconds: number,
  late: () => ApiError = () => tooSlow(milliseconds),
): Deadline {
  const controller = new AbortController()
  const timer = setTimeout(() => controller.abort(late()), milliseconds)
  const gone = () => controller.abort(clientGone())
  reply.raw.once('close', gone)
  // It may have gone while the caller was looked up.
  if (reply.raw.destroyed) gone()
  return {
    signal: controller.signal,
    abort: (reason) => controller.abort(reason),
    end() {
      clearTimeout(timer)
      reply.raw.off('close', gone)
    },
  }
}

function tooSlow(milliseconds: number): ApiError {
  return new ApiError(
    'QUERY_TIMEOUT',
    `The answer was not there within ${milliseconds / 1000} seconds: ask for less, or try again.`,
  )
}

/** Calls something once, when an answer was sent or its client has gone away: Fastify's `onResponse` misses the latter. */
export function whenOver({ raw }: FastifyReply, callback: () => void): void {
  const over = () => {
    raw.off('finish', over).off('close', over)
    callback()
  }
  raw.once('finish', over).once('close', over)
}

/** A signal that is aborted when nobody waits for the answer any more: the client has it, or has gone away. */
export function untilGone({ raw }: FastifyReply): AbortSignal {
  const controller = new AbortController()
  const gone = () => controller.abort(clientGone())
  raw.once('close', gone)
  if (raw.destroyed) gone()
  return controller.signal
}

/**
 * Waits for something on behalf of a request that has no reply yet.
 *
 * @param wait is given a signal that is aborted when the client goes away
 */
export async function whileThere<Result>(
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
