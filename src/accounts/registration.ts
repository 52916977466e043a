import type { EmailConfirmation, PasswordReset, RegisterRequest } from '#schemas/auth.ts'
import type { UserProfile } from '#schemas/user.ts'
import { inTransaction } from '#src/data/sql.ts'
import type { Db } from '#src/data/tables.ts'
import { ApiError } from '#src/errors.ts'
import type { Audit } from '#src/http/plugins/audit.ts'
import { type AccountMail, CONFIRMATION_HOURS } from './account-mail.ts'
import { hashPassword, refuseGuessable, verifyPassword } from './credentials.ts'
import type { RunThrottled } from './hashing.ts'
import { deleteApiKeys } from './key-queries.ts'
import { endOtherSessions } from './queries.ts'
import {
  type AccountRequest,
  accountSubjects,
  addressSubjects,
  everywhereSubject,
  registrationSubjects,
  type Throttle,
  takenSubjects,
  tokenSubjects,
} from './throttle.ts'
import {
  admitRegistration,
  findRegistrations,
  findTokenAccount,
  insertRegistration,
  newToken,
  spendAccountToken,
  tokenHash,
  type WaitingRegistration,
} from './token-queries.ts'
import { confirmEmail, emailKey, insertUser, type NewUser, resetPasswordHash } from './user-queries.ts'

export type RegistrationService = ReturnType<typeof createRegistrationService>

/** @param confirms whether an account needs a confirmed e-mail */
export function createRegistrationService(
  db: Db,
  throttle: Throttle,
  runThrottled: RunThrottled,
  mail: AccountMail,
  confirms: boolean,
) {
  async function keepUntilConfirmed(
    user: NewUser,
    { audit, atDatabase }: AccountRequest,
  ): Promise<UserProfile> {
    const token = newToken()
    const profile = await atDatabase(() =>
      inTransaction(db, async (trx) => {
        const kept = await insertRegistration(trx, user, {
          hash: tokenHash(token),
          hours: CONFIRMATION_HOURS,
        })
        await audit(trx, { kind: 'registration_kept', userId: kept.id })
        return kept
      }),
    )
    // A registration without a mail stays: its owner can ask for another mail.
    mail.answerRegistration(profile, token)
    return profile
  }

  async function makeAccount(
    user: NewUser,
    { address, audit, atDatabase }: AccountRequest,
  ): Promise<UserProfile> {
    const profile = await atDatabase(() =>
      inTransaction(db, async (trx) => {
        const made = await insertUser(trx, user)
        if (made) await audit(trx, { kind: 'account_made', userId: made.id })
        return made
      }),
    )
    if (profile) return profile
    await atDatabase(() => throttle.count(takenSubjects(address)))
    throw new ApiError('EMAIL_TAKEN')
  }

  return {
    /** Gives the account, also before its confirmation: then only a mail tells whether it exists already. */
    async register(
      { email, password, name, organisation = null }: RegisterRequest,
      visit: AccountRequest,
    ): Promise<UserProfile> {
      const { address, atDatabase, note } = visit
      await refuseGuessable('password', password, [email, name, organisation])
      if (confirms) await atDatabase(() => mail.admit(email, address))
      // Registrations are counted for themselves: many of them hold up no logins.
      const counted = registrationSubjects(address)
      const subjects = [...counted, ...takenSubjects(address), ...addressSubjects(address)]
      return runThrottled(subjects, { account: emailKey(email), visit }, async (inPlace) => {
        // Before a look for the account: its time must not tell.
        const passwordHash = await inPlace(() => hashPassword(password))
        // Each hashed password counts, also of a client that has gone away meanwhile.
        await note(async () => {
          await throttle.refuseBlocked(subjects)
          await throttle.admit(counted)
        })
        const user = { email, passwordHash, name, organisation }
        return confirms ? keepUntilConfirmed(user, visit) : makeAccount(user, visit)
      })
    },
  }
}

export type TokenService = ReturnType<typeof createTokenService>

export function createTokenService(db: Db, throttle: Throttle, runThrottled: RunThrottled) {
  return {
    /** Gives the id of the user. All sessions end, and keys by default: an intruder may have left one. */
    async resetPassword(
      { token, password, end_keys }: PasswordReset,
      visit: AccountRequest,
    ): Promise<string> {
      const { address, audit, atDatabase } = visit
      const hash = tokenHash(token)
      const owner = await atDatabase(() => findTokenAccount(db, 'password_reset', hash))
      if (!owner) return refuseToken(throttle, visit)
      const { id, email, name, organisation } = owner
      const account = emailKey(email)
      await refuseGuessable('password', password, [email, name, organisation])
      // A caller with a valid token does not wait for guesses at the account.
      const whose = { account, visit, isKnown: async () => true }
      const passwordHash = await runThrottled([], whose, (inPlace) => inPlace(() => hashPassword(password)))
      await atDatabase(async () => {
        await inTransaction(db, async (trx) => {
          // First, since it locks the account.
          await resetPasswordHash(trx, id, passwordHash)
          if (!(await spendAccountToken(trx, 'password_reset', hash))) throw new ApiError('INVALID_TOKEN')
          await endOtherSessions(trx, id, null)
          const keys = (end_keys ?? true) ? await deleteApiKeys(trx, id) : 0
          await audit(trx, { kind: 'password_reset', userId: id })
          if (keys > 0) await audit(trx, { kind: 'keys_ended', userId: id, detail: { keys } })
        })
        await throttle.forget([...accountSubjects(account, address), everywhereSubject(account)])
      })
      return id
    },

    /**
     * Makes an account of a registration. Of several for one e-mail, the password names that of the owner: a stranger may
     * have made another, to share the account.
     */
    async confirmEmail({ token, password }: EmailConfirmation, visit: AccountRequest): Promise<void> {
      const { audit, atDatabase } = visit
      const hash = tokenHash(token)
      const waiting = await atDatabase(() => findRegistrations(db, hash))
      if (waiting[0]) {
        const registration =
          waiting.length === 1
            ? waiting[0]
            : await theOneWith(throttle, runThrottled, password, waiting, visit)
        const admitted = await atDatabase(() => admit(db, registration, audit))
        if (!admitted) throw new ApiError('INVALID_TOKEN')
        return
      }
      const account = await atDatabase(() => findTokenAccount(db, 'email_confirmation', hash))
      if (!account) return refuseToken(throttle, visit)
      await atDatabase(() =>
        inTransaction(db, async (trx) => {
          await confirmEmail(trx, account.id)
          if (!(await spendAccountToken(trx, 'email_confirmation', hash))) throw new ApiError('INVALID_TOKEN')
          await audit(trx, { kind: 'email_confirmed', userId: account.id })
        }),
      )
    },
  }
}

async function theOneWith(
  throttle: Throttle,
  runThrottled: RunThrottled,
  password: string | null | undefined,
  waiting: WaitingRegistration[],
  visit: AccountRequest,
): Promise<WaitingRegistration> {
  if (password === undefined || password === null) {
    throw ApiError.invalid('password', 'is required: the e-mail was registered more than once')
  }
  const subjects = tokenSubjects(visit.address)
  const account = (waiting[0] as WaitingRegistration).emailKey
  return runThrottled(subjects, { account, visit }, async (inPlace) => {
    let found: WaitingRegistration | undefined
    for (const one of waiting) {
      if (!(await inPlace(() => verifyPassword(one.passwordHash, password)))) continue
      found = one
      break
    }
    await visit.note(() => throttle.refuseBlocked(subjects))
    if (found) return found
    await visit.note(() => throttle.admit(subjects))
    throw ApiError.invalid('password', 'is none that the e-mail was registered with')
  })
}

/** A valid token cannot be guessed, so only callers with invalid tokens wait. */
async function refuseToken(throttle: Throttle, { address, atDatabase }: AccountRequest): Promise<never> {
  const subjects = tokenSubjects(address)
  await atDatabase(async () => {
    await throttle.refuseBlocked(subjects)
    await throttle.count(subjects)
  })
  throw new ApiError('INVALID_TOKEN')
}

/** False where the account exists, or another request was faster. */
function admit(db: Db, registration: WaitingRegistration, audit: Audit): Promise<boolean> {
  return inTransaction(db, async (trx) => {
    const userId = await admitRegistration(trx, registration)
    if (userId !== undefined) await audit(trx, { kind: 'account_made', userId })
    return userId !== undefined
  })
}
