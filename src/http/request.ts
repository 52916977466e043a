import type { FastifyReply, FastifyRequest } from 'fastify'
import type { ClientKey } from '#src/lib/limiter.ts'
import { networkOf, siteOf } from '#src/lib/network.ts'

/** The network is the largest one of a subscriber, so that many are no advantage; the smallest one stands for no user. */
export function clientKeyOf({ ip, user }: FastifyRequest): ClientKey {
  return { network: siteOf(ip), caller: user?.id ?? networkOf(ip) }
}

export interface RoutePattern {
  method: string
  /** As registered, without BASE_PATH. */
  route: string
}

/** Clients can make up paths and methods. */
export const UNKNOWN_PATH: RoutePattern = { method: 'any', route: 'unknown' }

export function findRoutePattern(
  { method, url = '' }: { method: string | string[]; url?: string | undefined },
  base: string,
): RoutePattern {
  const route = url.startsWith(`${base}/`) ? url.slice(base.length) : url
  return { method: [method].flat().join(), route }
}

export function varyBy(reply: FastifyReply, header: string): FastifyReply {
  return reply.header('vary', [reply.getHeader('vary') ?? [], header].flat().join(', '))
}

type Preference = 'server-timing' | 'history=none' | 'return=provenance' | 'handling=strict'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Only for the document. */
    preferences?: readonly Preference[]
  }
}

export function prefers({ headers }: FastifyRequest, preference: Preference): boolean {
  // Node joins several Prefer headers by commas.
  const { prefer } = headers
  return typeof prefer === 'string' && prefer.split(',').some((text) => nameOf(text) === preference)
}

/** A preference without its parameters, and its value without quotes. */
function nameOf(text: string): string {
  return (text.split(';')[0] as string).replace(/[\s"]/g, '').toLowerCase()
}

export function setApplied(reply: FastifyReply, preference: Preference): void {
  reply.header(
    'preference-applied',
    [reply.getHeader('preference-applied') ?? [], preference].flat().join(', '),
  )
}

export function isApplied(reply: FastifyReply, preference: Preference): boolean {
  return String(reply.getHeader('preference-applied') ?? '')
    .split(', ')
    .includes(preference)
}

/** Whether `Prefer: history=none` keeps a call out of the history; the answer says so. */
export function isOffTheRecord(request: FastifyRequest, reply: FastifyReply): boolean {
  const isPreferred = prefers(request, 'history=none')
  if (isPreferred) setApplied(reply, 'history=none')
  return isPreferred
}
