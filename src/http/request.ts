import type { FastifyReply, FastifyRequest } from 'fastify'
import type { ClientKey } from '#src/lib/fair-queue.ts'
import { networkOf, siteOf } from '#src/lib/network.ts'

/**
 * Whose work a request is, where work takes turns: the largest network that may be one subscriber's, and in it
 * the user, or else the smallest one. Who has many networks has no more turns by them.
 */
export function clientKeyOf({ ip, user }: FastifyRequest): ClientKey {
  return { network: siteOf(ip), caller: user?.id ?? networkOf(ip) }
}

/** A path as it was registered, and its method. */
export interface RoutePattern {
  method: string
  route: string
}

/** Anybody can make up paths and methods: they are one. */
export const UNKNOWN_PATH: RoutePattern = { method: 'any', route: 'unknown' }

/** Without what all paths begin with here: dashboards are to know the route elsewhere. */
export function patternOf(
  { method, url = '' }: { method: string | string[]; url?: string | undefined },
  base: string,
): RoutePattern {
  const route = url.startsWith(`${base}/`) ? url.slice(base.length) : url
  return { method: [method].flat().join(), route }
}

/** Says that an answer depends on a header of the request, besides those that it depends on already. */
export function varyBy(reply: FastifyReply, header: string): FastifyReply {
  return reply.header('vary', [reply.getHeader('vary') ?? [], header].flat().join(', '))
}

/** What clients would like, and servers may do (RFC 7240). Those that do not know it leave it out. */
export type Preference = 'server-timing' | 'history=none' | 'return=provenance' | 'handling=strict'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** What of it the route heeds. Only documented by this. */
    preferences?: readonly Preference[]
  }
}

/** Whether a client asks for something in `Prefer`. */
export function prefers({ headers }: FastifyRequest, preference: Preference): boolean {
  // Node joins several Prefer headers by commas.
  const { prefer } = headers
  return typeof prefer === 'string' && prefer.split(',').some((text) => nameOf(text) === preference)
}

/** A preference without its parameters, and its value without quotes. */
function nameOf(text: string): string {
  return (text.split(';')[0] as string).replace(/[\s"]/g, '').toLowerCase()
}

/** Says in the answer that a preference was heeded, besides those that were already. */
export function sayApplied(reply: FastifyReply, preference: Preference): void {
  reply.header(
    'preference-applied',
    [reply.getHeader('preference-applied') ?? [], preference].flat().join(', '),
  )
}

/** Whether the answer says already that a preference was heeded. */
export function isApplied(reply: FastifyReply, preference: Preference): boolean {
  return String(reply.getHeader('preference-applied') ?? '')
    .split(', ')
    .includes(preference)
}

/** Whether nothing of a call is to be kept in its caller's history; the answer says so then. */
export function isOffTheRecord(request: FastifyRequest, reply: FastifyReply): boolean {
  const asked = prefers(request, 'history=none')
  if (asked) sayApplied(reply, 'history=none')
  return asked
}
