import type { FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import { AUDIT_KINDS } from '#src/data/audit-kinds.ts'
import { type AuditEvent, deleteOldRecords, insertRecord } from '#src/data/audit-queries.ts'
import type { Db } from '#src/data/tables.ts'
import { MINUTE_MS } from '#src/lib/dates.ts'
import { networkOf } from '#src/lib/network.ts'
import type { App } from '../app.ts'

export type Audit = FastifyRequest['audit']

declare module 'fastify' {
  interface FastifyRequest {
    /**
     * Records an event of security, and logs a line up to the level `warn`.
     *
     * @param db transaction of the action, which this statement ends: without a record there is no action
     */
    audit(db: Db, event: AuditEvent): Promise<void>
  }
}

/** Others wait at the database for one piece at most. */
const DELETED_AT_ONCE = 1000

export const audit = fp(
  async (app: App) => {
    const { config, database } = app
    // Events are logged also where warnings alone are.
    const level = ['silent', 'fatal', 'error'].includes(config.LOG_LEVEL) ? config.LOG_LEVEL : 'info'

    app.decorateRequest('audit', async function (this: FastifyRequest, db: Db, event: AuditEvent) {
      const { user, ip, id, log } = this
      const origin = {
        userId: user?.id ?? null,
        sessionId: user?.sessionId ?? null,
        keyId: user?.keyId ?? null,
        network: networkOf(ip),
        requestId: id,
        operator: null,
      }
      // One of too many alike records is not logged either.
      if (!(await insertRecord(db, event, origin))) return
      const { kind, detail, userId = origin.userId, sessionId = origin.sessionId } = event
      const by = origin.keyId === null ? { session: sessionId } : { key: origin.keyId }
      log
        .child({ event: kind, user: userId, ...by, network: origin.network }, { level })
        .info({ detail }, AUDIT_KINDS[kind])
    })

    app.jobs.add(
      'delete-audit-records',
      { everyMs: 10 * MINUTE_MS, failure: 'expired audit records were not deleted' },
      async () => {
        const deleted = await deleteOldRecords(database.writer, config.AUDIT_MONTHS, DELETED_AT_ONCE)
        return deleted === DELETED_AT_ONCE
      },
    )
  },
  { name: 'audit', dependencies: ['authentication', 'jobs'] },
)
