import { randomBytes } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { hash, verify } from 'argon2'
import type { Kysely } from 'kysely'
import type { PasswordChange } from '#schemas/auth.ts'
import type { AuditEvent } from '#src/data/audit-queries.ts'
import { inTransaction } from '#src/data/sql.ts'
import type { Tables } from '#src/data/tables.ts'
import { ApiError, BASE } from '#src/errors.ts'
import { networkOf } from '#src/lib/network.ts'
import type { RunThrottled, WithPermit } from './hashing.ts'
import { deleteApiKeys } from './key-queries.ts'
import { endOtherSessions, freshenSession, hasTwoFactor, hasUsedNetwork } from './queries.ts'
import {
  type AccountRequest,
  accountSubjects,
  addressSubjects,
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

/** What a guess takes where there are too many at an account from everywhere. */
const CEILING_PAUSE_MS = 1000

/**
 * Compares a password when its turn comes, and counts where it is wrong. Where guesses at the account come from
 * everywhere, each takes a second, and they wait for one another: that slows them down, and keeps nobody out.
 * Where the owner has come from lately, they neither pause nor wait for those elsewhere.
 */
type CompareInTurn = <Result>(
  account: string,
  visit: AccountRequest,
  compare: (inPlace: WithPermit) => Promise<Result | undefined>,
) => Promise<Result | undefined>

function createComparison(db: Kysely<Tables>, throttle: Throttle, inTurn: RunThrottled): CompareInTurn {
  return (account, visit, compare) => {
    const { address, atDatabase, note } = visit
    const ofAccount = accountSubjects(account, address)
    const everywhere = everywhereSubject(account)
    const subjects = [...ofAccount, ...addressSubjects(address)]
    const isKnown = () => atDatabase(() => hasUsedNetwork(db, account, networkOf(address)))
    async function slowDown() {
      const isOver = await atDatabase(() => throttle.isOver(everywhere))
      if (isOver && !(await isKnown())) await sleep(CEILING_PAUSE_MS)
    }
    return inTurn(subjects, { account, visit, isKnown }, async (inPlace) => {
      await slowDown()
      const found = await compare(inPlace)
      // What was sent together must not slip through together, and nothing of what is refused tells whether it was
      // right. A guess counts, too, when its client has gone away.
      await note(() => throttle.refuseBlocked(subjects))
      if (found === undefined) await note(() => throttle.admit([...subjects, everywhere]))
      else await note(() => throttle.forget(ofAccount))
      return found
    })
  }
}

const FILE = new URL('./common-passwords.txt', import.meta.url)

let loaded: Promise<Set<string>> | undefined

/** Whether a password is among the 10,000 most common ones of its length, in whatever case. */
async function isCommonPassword(password: string): Promise<boolean> {
  loaded ??= load()
  return (await loaded).has(password.normalize('NFKC').toLowerCase())
}

async function load(): Promise<Set<string>> {
  const lines = (await readFile(FILE, 'utf8')).split('\n')
  return new Set(lines.filter((line) => line !== '' && !line.startsWith('# ')))
}

/**
 * OWASP's first choice for argon2id, which is what the package hashes with; the memory is in KiB.
 *
 * The package stays at 0.44: the binaries of 0.45 crash Node 20 unless a compiler makes others during
 * the installation, and its hashes name the parameters in another order than the one below.
 */
const PARAMETERS = { memoryCost: 19_456, timeCost: 2, parallelism: 1 }

const { memoryCost, timeCost, parallelism } = PARAMETERS
const PREFIX = `$argon2id$v=19$m=${memoryCost},t=${timeCost},p=${parallelism}$`

/**
 * A hash that no password has, for accounts that do not exist: to compare with it takes as long as with
 * a real one, so that an answer's time does not say which accounts there are.
 */
export const NOBODYS_HASH = `${PREFIX}${randomText(16)}$${randomText(32)}`

function randomText(bytes: number): string {
  return randomBytes(bytes).toString('base64').replace(/=+$/, '')
}

/** Hashes a password with a salt of its own; the result says how, in PHC notation. */
export function hashPassword(password: string): Promise<string> {
  return hash(sameOnEveryKeyboard(password), PARAMETERS)
}

/** Whether a password is the one that was hashed; compares in constant time. */
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

type Account = Credentials & { emailConfirmed: boolean }

const WRONG_PASSWORD = 'The current password is wrong.'

/** What people do with e-mail and password. All of it is throttled, and hashes when its turn comes. */
export interface CredentialService {
  /**
   * @throws {ApiError} INVALID_CREDENTIALS, the same whether the e-mail or the password is wrong;
   * EMAIL_NOT_CONFIRMED where both are right
   */
  check(email: string, password: string, visit: AccountRequest): Promise<Credentials>
  /**
   * Ends all sessions of the user but the given one, the token of a reset that is under way, and the keys where
   * that is asked for.
   *
   * @throws {ApiError} FORBIDDEN where the current password is wrong
   */
  changePassword(
    user: { id: string; sessionId: string | null },
    change: PasswordChange,
    visit: AccountRequest,
  ): Promise<void>
  /** @throws {ApiError} FORBIDDEN where it is not the password of the user */
  confirmPassword(userId: string, password: string, visit: AccountRequest): Promise<void>
}

/** @param confirms whether an e-mail has to be confirmed before its account can be used */
export function createCredentialService(
  db: Kysely<Tables>,
  throttle: Throttle,
  inTurn: RunThrottled,
  confirms: boolean,
): CredentialService {
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
          const keys = end_keys ? await deleteApiKeys(trx, id) : 0
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

/** The account that was found, where it is its password; with a hash of the present parameters from now on. */
async function matching(
  db: Kysely<Tables>,
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
