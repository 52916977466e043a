import type { FastifyRequest } from 'fastify'
import type { Party } from '#src/lib/fair-line.ts'
import { networkOf, siteOf } from '#src/lib/network.ts'

/**
 * Whose work a request is, where work takes turns: the largest network that may be one subscriber's, and in it
 * the user, or else the smallest one. Who has many networks has no more turns by them.
 */
export function partyOf({ ip, user }: FastifyRequest): Party {
  return { network: siteOf(ip), caller: user?.id ?? networkOf(ip) }
}
