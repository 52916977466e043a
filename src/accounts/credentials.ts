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
import { observeQueue } from '#src/http/metrics/metrics.ts'
import { cacheValue } from '#src/lib/cache.ts'
import { networkOf } from '#src/lib/network.ts'
import { createThrottledQueue, type RunThrottled, type WithPermit } from './hashing.ts'
import { deleteApiKeys } from './key-queries.ts'
import { endOtherSessions, freshenSession, hasUsedNetwork } from './queries.ts'
import { findStepOn, type LoginSteps } from './steps.ts'
import {
  type AccountRequest,
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
 * Compares a password in its turn, and counts a wrong one. Guesses from everywhere take a second each, one after the
 * other: that slows them down, and keeps nobody out. From networks of the owner they neither pause nor wait.
 */
function createComparison(db: Db, throttle: Throttle, runThrottled: RunThrottled) {
  return <Result>(
    account: string,
    visit: AccountRequest,
    compare: (inPlace: WithPermit) => Promise<Result | undefined>,
  ): Promise<Result | undefined> => {
    const { address, atDatabase, note } = visit
    const ofAccount = accountSubjects(account, address)
    const everywhere = everywhereSubject(account)
    const subjects = [...ofAccount, ...addressSubjects(address)]
    const isKnown = () => atDatabase(() => hasUsedNetwork(db, account, networkOf(address)))
    return runThrottled(subjects, { account, visit, isKnown }, async (inPlace) => {
      const isOver = await atDatabase(() => throttle.isOver(everywhere))
      if (isOver && !(await isKnown())) await sleep(CEILING_PAUSE_MS)
      const found = await compare(inPlace)
      // Guesses that were sent together must not slip through together. They count also without a client.
      await note(() => throttle.refuseBlocked(subjects))
      if (found === undefined) await note(() => throttle.admit([...subjects, everywhere]))
      else await note(() => throttle.forget(ofAccount))
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

/** A hash of no password: the time of an answer must not tell which accounts exist. */
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

/** @param known texts of the person, which attackers try first */
export async function refuseGuessable(
  field: string,
  password: string,
  known: (string | null)[],
): Promise<void> {
  if (known.some((text) => text !== null && emailKey(text) === emailKey(password)))
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
    async check(email: string, password: string, visit: AccountRequest): Promise<Credentials> {
      const { audit, atDatabase } = visit
      let known: Account | undefined
      const found = await compareThrottled(emailKey(email), visit, async (inPlace) => {
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

    /** Ends all other sessions of the user, the token of a reset, and the keys where the owner asks for that. */
    async changePassword(
      { id, sessionId }: { id: string; sessionId: string | null },
      { current_password, new_password, end_keys }: PasswordChange,
      visit: AccountRequest,
    ): Promise<void> {
      const { audit, atDatabase } = visit
      const known = await atDatabase(() => findPasswordHash(db, id))
      if (!known) throw wrongPassword()
      await refuseGuessable('new_password', new_password, [known.email])
      const replacement = await compareThrottled(emailKey(known.email), visit, async (inPlace) =>
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
          // Where a login has another step, a password alone makes no session fresh.
          if (sessionId !== null && !(await findStepOn(steps, trx, id))) await freshenSession(trx, sessionId)
          await deleteAccountToken(trx, 'password_reset', id)
          const keys = end_keys ? await deleteApiKeys(trx, id) : 0
          await audit(trx, { kind: 'password_changed' })
          if (keys > 0) await audit(trx, { kind: 'keys_ended', detail: { keys } })
          return true
        }),
      )
      // Where another request has changed it in the meantime, the current one is no longer current.
      if (!replaced) throw wrongPassword()
    },

    async confirmPassword(id: string, password: string, visit: AccountRequest): Promise<void> {
      const known = await visit.atDatabase(() => findPasswordHash(db, id))
      if (!known) throw wrongPassword()
      const found = await compareThrottled(emailKey(known.email), visit, async (inPlace) =>
        (await isPassword(known, password, inPlace)) ? known : undefined,
      )
      if (!found) await refusePassword(visit)
    },
  }

  async function refusePassword({ audit }: AccountRequest): Promise<never> {
    await audit(db, { kind: 'password_refused' })
    throw wrongPassword()
  }
}

function isPassword(
  { passwordHash }: { passwordHash: string },
  password: string,
  inPlace: WithPermit,
): Promise<boolean> {
  return inPlace(() => verifyPassword(passwordHash, password))
}

/** The found account where the password is right, with a hash of the present parameters from now on. */
async function matching(
  db: Db,
  known: Account | undefined,
  { email, password }: { email: string; password: string },
  { atDatabase }: AccountRequest,
  inPlace: WithPermit,
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
