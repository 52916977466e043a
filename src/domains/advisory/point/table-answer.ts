import type { FastifyReply } from 'fastify'
import { PointAnswerTable } from '#schemas/advisory.ts'
import { ref } from '#schemas/common.ts'
import { ApiError } from '#src/errors.ts'
import { mediaTypeOf } from '#src/http/forms.ts'
import type { PointAnswer } from './answer.ts'

/** A documented answer in JSON that may also be a table. */
export function alsoAsTable(success: { description: string; headers: object; content: object }) {
  return {
    ...success,
    content: {
      ...success.content,
      'text/csv': { schema: ref(PointAnswerTable) },
    },
  }
}

/**
 * Whether a call asks for a table.
 *
 * @throws {ApiError} INVALID_PARAMETERS where it also asks for what a table has no columns for
 */
export function wantsTable({ format, provenance }: { format?: string; provenance?: boolean }): boolean {
  if (format !== 'csv') return false
  if (provenance !== true) return true
  throw ApiError.invalid('provenance', 'must be left out for CSV, which has no columns for it')
}

/** Sends an answer as a table. */
export function sendTable(answer: PointAnswer, reply: FastifyReply): FastifyReply {
  return reply.header('content-type', mediaTypeOf('text/csv')).send(answer.table?.())
}
