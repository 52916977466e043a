import type { Kysely } from 'kysely'
import type { EmailConfirmation, PasswordReset } from '#schemas/auth.ts'
import type { Tables } from '#src/database/tables.ts'
import { deleteKeys } from '#src/domains/keys/queries.ts'
import { confirmEmail, emailKey, resetPasswordHash } from '#src/domains/user/queries.ts'
import { ApiError } from '#src/errors.ts'
import { findTokenAccount, spendAccountToken } from './account-token-queries.ts'
import { refuseGuessable } from './credentials.ts'
import type { Hashing } from './hashing.ts'
import { hashPassword } from './passwords.ts'
import { endOtherSessions } from './queries.ts'
import { accountSubjects, everywhereSubject, tokenSubjects } from './subjects.ts'
import type { Throttle } from './throttle.ts'
import { tokenHash } from './tokens.ts'

/** What people do with the tokens that were sent to them. */
export interface TokenDesk {
  /**
   * Sets a new password. All sessions end, and so do all keys unless they are to go on: whoever had got in may
   * have left one behind, or read what one is for.
   *
   * @returns the id of the user
   * @throws {ApiError} INVALID_TOKEN, the same whatever is wrong with it, or INVALID_PARAMETERS where the
   * password is easily guessed, which leaves the token as it is
   */
  resetPassword(reset: PasswordReset, address: string): Promise<string>
  /**
   * @returns the id of the user
   * @throws {ApiError} INVALID_TOKEN
   */
  confirmEmail(confirmation: EmailConfirmation, address: string): Promise<string>
}

export function createTokenDesk(db: Kysely<Tables>, throttle: Throttle, hashing: Hashing): TokenDesk {
  /** Nobody can guess a token that is good, so only those who show others have to wait. */
  async function refuseToken(address: string): Promise<never> {
    const subjects = tokenSubjects(address)
    await throttle.refuseBlocked(subjects)
    await throttle.count(subjects)
    throw invalidToken()
  }

  return {
    async resetPassword({ token, password, end_keys }, address) {
      const hash = tokenHash(token)
      const owner = await findTokenAccount(db, 'password_reset', hash)
      if (!owner) return refuseToken(address)
      const { id, email, name, organisation } = owner
      const account = emailKey(email)
      const endKeys = end_keys ?? true
      await refuseGuessable('password', password, [email, name, organisation])
      const passwordHash = await hashing.run({ account, address }, () => hashPassword(password))
      await db.transaction().execute(async (trx) => {
        // It holds the account, as all do first that change something of one.
        await resetPasswordHash(trx, id, passwordHash)
        if (!(await spendAccountToken(trx, 'password_reset', hash))) throw invalidToken()
        await endOtherSessions(trx, id, null)
        if (endKeys) await deleteKeys(trx, id)
      })
      await throttle.forget([...accountSubjects(account, address), everywhereSubject(account)])
      return id
    },

    async confirmEmail({ token }, address) {
      const hash = tokenHash(token)
      const account = await findTokenAccount(db, 'email_confirmation', hash)
      if (!account) return refuseToken(address)
      await db.transaction().execute(async (trx) => {
        await confirmEmail(trx, account.id)
        if (!(await spendAccountToken(trx, 'email_confirmation', hash))) throw invalidToken()
      })
      return account.id
    },
  }
}

function invalidToken(): ApiError {
  return new ApiError(
    'INVALID_TOKEN',
    'The token is not valid, has been used or has expired: ask for another.',
  )
}
