import type { FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import type { Kysely } from 'kysely'
import { AUDIT_KINDS } from '#src/data/account-tables.ts'
import type { AuditEvent, AuditOrigin } from '#src/data/audit-queries.ts'
import type { Tables } from '#src/data/tables.ts'
import { networkOf } from '#src/lib/network.ts'
import type { App } from '../app.ts'

export interface AuditRecords {
  /** Adds a record; false where there are so many like it that it is left out. */
  add(db: Kysely<Tables>, event: AuditEvent, origin: AuditOrigin): Promise<boolean>
  /** Removes what is too old, piece by piece. */
  deleteOld(): Promise<void>
}

/** Records an event of a request, and logs it. */
export type Audit = FastifyRequest['audit']

declare module 'fastify' {
  interface FastifyRequest {
    /**
     * Records something that concerns security, and logs it in one line at every level of the log up to `warn`.
     *
     * @param db the transaction that does it, of which this is the last statement: what cannot be recorded is not
     * done. What was refused is recorded by itself
     */
    audit(db: Kysely<Tables>, event: AuditEvent): Promise<void>
  }
}

/** Has what concerns security recorded by the routes that do it. */
export const audit = fp(
  async (app: App, { records }: { records: AuditRecords }) => {
    // Intruders are looked for where nothing else is logged but warnings.
    const level = ['silent', 'fatal', 'error'].includes(app.config.LOG_LEVEL) ? app.config.LOG_LEVEL : 'info'

    app.decorateRequest(
      'audit',
      async function (this: FastifyRequest, db: Kysely<Tables>, event: AuditEvent) {
        const { user, ip, id, log } = this
        const origin = {
          userId: user?.id ?? null,
          sessionId: user?.sessionId ?? null,
          keyId: user?.keyId ?? null,
          network: networkOf(ip),
          requestId: id,
          operator: null,
        }
        // What is too much for the database is too much for the log.
        if (!(await records.add(db, event, origin))) return
        const { kind, detail, userId = origin.userId, sessionId = origin.sessionId } = event
        const by = origin.keyId === null ? { session: sessionId } : { key: origin.keyId }
        log
          .child({ event: kind, user: userId, ...by, network: origin.network }, { level })
          .info({ detail }, AUDIT_KINDS[kind])
      },
    )

    app.jobs.add('delete-audit-records', records.deleteOld)
  },
  { name: 'audit', dependencies: ['authentication', 'jobs'] },
)
