import type { FastifyReply } from 'fastify'
import { ApiError } from '#src/errors.ts'

export interface Deadline {
  /** Aborted, with an error to answer with, when time is up or the client has gone away. */
  signal: AbortSignal
  /** The work is done: nothing is to be ended any more. */
  end(): void
}

/** Bounds the work on an answer by time, and by the client's waiting for it. */
export function deadlineOf(reply: FastifyReply, milliseconds: number): Deadline {
  const controller = new AbortController()
  const abort = (sentence: string) => () => controller.abort(new ApiError('QUERY_TIMEOUT', sentence))
  const timer = setTimeout(
    abort(`The answer was not there within ${milliseconds / 1000} seconds: ask for less, or try again.`),
    milliseconds,
  )
  const gone = abort('The client has gone away.')
  reply.raw.once('close', gone)
  // It may have gone while the caller was looked up.
  if (reply.raw.destroyed) gone()
  return {
    signal: controller.signal,
    end() {
      clearTimeout(timer)
      reply.raw.off('close', gone)
    },
  }
}
