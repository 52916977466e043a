import type { FastifyReply } from 'fastify'

/** Says that an answer is not kept in its caller's history, which holds as much as is kept of an account. */
export function sayHistoryFull(reply: FastifyReply): void {
  reply.header('advisory-history', 'full')
}
