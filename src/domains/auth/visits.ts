import type { FastifyRequest } from 'fastify'
import type { Audit } from '#src/http/plugins/audit.ts'

/** A request as the desks see it: where it comes from, and how what comes of it is recorded. */
export interface Visit {
  address: string
  audit: Audit
}

export function visitOf(request: FastifyRequest): Visit {
  return { address: request.ip, audit: request.audit.bind(request) }
}
