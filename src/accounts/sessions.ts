import { createHash, createHmac, randomBytes } from 'node:crypto'
import { inTransaction } from '#src/data/sql.ts'
import type { Db, Trx } from '#src/data/tables.ts'
import { ApiError } from '#src/errors.ts'
import type { Audit } from '#src/http/plugins/audit.ts'
import { endSession, insertSession, recordUnlessBlocked, type SessionUse, secondsBlocked } from './queries.ts'
import { findStepOn, type LoginSteps } from './steps.ts'
import { refreshSubject } from './throttle.ts'
import * as tokens from './token-queries.ts'
import type { Credentials } from './user-queries.ts'

/** What the tokens of one session begin with: 128 bits, and as many for each of them. */
const FAMILY_BYTES = tokens.TOKEN_BYTES / 2

/**
 * The next token of the family. A client whose answer was lost gets the same one again, so that a family is one line of
 * tokens. The database has the salt alone, which does not give it.
 */
function successorOf(token: string, salt: Buffer): string {
  const rest = createHmac('sha256', salt).update(token).digest().subarray(FAMILY_BYTES)
  return Buffer.concat([familyIn(token), rest]).toString('base64url')
}

/** The exact text of a token: another text that decodes to the same bytes was never issued. */
const REFRESH_TOKEN = /^[A-Za-z0-9_-]{43}$/

function familyIn(token: string): Buffer {
  return Buffer.from(token, 'base64url').subarray(0, FAMILY_BYTES)
}

/** Several uses of one token at once, as from two windows, get the same answer for so long. */
const SHARED_SECONDS = 10
/** After a lost answer a client may ask again while the successor is unused: longer than a database restarts. */
const LOST_ANSWER_SECONDS = 120

export interface SignedInSession {
  id: string
  userId: string
  refreshToken: string
}

/** Undefined where the credentials have changed; `open`: the steps that were not needed. */
export async function startSession(
  db: Db,
  credentials: Credentials,
  use: SessionUse,
  open: LoginSteps,
  audit: Audit,
): Promise<SignedInSession | undefined> {
  return inTransaction(db, async (trx) => {
    const id = await insertSession(trx, credentials, use)
    if (id === undefined) return undefined
    // The account is locked from here on: no step can be turned on meanwhile.
    const step = await findStepOn(open, trx, credentials.id)
    if (step) throw new ApiError(step.refusals.missing)
    const refreshToken = tokens.newToken()
    await tokens.insertRefreshToken(trx, id, tokens.tokenHash(refreshToken))
    await audit(trx, { kind: 'login', userId: credentials.id, sessionId: id })
    return { id, userId: credentials.id, refreshToken }
  })
}

/** `stolen`: the session that an old token has ended; `tooSoon`: seconds until the next continuation. */
type Continuation = { session: SignedInSession } | { stolen: string } | { tooSoon: number } | undefined

/**
 * Changes a refresh token for its successor; undefined for an unknown or expired token, or an ended session.
 *
 * A used token comes from a client whose answer was lost, or from a thief. The client comes back soon, before a use of
 * the successor, and gets it again. A later use ends the session, since the service cannot know which one is the thief.
 */
export async function continueSession(
  db: Db,
  token: string,
  use: SessionUse,
  audit: Audit,
): Promise<Continuation> {
  if (!REFRESH_TOKEN.test(token)) return undefined
  return inTransaction(db, async (trx) => {
    const hash = tokens.tokenHash(token)
    // It recognises a token after its row is deleted.
    const family = createHash('sha256').update(familyIn(token)).digest()
    const state = await tokens.holdRefreshToken(trx, hash, family)
    if (!state || state.expired) return undefined
    const { sessionId: id, userId, usedSecondsAgo, successorSalt, stored } = state
    const successor = successorSalt && successorOf(token, successorSalt)
    if (!stored || (successor && !(await mayAskAgain(trx, usedSecondsAgo as number, successor)))) {
      await endSession(trx, id)
      await audit(trx, { kind: 'refresh_token_reused', userId, sessionId: id })
      return { stolen: id }
    }
    const limited = refreshSubject(id)
    if (!(await recordUnlessBlocked(trx, limited))) {
      return { tooSoon: Math.max(1, await secondsBlocked(trx, [limited])) }
    }
    if (successor) return { session: { id, userId, refreshToken: successor } }
    const salt = randomBytes(tokens.TOKEN_BYTES)
    const refreshToken = successorOf(token, salt)
    await tokens.spendRefreshToken(trx, id, { hash, family, successorSalt: salt }, use)
    await tokens.insertRefreshToken(trx, id, tokens.tokenHash(refreshToken))
    return { session: { id, userId, refreshToken } }
  })
}

async function mayAskAgain(trx: Trx, usedSecondsAgo: number, successor: string): Promise<boolean> {
  if (usedSecondsAgo < SHARED_SECONDS) return true
  return usedSecondsAgo < LOST_ANSWER_SECONDS && !(await tokens.wasUsed(trx, tokens.tokenHash(successor)))
}
