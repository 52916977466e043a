import { randomBytes } from 'node:crypto'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { ref } from '#schemas/common.ts'
import { SERVICE_NAME } from '#schemas/service.ts'
import {
  RecoveryCodes,
  TwoFactorConfirmation,
  TwoFactorRemoval,
  TwoFactorRequest,
  TwoFactorSecret,
  TwoFactorStatus,
} from '#schemas/two-factor.ts'
import { inTransaction } from '#src/database/transaction.ts'
import { findUser } from '#src/domains/user/queries.ts'
import { ApiError, errorResponses } from '#src/errors.ts'
import type { AccountSeal } from '#src/http/account-seal.ts'
import type { App } from '#src/http/app.ts'
import { callerOf, sessionOf } from '#src/http/plugins/authentication.ts'
import { accountDeleted } from '#src/http/refusals.ts'
import { base32, otpauthUri, SECRET_BYTES } from '#src/lib/totp.ts'
import type { CredentialDesk } from './credentials.ts'
import { endOtherSessions } from './queries.ts'
import { THROTTLED_ERRORS } from './routes.ts'
import { newRecoveryCodes, recoveryHash, type SecondFactor, WRONG_CODE } from './second-factor.ts'
import {
  confirmTwoFactor,
  countRecoveryCodes,
  deleteTwoFactor,
  findTwoFactor,
  putTwoFactor,
} from './two-factor-queries.ts'
import { visitOf } from './visits.ts'

const ON = 'The account has a second factor: turn it off before you set up another one.'
const NOT_BEGUN = 'No second factor has been begun in the last hour: begin with the password.'
const NONE = 'The account has no second factor.'

/** The second factor of the own account: how it is set up, and turned off. */
export function twoFactorRoutes(
  app: App,
  desk: CredentialDesk,
  secondFactor: SecondFactor,
  seal: AccountSeal,
): void {
  app.route(statusRoute(app))
  app.route(beginRoute(app, desk, seal))
  app.route(confirmRoute(app, secondFactor))
  app.route(disableRoute(app, desk, secondFactor))
}

function statusRoute({ config, database }: App) {
  return {
    method: 'GET',
    url: '/two-factor',
    config: { scope: 'account', caching: 'never' },
    schema: {
      operationId: 'getTwoFactor',
      summary: 'The state of the second factor',
      description: 'And how many recovery codes are left.',
      tags: ['auth'],
      response: {
        200: { ...ref(TwoFactorStatus), description: 'The state of the second factor.' },
        ...errorResponses('UNAUTHORIZED', 'INSUFFICIENT_SCOPE'),
      },
    },
    handler: async (request: FastifyRequest): Promise<TwoFactorStatus> => {
      const { id } = callerOf(request)
      const db = database.writer
      const user = await findUser(db, id)
      const factor = await findTwoFactor(db, id)
      return {
        enabled: factor?.confirmed ?? false,
        required: config.ADMIN_2FA && user?.role === 'admin',
        recovery_codes: await countRecoveryCodes(db, id),
      }
    },
  } as const
}

function beginRoute(app: App, desk: CredentialDesk, seal: AccountSeal) {
  const db = app.database.writer
  return {
    method: 'POST',
    url: '/two-factor',
    config: { login: 'any', caching: 'never', secret: true, ownTurns: true },
    schema: {
      operationId: 'beginTwoFactor',
      summary: 'Begin to set up a second factor',
      description:
        'Answers with a secret for an authenticator app (TOTP, RFC 6238). Nothing changes until a code of the app comes back with `POST /auth/two-factor/confirm`, within an hour; another beginning makes another secret.',
      tags: ['auth'],
      body: ref(TwoFactorRequest),
      response: {
        200: { ...ref(TwoFactorSecret), description: 'The secret for the app.' },
        ...errorResponses(
          ...THROTTLED_ERRORS,
          'UNAUTHORIZED',
          'LOGIN_REQUIRED',
          'FORBIDDEN',
          'TWO_FACTOR_ON',
        ),
      },
    },
    handler: async (
      request: FastifyRequest<{ Body: TwoFactorRequest }>,
      reply: FastifyReply,
    ): Promise<TwoFactorSecret> => {
      const { id } = sessionOf(request)
      const visit = visitOf(app, request, reply)
      await desk.confirmPassword(id, request.body.password, visit)
      const secret = randomBytes(SECRET_BYTES)
      const user = await visit.atDatabase(async () => {
        const begun = await putTwoFactor(db, id, seal.seal(id, secret))
        const known = await findUser(db, id)
        if (!known) throw accountDeleted()
        return begun ? known : undefined
      })
      if (!user) throw new ApiError('TWO_FACTOR_ON', ON)
      return { secret: base32(secret), uri: otpauthUri(secret, user.email, SERVICE_NAME) }
    },
  } as const
}

function confirmRoute(app: App, secondFactor: SecondFactor) {
  const db = app.database.writer
  return {
    method: 'POST',
    url: '/two-factor/confirm',
    config: { login: 'any', caching: 'never', secret: true },
    schema: {
      operationId: 'confirmTwoFactor',
      summary: 'Turn the second factor on, with a code of the app',
      description:
        'From now on a login needs a code. The answer has ten recovery codes in case the app is lost. Other sessions of the account end; keys continue.',
      tags: ['auth'],
      body: ref(TwoFactorConfirmation),
      response: {
        200: { ...ref(RecoveryCodes), description: 'The second factor is on.' },
        ...errorResponses(...THROTTLED_ERRORS, 'UNAUTHORIZED', 'LOGIN_REQUIRED', 'FORBIDDEN', 'NOT_FOUND'),
      },
    },
    handler: async (request: FastifyRequest<{ Body: TwoFactorConfirmation }>): Promise<RecoveryCodes> => {
      const { id: userId, sessionId } = sessionOf(request)
      const factor = await findTwoFactor(db, userId)
      if (!factor || factor.confirmed) throw new ApiError('NOT_FOUND', NOT_BEGUN)
      const { secret } = factor
      const step = await secondFactor.stepOf(userId, secret, request.body.totp)
      if (step === undefined) {
        await request.audit(db, { kind: 'code_refused', detail: { reason: 'wrong code' } })
        throw new ApiError('FORBIDDEN', WRONG_CODE)
      }
      const codes = newRecoveryCodes()
      const recoveryHashes = codes.map(recoveryHash)
      await inTransaction(db, async (trx) => {
        const confirmed = await confirmTwoFactor(trx, { userId, secret, step, recoveryHashes })
        if (!confirmed) throw new ApiError('NOT_FOUND', NOT_BEGUN)
        // They have shown the password alone.
        await endOtherSessions(trx, userId, sessionId)
        await request.audit(trx, { kind: 'two_factor_on' })
      })
      await secondFactor.forgive(userId)
      app.forgetCallers(({ id }) => id === userId)
      return { recovery_codes: codes }
    },
  } as const
}

function disableRoute(app: App, desk: CredentialDesk, secondFactor: SecondFactor) {
  const db = app.database.writer
  return {
    method: 'POST',
    url: '/two-factor/disable',
    config: { login: 'any', caching: 'never', ownTurns: true },
    schema: {
      operationId: 'disableTwoFactor',
      summary: 'Turn the second factor off',
      description:
        'Needs the password and a code, of the app or for recovery. The recovery codes end; sessions and keys go on.',
      tags: ['auth'],
      body: ref(TwoFactorRemoval),
      response: {
        204: { type: 'null', description: 'A login needs the password alone.' },
        ...errorResponses(...THROTTLED_ERRORS, 'UNAUTHORIZED', 'LOGIN_REQUIRED', 'FORBIDDEN', 'NOT_FOUND'),
      },
    },
    handler: async (request: FastifyRequest<{ Body: TwoFactorRemoval }>, reply: FastifyReply) => {
      const { id: userId } = sessionOf(request)
      const { body } = request
      const visit = visitOf(app, request, reply)
      await desk.confirmPassword(userId, body.password, visit)
      const verdict = await secondFactor.verdict(userId, body, visit)
      if (verdict === 'missing' || verdict === 'wrong') throw new ApiError('FORBIDDEN', WRONG_CODE)
      if (verdict === 'not needed') throw new ApiError('NOT_FOUND', NONE)
      await visit.atDatabase(() =>
        inTransaction(db, async (trx) => {
          if (await deleteTwoFactor(trx, userId)) await visit.audit(trx, { kind: 'two_factor_off' })
        }),
      )
      app.forgetCallers(({ id }) => id === userId)
      return reply.code(204).send()
    },
  } as const
}
