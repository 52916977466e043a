import type { FastifyRequest } from 'fastify'
import type { Party } from '#src/lib/fair-queue.ts'
import { networkOf } from '#src/lib/network.ts'

/** Whose work a request is, where work takes turns: the network that it comes from, and the user where there is one. */
export function partyOf({ ip, user }: FastifyRequest): Party {
  const network = networkOf(ip)
  return { network, caller: user?.id ?? network }
}
