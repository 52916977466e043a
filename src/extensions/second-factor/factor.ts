import { randomBytes } from 'node:crypto'
import type { FastifyRequest } from 'fastify'
import type { LoginStep } from '#src/accounts/steps.ts'
import { addressSubjects, createThrottle, LIMITS, subjectNamed } from '#src/accounts/throttle.ts'
import { tokenHash } from '#src/accounts/token-queries.ts'
import { BY_ANYBODY } from '#src/data/audit-queries.ts'
import { inTransaction } from '#src/data/sql.ts'
import { ApiError, BASE } from '#src/errors.ts'
import { loadSecrets } from '#src/http/access-tokens.ts'
import { createAccountSeal, renewWhenReady } from '#src/http/account-seal.ts'
import type { App } from '#src/http/app.ts'
import type { Exchange } from '#src/http/exchange.ts'
import { createSecretRows, findTwoFactor, hasTwoFactor, spendRecoveryCode, spendStep } from './queries.ts'
import { SecondFactor as members } from './schemas.ts'
import { base32, stepOfCode } from './totp.ts'

/** From everywhere: there are a million codes. An owner who has to wait has recovery codes. */
const codeSubject = subjectNamed('code', LIMITS.account)

interface ShownFactor {
  totp?: string | null
  recovery_code?: string | null
}

type SecondFactor = Awaited<ReturnType<typeof createSecondFactor>>

async function createSecondFactor(app: App) {
  const db = app.database.writer
  const log = app.log.child({ module: 'auth' })
  const throttle = createThrottle(db)
  const secrets = await loadSecrets(app.config)
  const seal = createAccountSeal(secrets, 'two-factor secret')
  if (secrets.length > 1) {
    renewWhenReady(app, seal, createSecretRows(db), 'secrets of second factors', log)
  }

  /** The step of a code of the app; undefined for a wrong one. It counts as a guess until `forgive`. */
  async function stepOf(userId: string, sealed: Buffer, totp: string): Promise<number | undefined> {
    // Before the comparison: codes that are sent together get no further than others.
    await throttle.admit([codeSubject(userId)])
    const secret = seal.open(userId, sealed)
    if (!secret) log.error({ user: userId }, 'a second factor cannot be read: JWT_SECRET is not what it was')
    return secret && stepOfCode(secret, totp.replace(' ', ''), Date.now())
  }

  /** Forgets the guesses at an account, since a code was right. */
  const forgive = (userId: string) => throttle.forget([codeSubject(userId)])

  async function isRightTotp(userId: string, sealed: Buffer, totp: string): Promise<boolean> {
    const step = await stepOf(userId, sealed, totp)
    if (step === undefined || !(await spendStep(db, userId, step))) return false
    await forgive(userId)
    return true
  }

  /** A recovery code cannot be guessed: foreign guesses at codes of the app do not block it. */
  function isRightRecoveryCode(userId: string, code: string, request: FastifyRequest): Promise<boolean> {
    return inTransaction(db, async (trx) => {
      const spent = await spendRecoveryCode(trx, userId, recoveryHash(code))
      if (spent) await request.audit(trx, { kind: 'recovery_code_used', userId })
      return spent
    })
  }

  async function judge(
    userId: string,
    { totp, recovery_code: recoveryCode }: ShownFactor,
    request: FastifyRequest,
  ): ReturnType<LoginStep['judge']> {
    const factor = await findTwoFactor(db, userId)
    if (!factor?.confirmed) return 'not needed'
    if (totp == null && recoveryCode == null) {
      await request.audit(db, { kind: 'code_asked', userId })
      return 'missing'
    }
    const right =
      totp == null
        ? await isRightRecoveryCode(userId, recoveryCode as string, request)
        : await isRightTotp(userId, factor.secret, totp)
    if (right) return 'right'
    await throttle.count(addressSubjects(request.ip))
    const reason = totp == null ? 'wrong recovery code' : 'wrong code'
    await request.audit(db, { kind: 'code_refused', userId, detail: { reason } })
    return 'wrong'
  }

  return {
    /** Judges the second factor beside a right password, and uses a right code up. */
    judge: (userId: string, shown: ShownFactor, exchange: Exchange) =>
      exchange.withDatabasePermit(() => judge(userId, shown, exchange.request)),
    stepOf,
    forgive,
    seal: seal.seal,
  }
}

declare module 'fastify' {
  interface FastifyInstance {
    secondFactor: SecondFactor
  }
}

const refuseAdmin = () =>
  new ApiError(
    'TWO_FACTOR_SETUP_REQUIRED',
    `Admins need a second factor: set one up with POST ${BASE}/auth/two-factor.`,
  )

/** A code of an app, or a recovery code, beside the password. */
export async function createStep(app: App): Promise<LoginStep> {
  BY_ANYBODY.add('code_refused')
  app.decorate('secondFactor', await createSecondFactor(app))
  return {
    members,
    texts: {
      members:
        'An account with a second factor needs `totp` or `recovery_code` as well; with others they are ignored.',
      login:
        'With a second factor, a right password alone gets `TWO_FACTOR_REQUIRED`: send e-mail and password again, with the code.',
      reauthentication: 'An account with a second factor also needs a code.',
      missing: 'The account has a second factor: send totp or recovery_code as well.',
    },
    refusals: { missing: 'TWO_FACTOR_REQUIRED', wrong: 'INVALID_CODE' },
    isOn: hasTwoFactor,
    judge: app.secondFactor.judge,
    refuseAdmin: app.config.ADMIN_2FA ? refuseAdmin : null,
  }
}

const RECOVERY_CODES = 10
const RECOVERY_BYTES = 10

/** In groups that people can copy by hand. */
export function newRecoveryCodes(): string[] {
  return Array.from({ length: RECOVERY_CODES }, () =>
    (base32(randomBytes(RECOVERY_BYTES)).toLowerCase().match(/.{4}/g) as string[]).join('-'),
  )
}

export function recoveryHash(code: string): Buffer {
  return tokenHash(code.toLowerCase().replace(/[\s-]/g, ''))
}
