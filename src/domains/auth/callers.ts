import { createHash } from 'node:crypto'
import type { FastifyBaseLogger } from 'fastify'
import type { Kysely } from 'kysely'
import { SCOPES } from '#schemas/keys.ts'
import type { Tables } from '#src/database/tables.ts'
import { findKeyUser, touchKey } from '#src/domains/keys/queries.ts'
import type { Accounts } from '#src/http/plugins/authentication.ts'
import { findSessionUser, isFreshSession } from './queries.ts'

/**
 * Looks up who a session or a key belongs to. It asks the database that is written to: a replica does
 * not know the newest sessions yet, and still knows the ended ones.
 */
export function createAccounts(db: Kysely<Tables>, log: FastifyBaseLogger): Accounts {
  return {
    async callerOfSession(sessionId, userId) {
      const user = await findSessionUser(db, sessionId)
      return user?.id === userId ? { ...user, sessionId, keyId: null, scopes: SCOPES } : undefined
    },
    async callerOfKey(key) {
      const found = await findKeyUser(db, createHash('sha256').update(key).digest())
      if (!found) return undefined
      // The request goes on meanwhile; that the time could not be written is no reason to refuse it.
      touchKey(db, found.keyId).catch((error) => log.warn({ err: error }, 'the use of a key was not noted'))
      // A key is not its owner: what an admin may do it may where it was made for that.
      const role = found.scopes.includes('admin') ? found.role : 'user'
      return { ...found, role, sessionId: null }
    },
    isFresh: (sessionId) => isFreshSession(db, sessionId),
  }
}
