import type { FastifyReply } from 'fastify'
import { PointAnswerTable } from '#schemas/advisory.ts'
import { ref } from '#schemas/common.ts'
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

/** Sends an answer as a table. */
export function sendTable(answer: PointAnswer, reply: FastifyReply): FastifyReply {
  return reply.header('content-type', mediaTypeOf('text/csv')).send(answer.table?.())
}
