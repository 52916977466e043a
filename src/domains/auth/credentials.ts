import type { Kysely } from 'kysely'
import type { PasswordChange } from '#schemas/auth.ts'
import type { AuditEvent } from '#src/database/audit-table.ts'
import type { Tables } from '#src/database/tables.ts'
import { inTransaction } from '#src/database/transaction.ts'
import { deleteKeys } from '#src/domains/keys/queries.ts'
import {
  type Credentials,
  emailKey,
  findCredentials,
  findPasswordHash,
  replacePasswordHash,
} from '#src/domains/user/queries.ts'
import { ApiError, BASE } from '#src/errors.ts'
import { deleteAccountToken } from './account-token-queries.ts'
import { createComparison } from './comparison.ts'
import type { InPlace } from './hashing.ts'
import { hashPassword, isOutdated, NOBODYS_HASH, refuseGuessable, verifyPassword } from './passwords.ts'
import { endOtherSessions, freshenSession } from './queries.ts'
import type { Throttle } from './throttle.ts'
import type { InTurn } from './turns.ts'
import { hasTwoFactor } from './two-factor-queries.ts'
import type { Visit } from './visits.ts'

type Account = Credentials & { emailConfirmed: boolean }

export const WRONG_PASSWORD = 'The current password is wrong.'

/** What people do with e-mail and password. All of it is throttled, and hashes when its turn comes. */
export interface CredentialDesk {
  /**
   * @throws {ApiError} INVALID_CREDENTIALS, the same whether the e-mail or the password is wrong;
   * EMAIL_NOT_CONFIRMED where both are right
   */
  check(email: string, password: string, visit: Visit): Promise<Credentials>
  /**
   * Ends all sessions of the user but the given one, the token of a reset that is under way, and the keys where
   * that is asked for.
   *
   * @throws {ApiError} FORBIDDEN where the current password is wrong
   */
  changePassword(
    user: { id: string; sessionId: string | null },
    change: PasswordChange,
    visit: Visit,
  ): Promise<void>
  /** @throws {ApiError} FORBIDDEN where it is not the password of the user */
  confirmPassword(userId: string, password: string, visit: Visit): Promise<void>
}

/** @param confirms whether an e-mail has to be confirmed before its account can be used */
export function createCredentialDesk(
  db: Kysely<Tables>,
  throttle: Throttle,
  inTurn: InTurn,
  confirms: boolean,
): CredentialDesk {
  const compareInTurn = createComparison(db, throttle, inTurn)

  return {
    async check(email, password, visit) {
      const { audit, atDatabase } = visit
      let known: Account | undefined
      const found = await compareInTurn(emailKey(email), visit, async (inPlace) => {
        known = await atDatabase(() => findCredentials(db, email))
        return matching(db, known, { email, password }, visit, inPlace)
      })
      if (!found) {
        await audit(db, loginFailed(known, known ? 'wrong password' : 'no account'))
        throw invalidCredentials(confirms)
      }
      if (confirms && !found.emailConfirmed) {
        await atDatabase(() => audit(db, loginFailed(found, 'e-mail not confirmed')))
        throw notConfirmed()
      }
      return found
    },

    async changePassword({ id, sessionId }, { current_password, new_password, end_keys }, visit) {
      const { audit, atDatabase } = visit
      const known = await atDatabase(() => findPasswordHash(db, id))
      if (!known) throw wrongPassword()
      await refuseGuessable('new_password', new_password, [known.email])
      const replacement = await compareInTurn(emailKey(known.email), visit, async (inPlace) =>
        (await isPassword(known, current_password, inPlace))
          ? inPlace(() => hashPassword(new_password))
          : undefined,
      )
      if (!replacement) return refusePassword(visit)
      const credentials = { id, passwordHash: known.passwordHash }
      const replaced = await atDatabase(() =>
        inTransaction(db, async (trx) => {
          if (!(await replacePasswordHash(trx, credentials, replacement))) return false
          await endOtherSessions(trx, id, sessionId)
          // Where there is a second factor, a password alone makes no session fresh.
          if (sessionId !== null && !(await hasTwoFactor(trx, id))) await freshenSession(trx, sessionId)
          await deleteAccountToken(trx, 'password_reset', id)
          const keys = end_keys ? await deleteKeys(trx, id) : 0
          await audit(trx, { kind: 'password_changed' })
          if (keys > 0) await audit(trx, { kind: 'keys_ended', detail: { keys } })
          return true
        }),
      )
      // Where another request has changed it in the meantime, the current one is no longer current.
      if (!replaced) throw wrongPassword()
    },

    async confirmPassword(id, password, visit) {
      const known = await visit.atDatabase(() => findPasswordHash(db, id))
      if (!known) throw wrongPassword()
      const found = await compareInTurn(emailKey(known.email), visit, async (inPlace) =>
        (await isPassword(known, password, inPlace)) ? known : undefined,
      )
      if (!found) await refusePassword(visit)
    },
  }

  /** Records that it is not the password of the caller, and says so. */
  async function refusePassword({ audit }: Visit): Promise<never> {
    await audit(db, { kind: 'password_refused' })
    throw wrongPassword()
  }
}

function isPassword(
  { passwordHash }: { passwordHash: string },
  password: string,
  inPlace: InPlace,
): Promise<boolean> {
  return inPlace(() => verifyPassword(passwordHash, password))
}

/** The account that was found, where it is its password; with a hash of the present parameters from now on. */
async function matching(
  db: Kysely<Tables>,
  known: Account | undefined,
  { email, password }: { email: string; password: string },
  { atDatabase }: Visit,
  inPlace: InPlace,
): Promise<Account | undefined> {
  const matches = await isPassword(known ?? { passwordHash: NOBODYS_HASH }, password, inPlace)
  if (!known || !matches) return undefined
  if (!isOutdated(known.passwordHash)) return known
  const passwordHash = await inPlace(() => hashPassword(password))
  if (await atDatabase(() => replacePasswordHash(db, known, passwordHash))) return { ...known, passwordHash }
  // Another login was faster, or the password has just been changed: look again.
  const now = await atDatabase(() => findCredentials(db, email))
  return now && (await isPassword(now, password, inPlace)) ? now : undefined
}

function loginFailed(account: { id: string } | undefined, reason: string): AuditEvent {
  return { kind: 'login_failed', userId: account?.id ?? null, detail: { reason } }
}

/** The same for all whose e-mail is not confirmed, whether or not somebody has an account with it. */
export function invalidCredentials(confirms: boolean): ApiError {
  const unconfirmed = confirms ? ', or the e-mail has not been confirmed yet' : ''
  return new ApiError('INVALID_CREDENTIALS', `The e-mail or the password is wrong${unconfirmed}.`)
}

function wrongPassword(): ApiError {
  return new ApiError('FORBIDDEN', WRONG_PASSWORD)
}

function notConfirmed(): ApiError {
  return new ApiError(
    'EMAIL_NOT_CONFIRMED',
    `The e-mail has to be confirmed first, with the token that was sent to it: POST ${BASE}/auth/confirm/resend sends another one.`,
  )
}
