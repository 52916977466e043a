import { createHash, createHmac, randomBytes } from 'node:crypto'
import type { Kysely, Transaction } from 'kysely'
import { inTransaction } from '#src/data/sql.ts'
import type { Tables } from '#src/data/tables.ts'
import { ApiError } from '#src/errors.ts'
import type { Audit } from '#src/http/plugins/audit.ts'
import {
  endSession,
  hasTwoFactor,
  insertSession,
  recordUnlessBlocked,
  type SessionUse,
  secondsBlocked,
} from './queries.ts'
import { refreshSubject } from './throttle.ts'
import {
  holdRefreshToken,
  insertRefreshToken,
  newToken,
  spendRefreshToken,
  TOKEN_BYTES,
  tokenHash,
  wasUsed,
} from './token-queries.ts'
import type { Credentials } from './user-queries.ts'

/** What the tokens of one session begin with: 128 bits, and as many for each of them. */
const FAMILY_BYTES = TOKEN_BYTES / 2

function newSuccessorSalt(): Buffer {
  return randomBytes(TOKEN_BYTES)
}

/**
 * The token that follows another, of the same family. Its rest is as random as its salt, and yet the same
 * whenever the same token is shown again: a client that did not get the answer can ask for it once more, and
 * there is never more than one line of tokens. The salt alone, which is all that the database has, does not
 * give it.
 */
function successorOf(token: string, salt: Buffer): string {
  const rest = createHmac('sha256', salt).update(token).digest().subarray(FAMILY_BYTES)
  return Buffer.concat([familyIn(token), rest]).toString('base64url')
}

/** The exact text of a token: another text that decodes to the same bytes was never issued. */
const REFRESH_TOKEN = /^[A-Za-z0-9_-]{43}$/

/** Whether a text may be a refresh token. */
function isRefreshToken(text: string): boolean {
  return REFRESH_TOKEN.test(text)
}

/** The stored hash of a token's family: it recognises a token after its row is deleted. */
function familyHash(token: string): Buffer {
  return createHash('sha256').update(familyIn(token)).digest()
}

function familyIn(token: string): Buffer {
  return Buffer.from(token, 'base64url').subarray(0, FAMILY_BYTES)
}

/** A client that sends one token several times at once, from two windows say, gets the same answer for so long. */
const SHARED_SECONDS = 10
/**
 * A client whose answer was lost, or was a 503 though the token had been changed, may ask again for so long
 * while nobody has used the successor: longer than a database is away when it restarts or fails over.
 */
const LOST_ANSWER_SECONDS = 120

export interface SignedInSession {
  id: string
  userId: string
  refreshToken: string
}

export const CODE_NEEDED = 'The password is right: send it again, with totp or recovery_code.'

/**
 * Begins a session of a user; undefined where the credentials are no longer the user's.
 *
 * @param factorShown whether a second factor was shown as well, and not only not needed when that was looked at
 * @throws {ApiError} TWO_FACTOR_REQUIRED where it has been turned on since
 */
export async function startSession(
  db: Kysely<Tables>,
  credentials: Credentials,
  use: SessionUse,
  factorShown: boolean,
  audit: Audit,
): Promise<SignedInSession | undefined> {
  return inTransaction(db, async (trx) => {
    const id = await insertSession(trx, credentials, use)
    if (id === undefined) return undefined
    // The account is locked from here on: a second factor cannot be turned on meanwhile.
    if (!factorShown && (await hasTwoFactor(trx, credentials.id))) {
      throw new ApiError('TWO_FACTOR_REQUIRED', CODE_NEEDED)
    }
    const refreshToken = newToken()
    await insertRefreshToken(trx, id, tokenHash(refreshToken))
    await audit(trx, { kind: 'login', userId: credentials.id, sessionId: id })
    return { id, userId: credentials.id, refreshToken }
  })
}

/**
 * `stolen` is the session that was ended because an old token of it was shown again; `tooSoon`, for how many
 * seconds it may not be continued because that was done too often.
 */
type Continuation = { session: SignedInSession } | { stolen: string } | { tooSoon: number } | undefined

/**
 * Changes a refresh token for its successor.
 *
 * A token that was used before is either a client's that did not get the answer, or a thief's: the first
 * comes back soon, with nobody having used the successor, and gets the same successor again; anything later
 * ends the session, since nobody can tell which of the two has the newer token.
 *
 * @returns undefined where the token is not known, has expired, or its session has ended
 */
export async function continueSession(
  db: Kysely<Tables>,
  token: string,
  use: SessionUse,
  audit: Audit,
): Promise<Continuation> {
  if (!isRefreshToken(token)) return undefined
  return inTransaction(db, async (trx) => {
    const hash = tokenHash(token)
    const family = familyHash(token)
    const state = await holdRefreshToken(trx, hash, family)
    if (!state || state.expired) return undefined
    const { sessionId: id, userId, usedSecondsAgo, successorSalt, kept } = state
    const successor = successorSalt && successorOf(token, successorSalt)
    if (!kept || (successor && !(await mayAskAgain(trx, usedSecondsAgo as number, successor)))) {
      await endSession(trx, id)
      await audit(trx, { kind: 'refresh_token_reused', userId, sessionId: id })
      return { stolen: id }
    }
    const limited = refreshSubject(id)
    if (!(await recordUnlessBlocked(trx, limited))) {
      return { tooSoon: Math.max(1, await secondsBlocked(trx, [limited.hash])) }
    }
    if (successor) return { session: { id, userId, refreshToken: successor } }
    const salt = newSuccessorSalt()
    const refreshToken = successorOf(token, salt)
    await spendRefreshToken(trx, id, { hash, family, successorSalt: salt }, use)
    await insertRefreshToken(trx, id, tokenHash(refreshToken))
    return { session: { id, userId, refreshToken } }
  })
}

/** Whether a token that was used so many seconds ago may give its successor once more. */
async function mayAskAgain(
  trx: Transaction<Tables>,
  usedSecondsAgo: number,
  successor: string,
): Promise<boolean> {
  if (usedSecondsAgo < SHARED_SECONDS) return true
  return usedSecondsAgo < LOST_ANSWER_SECONDS && !(await wasUsed(trx, tokenHash(successor)))
}
