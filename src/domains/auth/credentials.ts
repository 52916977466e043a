import type { Kysely } from 'kysely'
import type { PasswordChange, RegisterRequest } from '#schemas/auth.ts'
import type { UserProfile } from '#schemas/user.ts'
import type { Tables } from '#src/database/tables.ts'
import {
  type Credentials,
  emailKey,
  findCredentials,
  findPasswordHash,
  insertUser,
  replacePasswordHash,
} from '#src/domains/user/queries.ts'
import { ApiError, BASE } from '#src/errors.ts'
import { deleteAccountToken } from './account-token-queries.ts'
import { isCommonPassword } from './common-passwords.ts'
import { hashPassword, isOutdated, NOBODYS_HASH, verifyPassword } from './passwords.ts'
import { deleteOtherSessions } from './queries.ts'
import { accountSubject, addressSubject, registrationSubject, type Subject } from './subjects.ts'
import type { Throttle } from './throttle.ts'
import type { WorkQueue } from './work-queue.ts'

export const WRONG_PASSWORD = 'The current password is wrong.'

/** What people do with e-mail and password. All of it is throttled, and hashes when its turn comes. */
export interface CredentialDesk {
  /** @throws {ApiError} EMAIL_TAKEN, or INVALID_PARAMETERS where the password is easily guessed */
  register(request: RegisterRequest, address: string): Promise<UserProfile>
  /**
   * @throws {ApiError} INVALID_CREDENTIALS, the same whether the e-mail or the password is wrong;
   * EMAIL_NOT_CONFIRMED where both are right
   */
  check(email: string, password: string, address: string): Promise<Credentials>
  /**
   * Ends all sessions of the user but the given one, and the token of a reset that is under way.
   *
   * @throws {ApiError} FORBIDDEN where the current password is wrong
   */
  changePassword(
    user: { id: string; sessionId: string | null },
    change: PasswordChange,
    address: string,
  ): Promise<void>
}

/** @param confirmation whether new accounts have to confirm their e-mail before they log in */
export function createCredentialDesk(
  db: Kysely<Tables>,
  throttle: Throttle,
  hashing: WorkQueue,
  confirmation: 'off' | 'required',
): CredentialDesk {
  /** The second look comes after the wait: what was sent together must not slip through together. */
  async function inTurn<Result>(subjects: Subject[], work: () => Promise<Result>): Promise<Result> {
    await throttle.refuseBlocked(subjects)
    return hashing.run(async () => {
      await throttle.refuseBlocked(subjects)
      return work()
    })
  }

  return {
    async register({ email, password, name, organisation = null }, address) {
      await refuseGuessable('password', password, [email, name, organisation])
      // Registrations are counted for themselves: many of them hold up no logins.
      const counted = registrationSubject(address)
      return inTurn([counted, addressSubject(address)], async () => {
        await throttle.count([counted])
        const taken = await findCredentials(db, email)
        const passwordHash = taken ? '' : await hashPassword(password)
        const emailConfirmed = confirmation === 'off'
        const newUser = { email, passwordHash, name, organisation, emailConfirmed }
        const user = taken ? undefined : await insertUser(db, newUser)
        if (!user) throw new ApiError('EMAIL_TAKEN', 'There is an account with this e-mail: log in.')
        return user
      })
    },

    async check(email, password, address) {
      const account = accountSubject(emailKey(email), address)
      const subjects = [account, addressSubject(address)]
      return inTurn(subjects, async () => {
        const known = await findCredentials(db, email)
        const matches = await verifyPassword(known?.passwordHash ?? NOBODYS_HASH, password)
        if (!known || !matches) {
          await throttle.count(subjects)
          throw new ApiError('INVALID_CREDENTIALS', 'The e-mail or the password is wrong.')
        }
        await throttle.forget(account)
        if (confirmation === 'required' && !known.emailConfirmed) throw notConfirmed()
        if (!isOutdated(known.passwordHash)) return known
        const passwordHash = await hashPassword(password)
        const replaced = await replacePasswordHash(db, known, passwordHash)
        if (replaced) return { id: known.id, passwordHash }
        // Another login was faster, or the password has just been changed: look again.
        const now = await findCredentials(db, email)
        if (now && (await verifyPassword(now.passwordHash, password))) return now
        throw new ApiError('INVALID_CREDENTIALS', 'The e-mail or the password is wrong.')
      })
    },

    async changePassword({ id, sessionId }, { current_password, new_password }, address) {
      const known = await findPasswordHash(db, id)
      const wrong = new ApiError('FORBIDDEN', WRONG_PASSWORD)
      if (!known) throw wrong
      await refuseGuessable('new_password', new_password, [known.email])
      const subjects = [accountSubject(emailKey(known.email), address), addressSubject(address)]
      await inTurn(subjects, async () => {
        if (!(await verifyPassword(known.passwordHash, current_password))) {
          await throttle.count(subjects)
          throw wrong
        }
        const replacement = await hashPassword(new_password)
        const replaced = await db.transaction().execute(async (trx) => {
          const done = await replacePasswordHash(trx, { id, passwordHash: known.passwordHash }, replacement)
          if (!done) return false
          await deleteOtherSessions(trx, id, sessionId)
          await deleteAccountToken(trx, 'password_reset', id)
          return true
        })
        // Another request has changed it in the meantime: the current one is no longer current.
        if (!replaced) throw wrong
      })
    },
  }
}

function notConfirmed(): ApiError {
  return new ApiError(
    'EMAIL_NOT_CONFIRMED',
    `The e-mail has to be confirmed first, with the token that was sent to it: POST ${BASE}/auth/confirm/resend sends another one.`,
  )
}

/** Refuses the passwords that are tried first: the common ones, and what is known of the person. */
export async function refuseGuessable(
  field: string,
  password: string,
  known: (string | null)[],
): Promise<void> {
  const isKnown = known.some((text) => text !== null && emailKey(text) === emailKey(password))
  if (!isKnown && !(await isCommonPassword(password))) return
  throw ApiError.invalid(
    field,
    isKnown ? 'must not be your e-mail or name' : 'is one of the most common passwords',
  )
}
