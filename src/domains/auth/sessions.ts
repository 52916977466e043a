import type { Kysely } from 'kysely'
import type { Tables } from '#src/database/tables.ts'
import type { Credentials } from '#src/domains/user/queries.ts'
import {
  deleteSession,
  holdRefreshToken,
  insertRefreshToken,
  insertSession,
  spendRefreshToken,
} from './queries.ts'
import { newSuccessorSalt, successorOf } from './refresh-tokens.ts'
import { newToken, tokenHash } from './tokens.ts'

/** A client whose answer was lost may ask again for so long. */
const GRACE_SECONDS = 10

export interface Session {
  id: string
  userId: string
  refreshToken: string
}

/** Begins a session of a user; undefined where the credentials are no longer the user's. */
export async function startSession(
  db: Kysely<Tables>,
  credentials: Credentials,
): Promise<Session | undefined> {
  return db.transaction().execute(async (trx) => {
    const id = await insertSession(trx, credentials)
    if (id === undefined) return undefined
    const refreshToken = newToken()
    await insertRefreshToken(trx, id, tokenHash(refreshToken))
    return { id, userId: credentials.id, refreshToken }
  })
}

/** `stolen` is the session that was ended because an old token of it was shown again. */
export type Continuation = { session: Session } | { stolen: string } | undefined

/**
 * Changes a refresh token for its successor.
 *
 * A token that was used before is either a client's that did not get the answer, or a thief's: the first
 * comes back within seconds and gets the same successor again; anything later ends the session, since
 * nobody can tell which of the two has the newer token.
 *
 * @returns undefined where the token is not known, has expired, or its session has ended
 */
export async function continueSession(db: Kysely<Tables>, token: string): Promise<Continuation> {
  return db.transaction().execute(async (trx) => {
    const hash = tokenHash(token)
    const state = await holdRefreshToken(trx, hash)
    if (!state) return undefined
    const { sessionId: id, userId, usedSecondsAgo, successorSalt } = state
    if (usedSecondsAgo !== null && successorSalt !== null) {
      if (usedSecondsAgo < GRACE_SECONDS) {
        return { session: { id, userId, refreshToken: successorOf(token, successorSalt) } }
      }
      await deleteSession(trx, id)
      return { stolen: id }
    }
    const salt = newSuccessorSalt()
    const refreshToken = successorOf(token, salt)
    await spendRefreshToken(trx, id, hash, salt)
    await insertRefreshToken(trx, id, tokenHash(refreshToken))
    return { session: { id, userId, refreshToken } }
  })
}
