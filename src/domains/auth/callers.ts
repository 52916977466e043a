import { createHash } from 'node:crypto'
import type { Kysely } from 'kysely'
import { SCOPES } from '#schemas/keys.ts'
import type { Tables } from '#src/database/tables.ts'
import { findKeyUser, touchKey } from '#src/domains/keys/queries.ts'
import type { Accounts, Caller } from '#src/http/plugins/authentication.ts'
import type { LogFailure } from '#src/http/plugins/failure-log.ts'
import { findSessionUser, isFreshSession } from './queries.ts'
import { hasTwoFactor } from './two-factor-queries.ts'

/**
 * Looks up who a session or a key belongs to. It asks the database that is written to: a replica does
 * not know the newest sessions yet, and still knows the ended ones.
 *
 * @param adminsNeedTwoFactor whether an admin without a second factor is an ordinary user
 */
export function createAccounts(
  db: Kysely<Tables>,
  adminsNeedTwoFactor: boolean,
  logFailure: LogFailure,
): Accounts {
  async function withPresentRole(caller: Caller): Promise<Caller> {
    if (!adminsNeedTwoFactor || caller.role !== 'admin') return caller
    return (await hasTwoFactor(db, caller.id)) ? caller : { ...caller, role: 'user', lacksTwoFactor: true }
  }

  return {
    async callerOfSession(sessionId, userId) {
      const user = await findSessionUser(db, sessionId)
      if (user?.id !== userId) return undefined
      return withPresentRole({ ...user, sessionId, keyId: null, scopes: SCOPES })
    },
    async callerOfKey(key) {
      const found = await findKeyUser(db, createHash('sha256').update(key).digest())
      if (!found) return undefined
      // The request goes on meanwhile; that the time could not be written is no reason to refuse it.
      touchKey(db, found.keyId).catch((error) => logFailure(error, 'the use of a key was not noted'))
      // A key is not its owner: what an admin may do it may where it was made for that.
      const role = found.scopes.includes('admin') ? found.role : 'user'
      return withPresentRole({ ...found, role, sessionId: null })
    },
    isFresh: (sessionId) => isFreshSession(db, sessionId),
  }
}
