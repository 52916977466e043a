import type { Kysely } from 'kysely'
import type { PasswordChange, RegisterRequest } from '#schemas/auth.ts'
import type { UserProfile } from '#schemas/user.ts'
import type { Tables } from '#src/database/tables.ts'
import { deleteKeys } from '#src/domains/keys/queries.ts'
import {
  type Credentials,
  emailKey,
  findCredentials,
  findPasswordHash,
  insertUser,
  replacePasswordHash,
} from '#src/domains/user/queries.ts'
import { ApiError, BASE } from '#src/errors.ts'
import { networkOf } from '#src/lib/network.ts'
import { deleteAccountToken } from './account-token-queries.ts'
import { isCommonPassword } from './common-passwords.ts'
import type { Hashing, HashingFor } from './hashing.ts'
import { hashPassword, isOutdated, NOBODYS_HASH, verifyPassword } from './passwords.ts'
import { endOtherSessions, freshenSession, isNetworkOf } from './queries.ts'
import {
  accountSubjects,
  addressSubjects,
  everywhereSubject,
  registrationSubjects,
  type Subject,
} from './subjects.ts'
import type { Throttle } from './throttle.ts'

/** What a guess takes where there are too many at an account from everywhere. */
const CEILING_PAUSE_MS = 1000

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

/** @param confirmation whether new accounts have to confirm their e-mail before they log in */
export function createCredentialDesk(
  db: Kysely<Tables>,
  throttle: Throttle,
  hashing: Hashing,
  confirmation: 'off' | 'required',
): CredentialDesk {
  /** The second look comes after the wait: what was sent together must not slip through together. */
  async function inTurn<Result>(
    subjects: Subject[],
    whose: HashingFor,
    work: () => Promise<Result>,
  ): Promise<Result> {
    await throttle.refuseBlocked(subjects)
    return hashing.run(whose, async () => {
      await throttle.refuseBlocked(subjects)
      return work()
    })
  }

  /**
   * Compares a password when its turn comes, and counts where it is wrong. Where guesses at the account come from
   * everywhere, each takes a second, and they wait for one another: that slows them down, and keeps nobody out.
   * Where somebody is logged in to the account from, they neither pause nor wait for those elsewhere.
   */
  async function compareInTurn<Result>(
    account: string,
    address: string,
    compare: () => Promise<Result | undefined>,
  ): Promise<Result | undefined> {
    const ofAccount = accountSubjects(account, address)
    const everywhere = everywhereSubject(account)
    const subjects = [...ofAccount, ...addressSubjects(address)]
    const isKnown = await isNetworkOf(db, account, networkOf(address))
    const pauseMs = !isKnown && (await throttle.isOver(everywhere)) ? CEILING_PAUSE_MS : 0
    return inTurn(subjects, { account, address, isKnown, pauseMs }, async () => {
      const found = await compare()
      if (found === undefined) await throttle.count([...subjects, everywhere])
      else await throttle.forget(ofAccount)
      return found
    })
  }

  return {
    async register({ email, password, name, organisation = null }, address) {
      await refuseGuessable('password', password, [email, name, organisation])
      // Registrations are counted for themselves: many of them hold up no logins.
      const counted = registrationSubjects(address)
      const whose = { account: emailKey(email), address }
      return inTurn([...counted, ...addressSubjects(address)], whose, async () => {
        await throttle.count(counted)
        // Whether there is an account is asked after the hashing: who has one is answered no sooner.
        const passwordHash = await hashPassword(password)
        const emailConfirmed = confirmation === 'off'
        const user = await insertUser(db, { email, passwordHash, name, organisation, emailConfirmed })
        if (!user) throw new ApiError('EMAIL_TAKEN', 'There is an account with this e-mail: log in.')
        return user
      })
    },

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
      if (!found) throw new ApiError('INVALID_CREDENTIALS', 'The e-mail or the password is wrong.')
      if (confirmation === 'required' && !found.emailConfirmed) throw notConfirmed()
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

function wrongPassword(): ApiError {
  return new ApiError('FORBIDDEN', WRONG_PASSWORD)
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
