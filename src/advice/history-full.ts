import type { FastifyReply } from 'fastify'

const VALUES = { account: 'full', service: 'service-full' } as const

/** Says that an answer is not kept in its caller's history, and what is full. */
export function sayHistoryFull(reply: FastifyReply, full: keyof typeof VALUES): void {
  reply.header('advisory-history', VALUES[full])
}
