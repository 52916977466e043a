import type { FastifyRequest } from 'fastify'
import type { EmailConfirmation, PasswordReset, RegisterRequest } from '#schemas/auth.ts'
import type { UserProfile } from '#schemas/user.ts'
import { inTransaction } from '#src/data/sql.ts'
import type { Db } from '#src/data/tables.ts'
import { ApiError } from '#src/errors.ts'
import type { Exchange } from '#src/http/exchange.ts'
import { type AccountMail, CONFIRMATION_HOURS } from './account-mail.ts'
import { hashPassword, refuseGuessable, verifyPassword } from './credentials.ts'
import type { RunThrottled } from './hashing.ts'
import { deleteApiKeys } from './key-queries.ts'
import { endOtherSessions } from './queries.ts'
import {
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
  async function keepUntilConfirmed(user: NewUser, exchange: Exchange): Promise<UserProfile> {
    const token = newToken()
    const profile = await exchange.withDatabasePermit(() =>
      inTransaction(db, async (trx) => {
        const registered = await insertRegistration(trx, user, {
          hash: tokenHash(token),
          hours: CONFIRMATION_HOURS,
        })
        await exchange.request.audit(trx, { kind: 'registration_kept', userId: registered.id })
        return registered
      }),
    )
    // A registration without a mail stays: its owner can ask for another mail.
    mail.answerRegistration(profile, token)
    return profile
  }

  async function makeAccount(user: NewUser, exchange: Exchange): Promise<UserProfile> {
    const profile = await exchange.withDatabasePermit(() =>
      inTransaction(db, async (trx) => {
        const made = await insertUser(trx, user)
        if (made) await exchange.request.audit(trx, { kind: 'account_made', userId: made.id })
        return made
      }),
    )
    if (profile) return profile
    await exchange.withDatabasePermit(() => throttle.count(takenSubjects(exchange.request.ip)))
    throw new ApiError('EMAIL_TAKEN')
  }

  return {
    /** Gives the account, also before its confirmation: then only a mail says whether it exists already. */
    async register(
      { email, password, name, organisation = null }: RegisterRequest,
      exchange: Exchange,
    ): Promise<UserProfile> {
      const { ip } = exchange.request
      await refuseGuessable('password', password, [email, name, organisation])
      if (confirms) await exchange.withDatabasePermit(() => mail.admit(email, ip))
      // Registrations are counted for themselves: many of them hold up no logins.
      const counted = registrationSubjects(ip)
      const subjects = [...counted, ...takenSubjects(ip), ...addressSubjects(ip)]
      return runThrottled(subjects, { account: emailKey(email), exchange }, async (withPermit) => {
        // Before a look for the account: its time must reveal nothing.
        const passwordHash = await withPermit(() => hashPassword(password))
        // Each hashed password counts, also of a client that has gone away meanwhile.
        await exchange.note(async () => {
          await throttle.refuseBlocked(subjects)
          await throttle.admit(counted)
        })
        const user = { email, passwordHash, name, organisation }
        return confirms ? keepUntilConfirmed(user, exchange) : makeAccount(user, exchange)
      })
    },
  }
}

export type TokenService = ReturnType<typeof createTokenService>

export function createTokenService(db: Db, throttle: Throttle, runThrottled: RunThrottled) {
  return {
    /** Gives the id of the user. All sessions end, and keys by default: an intruder may have left one. */
    async resetPassword({ token, password, end_keys }: PasswordReset, exchange: Exchange): Promise<string> {
      const { request } = exchange
      const hash = tokenHash(token)
      const owner = await exchange.withDatabasePermit(() => findTokenAccount(db, 'password_reset', hash))
      if (!owner) return refuseToken(throttle, exchange)
      const { id, email, name, organisation } = owner
      const account = emailKey(email)
      await refuseGuessable('password', password, [email, name, organisation])
      // A caller with a valid token does not wait for guesses at the account.
      const whose = { account, exchange, isKnown: async () => true }
      const passwordHash = await runThrottled([], whose, (withPermit) =>
        withPermit(() => hashPassword(password)),
      )
      await exchange.withDatabasePermit(async () => {
        await inTransaction(db, async (trx) => {
          // First, since it locks the account.
          await resetPasswordHash(trx, id, passwordHash)
          if (!(await spendAccountToken(trx, 'password_reset', hash))) throw new ApiError('INVALID_TOKEN')
          await endOtherSessions(trx, id, null)
          const keys = (end_keys ?? true) ? await deleteApiKeys(trx, id) : 0
          await request.audit(trx, { kind: 'password_reset', userId: id })
          if (keys > 0) await request.audit(trx, { kind: 'keys_ended', userId: id, detail: { keys } })
        })
        await throttle.forget([...accountSubjects(account, request.ip), everywhereSubject(account)])
      })
      return id
    },

    /**
     * Makes an account of a registration. Of several for one e-mail, the password names that of the owner: a stranger may
     * have made another, to share the account.
     */
    async confirmEmail({ token, password }: EmailConfirmation, exchange: Exchange): Promise<void> {
      const { request } = exchange
      const hash = tokenHash(token)
      const waiting = await exchange.withDatabasePermit(() => findRegistrations(db, hash))
      if (waiting[0]) {
        const registration =
          waiting.length === 1
            ? waiting[0]
            : await theOneWith(throttle, runThrottled, password, waiting, exchange)
        const admitted = await exchange.withDatabasePermit(() => admit(db, registration, request))
        if (!admitted) throw new ApiError('INVALID_TOKEN')
        return
      }
      const account = await exchange.withDatabasePermit(() =>
        findTokenAccount(db, 'email_confirmation', hash),
      )
      if (!account) return refuseToken(throttle, exchange)
      await exchange.withDatabasePermit(() =>
        inTransaction(db, async (trx) => {
          await confirmEmail(trx, account.id)
          if (!(await spendAccountToken(trx, 'email_confirmation', hash))) throw new ApiError('INVALID_TOKEN')
          await request.audit(trx, { kind: 'email_confirmed', userId: account.id })
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
  exchange: Exchange,
): Promise<WaitingRegistration> {
  if (password === undefined || password === null) {
    throw ApiError.invalid('password', 'is required: the e-mail was registered more than once')
  }
  const subjects = tokenSubjects(exchange.request.ip)
  const account = (waiting[0] as WaitingRegistration).emailKey
  return runThrottled(subjects, { account, exchange }, async (withPermit) => {
    let found: WaitingRegistration | undefined
    for (const one of waiting) {
      if (!(await withPermit(() => verifyPassword(one.passwordHash, password)))) continue
      found = one
      break
    }
    await exchange.note(() => throttle.refuseBlocked(subjects))
    if (found) return found
    await exchange.note(() => throttle.admit(subjects))
    throw ApiError.invalid('password', 'is none that the e-mail was registered with')
  })
}

/** A valid token cannot be guessed, so only callers with invalid tokens wait. */
async function refuseToken(throttle: Throttle, exchange: Exchange): Promise<never> {
  const subjects = tokenSubjects(exchange.request.ip)
  await exchange.withDatabasePermit(async () => {
    await throttle.refuseBlocked(subjects)
    await throttle.count(subjects)
  })
  throw new ApiError('INVALID_TOKEN')
}

/** False where the account exists, or another request was faster. */
function admit(db: Db, registration: WaitingRegistration, request: FastifyRequest): Promise<boolean> {
  return inTransaction(db, async (trx) => {
    const userId = await admitRegistration(trx, registration)
    if (userId !== undefined) await request.audit(trx, { kind: 'account_made', userId })
    return userId !== undefined
  })
}
