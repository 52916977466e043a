import type { FastifyReply } from 'fastify'

/** Says that an answer depends on a header of the request, besides those that it depends on already. */
export function varyBy(reply: FastifyReply, header: string): FastifyReply {
  return reply.header('vary', [reply.getHeader('vary') ?? [], header].flat().join(', '))
}
