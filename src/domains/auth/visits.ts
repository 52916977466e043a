import type { FastifyReply, FastifyRequest } from 'fastify'
import type { App } from '#src/http/app.ts'
import type { Audit } from '#src/http/plugins/audit.ts'
import { inTime } from '#src/http/plugins/patience.ts'

/** A request as the desks see it: where it comes from, and how what comes of it is recorded. */
export interface Visit {
  address: string
  audit: Audit
  /**
   * Does work that asks the database when the turn of the request has come. No password is hashed within: a place
   * at the database would be held by whoever waits for one to be hashed.
   */
  atDatabase<Result>(work: () => Promise<Result>): Promise<Result>
  /** Notes at the database what has come of it, though its client may have gone away; waits as long as it may. */
  note(work: () => Promise<void>): Promise<void>
}

/** For routes that see to turns at the database by themselves. */
export function visitOf({ inTurn, noteInTurn }: App, request: FastifyRequest, reply: FastifyReply): Visit {
  return {
    address: request.ip,
    audit: (db, event) => inTime(request, reply, () => request.audit(db, event)),
    atDatabase: (work) => inTurn(request, reply, work),
    note: (work) => inTime(request, reply, () => noteInTurn(request, work)),
  }
}
