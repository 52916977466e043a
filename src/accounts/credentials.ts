import { randomBytes } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { hash, verify } from 'argon2'
import type { PasswordChange } from '#schemas/auth.ts'
import type { AuditEvent } from '#src/data/audit-queries.ts'
import { inTransaction } from '#src/data/sql.ts'
import type { Db } from '#src/data/tables.ts'
import { ApiError, BASE } from '#src/errors.ts'
import type { App } from '#src/http/app.ts'
import type { Exchange } from '#src/http/exchange.ts'
import { observeQueue } from '#src/http/metrics/metrics.ts'
import { cacheValue } from '#src/lib/cache.ts'
import { networkOf } from '#src/lib/network.ts'
import { createThrottledQueue, type RunThrottled, type WithPermit } from './hashing.ts'
import { deleteApiKeys } from './key-queries.ts'
import { endOtherSessions, freshenSession, hasUsedNetwork } from './queries.ts'
import { findStepOn, type LoginSteps } from './steps.ts'
import {
  accountSubjects,
  addressSubjects,
  createThrottle,
  everywhereSubject,
  type Throttle,
} from './throttle.ts'
import { deleteAccountToken } from './token-queries.ts'
import {
  type Credentials,
  emailKey,
  findCredentials,
  findPasswordHash,
  replacePasswordHash,
} from './user-queries.ts'

/** Of a guess, where an account has too many from everywhere. */
const CEILING_PAUSE_MS = 1000

/**
 * Compares a password with a permit, and counts a wrong one. Guesses from everywhere take a second each, one after the
 * other: that slows them down, and shuts no owner out. From networks of the owner they neither pause nor wait.
 */
function createComparison(db: Db, throttle: Throttle, runThrottled: RunThrottled) {
  return <Result>(
    account: string,
    exchange: Exchange,
    compare: (withPermit: WithPermit) => Promise<Result | undefined>,
  ): Promise<Result | undefined> => {
    const address = exchange.request.ip
    const ofAccount = accountSubjects(account, address)
    const everywhere = everywhereSubject(account)
    const subjects = [...ofAccount, ...addressSubjects(address)]
    const isKnown = () => exchange.withDatabasePermit(() => hasUsedNetwork(db, account, networkOf(address)))
    return runThrottled(subjects, { account, exchange, isKnown }, async (withPermit) => {
      const isOver = await exchange.withDatabasePermit(() => throttle.isOver(everywhere))
      if (isOver && !(await isKnown())) await sleep(CEILING_PAUSE_MS)
      const found = await compare(withPermit)
      // Guesses that were sent together must not slip through together. They count also without a client.
      await exchange.note(() => throttle.refuseBlocked(subjects))
      if (found === undefined) await exchange.note(() => throttle.admit([...subjects, everywhere]))
      else await exchange.note(() => throttle.forget(ofAccount))
      return found
    })
  }
}

const readCommonPasswords = cacheValue('common passwords', async () => {
  const text = await readFile(new URL('./common-passwords.txt', import.meta.url), 'utf8')
  return new Set(text.split('\n').filter((line) => line !== '' && !line.startsWith('# ')))
})

/**
 * OWASP's first choice for argon2id; the memory is in KiB. The package stays at 0.44: binaries of 0.45 crash Node 20,
 * and its hashes name the parameters in another order.
 */
const PARAMETERS = { memoryCost: 19_456, timeCost: 2, parallelism: 1 }

const { memoryCost, timeCost, parallelism } = PARAMETERS
const PREFIX = `$argon2id$v=19$m=${memoryCost},t=${timeCost},p=${parallelism}$`

/** A hash of no password: the time of an answer must not reveal which accounts exist. */
export const NOBODYS_HASH = `${PREFIX}${randomText(16)}$${randomText(32)}`

function randomText(bytes: number): string {
  return randomBytes(bytes).toString('base64').replace(/=+$/, '')
}

/** In PHC notation. */
export function hashPassword(password: string): Promise<string> {
  return hash(sameOnEveryKeyboard(password), PARAMETERS)
}

export function verifyPassword(passwordHash: string, password: string): Promise<boolean> {
  return verify(passwordHash, sameOnEveryKeyboard(password))
}

/** Whether a hash was made with other parameters than new ones are. */
export function isOutdated(passwordHash: string): boolean {
  return !passwordHash.startsWith(PREFIX)
}

/** Systems differ in how they compose the same letters (NIST SP 800-63B asks for NFKC or NFKD). */
function sameOnEveryKeyboard(password: string): string {
  return password.normalize('NFKC')
}

/** @param texts of the person, which attackers try first */
export async function refuseGuessable(
  field: string,
  password: string,
  texts: (string | null)[],
): Promise<void> {
  if (texts.some((text) => text !== null && emailKey(text) === emailKey(password)))
    throw ApiError.invalid(field, 'must not be your e-mail or name')
  if ((await readCommonPasswords()).has(sameOnEveryKeyboard(password).toLowerCase()))
    throw ApiError.invalid(field, 'is one of the most common passwords')
}

type Account = Credentials & { emailConfirmed: boolean }

/** Compares passwords, in one queue of the process. */
export function createPasswords({ config, database, metrics }: App, steps: LoginSteps) {
  const db = database.writer
  const throttle = createThrottle(db)
  const { run: runThrottled, state } = createThrottledQueue(throttle)
  observeQueue(metrics, 'passwords', state)
  const confirms = config.EMAIL_CONFIRMATION !== 'off'
  const service = createCredentialService(db, throttle, runThrottled, { confirms, steps })
  return { steps, throttle, runThrottled, confirms, service }
}

export type Passwords = ReturnType<typeof createPasswords>

export type CredentialService = ReturnType<typeof createCredentialService>

/** @param confirms whether an account needs a confirmed e-mail */
export function createCredentialService(
  db: Db,
  throttle: Throttle,
  runThrottled: RunThrottled,
  { confirms, steps }: { confirms: boolean; steps: LoginSteps },
) {
  const compareThrottled = createComparison(db, throttle, runThrottled)

  return {
    /** @throws {ApiError} INVALID_CREDENTIALS, the same for a wrong e-mail; EMAIL_NOT_CONFIRMED where both are right */
    async check(email: string, password: string, exchange: Exchange): Promise<Credentials> {
      let account: Account | undefined
      const found = await compareThrottled(emailKey(email), exchange, async (withPermit) => {
        account = await exchange.withDatabasePermit(() => findCredentials(db, email))
        return matching(db, account, { email, password }, exchange, withPermit)
      })
      if (!found) {
        await exchange.wait(() =>
          exchange.request.audit(db, loginFailed(account, account ? 'wrong password' : 'no account')),
        )
        throw invalidCredentials(confirms)
      }
      if (confirms && !found.emailConfirmed) {
        await exchange.withDatabasePermit(() =>
          exchange.request.audit(db, loginFailed(found, 'e-mail not confirmed')),
        )
        throw notConfirmed()
      }
      return found
    },

    /** Ends all other sessions of the user, the token of a reset, and the keys where the owner asks for that. */
    async changePassword(
      { id, sessionId }: { id: string; sessionId: string | null },
      { current_password, new_password, end_keys }: PasswordChange,
      exchange: Exchange,
    ): Promise<void> {
      const { request } = exchange
      const account = await exchange.withDatabasePermit(() => findPasswordHash(db, id))
      if (!account) throw wrongPassword()
      await refuseGuessable('new_password', new_password, [account.email])
      const replacement = await compareThrottled(emailKey(account.email), exchange, async (withPermit) =>
        (await isPassword(account, current_password, withPermit))
          ? withPermit(() => hashPassword(new_password))
          : undefined,
      )
      if (!replacement) return refusePassword(exchange)
      const credentials = { id, passwordHash: account.passwordHash }
      const replaced = await exchange.withDatabasePermit(() =>
        inTransaction(db, async (trx) => {
          if (!(await replacePasswordHash(trx, credentials, replacement))) return false
          await endOtherSessions(trx, id, sessionId)
          // Where a login has another step, a password alone makes no session fresh.
          if (sessionId !== null && !(await findStepOn(steps, trx, id))) await freshenSession(trx, sessionId)
          await deleteAccountToken(trx, 'password_reset', id)
          const keys = end_keys ? await deleteApiKeys(trx, id) : 0
          await request.audit(trx, { kind: 'password_changed' })
          if (keys > 0) await request.audit(trx, { kind: 'keys_ended', detail: { keys } })
          return true
        }),
      )
      // Where another request has changed it in the meantime, the current one is no longer current.
      if (!replaced) throw wrongPassword()
    },

    async confirmPassword(id: string, password: string, exchange: Exchange): Promise<void> {
      const account = await exchange.withDatabasePermit(() => findPasswordHash(db, id))
      if (!account) throw wrongPassword()
      const found = await compareThrottled(emailKey(account.email), exchange, async (withPermit) =>
        (await isPassword(account, password, withPermit)) ? account : undefined,
      )
      if (!found) await refusePassword(exchange)
    },
  }

  async function refusePassword(exchange: Exchange): Promise<never> {
    await exchange.wait(() => exchange.request.audit(db, { kind: 'password_refused' }))
    throw wrongPassword()
  }
}

function isPassword(
  { passwordHash }: { passwordHash: string },
  password: string,
  withPermit: WithPermit,
): Promise<boolean> {
  return withPermit(() => verifyPassword(passwordHash, password))
}

/** The found account where the password is right, with a hash of the present parameters from now on. */
async function matching(
  db: Db,
  account: Account | undefined,
  { email, password }: { email: string; password: string },
  exchange: Exchange,
  withPermit: WithPermit,
): Promise<Account | undefined> {
  const matches = await isPassword(account ?? { passwordHash: NOBODYS_HASH }, password, withPermit)
  if (!account || !matches) return undefined
  if (!isOutdated(account.passwordHash)) return account
  const passwordHash = await withPermit(() => hashPassword(password))
  if (await exchange.withDatabasePermit(() => replacePasswordHash(db, account, passwordHash)))
    return { ...account, passwordHash }
  // Another login was faster, or the password has just been changed: look again.
  const now = await exchange.withDatabasePermit(() => findCredentials(db, email))
  return now && (await isPassword(now, password, withPermit)) ? now : undefined
}

function loginFailed(account: { id: string } | undefined, reason: string): AuditEvent {
  return { kind: 'login_failed', userId: account?.id ?? null, detail: { reason } }
}

/** The same for each unconfirmed e-mail, with or without an account. */
export function invalidCredentials(confirms: boolean): ApiError {
  const unconfirmed = confirms ? ', or the e-mail has not been confirmed yet' : ''
  return new ApiError('INVALID_CREDENTIALS', `The e-mail or the password is wrong${unconfirmed}.`)
}

function wrongPassword(): ApiError {
  return new ApiError('FORBIDDEN', 'The current password is wrong.')
}

function notConfirmed(): ApiError {
  return new ApiError(
    'EMAIL_NOT_CONFIRMED',
    `The e-mail has to be confirmed first, with the token that was sent to it: POST ${BASE}/auth/confirm/resend sends another one.`,
  )
}
