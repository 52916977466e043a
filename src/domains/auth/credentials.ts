import type { Kysely } from 'kysely'
import type { PasswordChange } from '#schemas/auth.ts'
import type { Tables } from '#src/database/tables.ts'
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
import { hashPassword, isOutdated, NOBODYS_HASH, refuseGuessable, verifyPassword } from './passwords.ts'
import { endOtherSessions, freshenSession } from './queries.ts'
import type { Throttle } from './throttle.ts'
import type { InTurn } from './turns.ts'

export const WRONG_PASSWORD = 'The current password is wrong.'

/** What people do with e-mail and password. All of it is throttled, and hashes when its turn comes. */
export interface CredentialDesk {
  /**
   * @throws {ApiError} INVALID_CREDENTIALS, the same whether the e-mail or the password is wrong;
   * EMAIL_NOT_CONFIRMED where both are right
   */
  check(email: string, password: string, address: string): Promise<Credentials>
  /**
   * Ends all sessions of the user but the given one, the token of a reset that is under way, and the keys where
   * that is asked for.
   *
   * @throws {ApiError} FORBIDDEN where the current password is wrong
   */
  changePassword(
    user: { id: string; sessionId: string | null },
    change: PasswordChange,
    address: string,
  ): Promise<void>
  /**
   * Makes a session fresh whose user gives the password again.
   *
   * @throws {ApiError} FORBIDDEN where it is wrong
   */
  reauthenticate(user: { id: string; sessionId: string }, password: string, address: string): Promise<void>
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
    async check(email, password, address) {
      const found = await compareInTurn(emailKey(email), address, async () => {
        const known = await findCredentials(db, email)
        const matches = await verifyPassword(known?.passwordHash ?? NOBODYS_HASH, password)
        if (!known || !matches) return undefined
        if (!isOutdated(known.passwordHash)) return known
        const passwordHash = await hashPassword(password)
        if (await replacePasswordHash(db, known, passwordHash)) return { ...known, passwordHash }
        // Another login was faster, or the password has just been changed: look again.
        const now = await findCredentials(db, email)
        return now && (await verifyPassword(now.passwordHash, password)) ? now : undefined
      })
      if (!found) throw invalidCredentials(confirms)
      if (confirms && !found.emailConfirmed) throw notConfirmed()
      return found
    },

    async changePassword({ id, sessionId }, { current_password, new_password, end_keys }, address) {
      const known = await findPasswordHash(db, id)
      if (!known) throw wrongPassword()
      await refuseGuessable('new_password', new_password, [known.email])
      const replaced = await compareInTurn(emailKey(known.email), address, async () => {
        if (!(await verifyPassword(known.passwordHash, current_password))) return undefined
        const replacement = await hashPassword(new_password)
        return db.transaction().execute(async (trx) => {
          const done = await replacePasswordHash(trx, { id, passwordHash: known.passwordHash }, replacement)
          if (!done) return false
          await endOtherSessions(trx, id, sessionId)
          if (sessionId !== null) await freshenSession(trx, sessionId)
          if (end_keys) await deleteKeys(trx, id)
          await deleteAccountToken(trx, 'password_reset', id)
          return true
        })
      })
      // Where another request has changed it in the meantime, the current one is no longer current.
      if (!replaced) throw wrongPassword()
    },

    async reauthenticate({ id, sessionId }, password, address) {
      const known = await findPasswordHash(db, id)
      if (!known) throw wrongPassword()
      const found = await compareInTurn(emailKey(known.email), address, async () =>
        (await verifyPassword(known.passwordHash, password)) ? known : undefined,
      )
      if (!found) throw wrongPassword()
      await freshenSession(db, sessionId)
    },
  }
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
