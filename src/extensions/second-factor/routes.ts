import { randomBytes } from 'node:crypto'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { ref } from '#schemas/common.ts'
import { SERVICE_NAME } from '#schemas/service.ts'
import type { CredentialService } from '#src/accounts/credentials.ts'
import { endOtherSessions } from '#src/accounts/queries.ts'
import { type Sent, THROTTLED_ERRORS } from '#src/accounts/throttle.ts'
import { findUser } from '#src/accounts/user-queries.ts'
import { inTransaction } from '#src/data/sql.ts'
import { ApiError, accountDeleted, EXAMPLE_SENTENCES } from '#src/errors.ts'
import { type App, answers, noContent } from '#src/http/app.ts'
import { requireCaller, requireSession } from '#src/http/caller.ts'
import type { Core } from '../extension.ts'
import { newRecoveryCodes, recoveryHash } from './factor.ts'
import * as queries from './queries.ts'
import {
  RecoveryCodes,
  TwoFactorConfirmation,
  TwoFactorRemoval,
  TwoFactorRequest,
  TwoFactorSecret,
  TwoFactorStatus,
  twoFactorSchemas,
} from './schemas.ts'
import { base32, otpauthUri, SECRET_BYTES } from './totp.ts'

const wrongCode = () => new ApiError('FORBIDDEN', EXAMPLE_SENTENCES.INVALID_CODE)
const NOT_BEGUN = 'No second factor has been begun in the last hour: begin with the password.'
const NONE = 'The account has no second factor.'

export async function twoFactor(app: App, { passwords: { service } }: Core): Promise<void> {
  for (const schema of twoFactorSchemas) app.addSchema(schema)
  app.route(statusRoute(app))
  app.route(beginRoute(app, service))
  app.route(confirmRoute(app))
  app.route(disableRoute(app, service))
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
      response: answers(TwoFactorStatus, 'The state of the second factor.'),
    },
    handler: async (request: FastifyRequest): Promise<TwoFactorStatus> => {
      const { id } = requireCaller(request)
      const db = database.writer
      const user = await findUser(db, id)
      return {
        enabled: (await queries.findTwoFactor(db, id))?.confirmed ?? false,
        required: config.ADMIN_2FA && user?.role === 'admin',
        recovery_codes: await queries.countRecoveryCodes(db, id),
      }
    },
  } as const
}

function beginRoute(app: App, service: CredentialService) {
  const db = app.database.writer
  return {
    method: 'POST',
    url: '/two-factor',
    config: { login: 'any', caching: 'never', secret: true, takesOwnPermit: true },
    schema: {
      operationId: 'beginTwoFactor',
      summary: 'Begin to set up a second factor',
      description:
        'Answers with a secret for an authenticator app (TOTP, RFC 6238). Nothing changes until a code of the app comes back with `POST /auth/two-factor/confirm`, within an hour; another beginning makes another secret.',
      tags: ['auth'],
      body: ref(TwoFactorRequest),
      response: answers(
        TwoFactorSecret,
        'The secret for the app.',
        ...THROTTLED_ERRORS,
        'FORBIDDEN',
        'TWO_FACTOR_ON',
      ),
    },
    handler: async (request: Sent<typeof TwoFactorRequest>): Promise<TwoFactorSecret> => {
      const { id } = requireSession(request)
      const { exchange } = request
      await service.confirmPassword(id, request.body.password, exchange)
      const secret = randomBytes(SECRET_BYTES)
      const user = await exchange.withDatabasePermit(async () => {
        const begun = await queries.putTwoFactor(db, id, app.secondFactor.seal(id, secret))
        const known = await findUser(db, id)
        if (!known) throw accountDeleted()
        return begun ? known : undefined
      })
      if (!user) throw new ApiError('TWO_FACTOR_ON')
      return { secret: base32(secret), uri: otpauthUri(secret, user.email, SERVICE_NAME) }
    },
  } as const
}

function confirmRoute(app: App) {
  const { secondFactor } = app
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
      response: answers(
        RecoveryCodes,
        'The second factor is on.',
        ...THROTTLED_ERRORS,
        'FORBIDDEN',
        'NOT_FOUND',
      ),
    },
    handler: async (request: Sent<typeof TwoFactorConfirmation>): Promise<RecoveryCodes> => {
      const { id: userId, sessionId } = requireSession(request)
      const factor = await queries.findTwoFactor(db, userId)
      if (!factor || factor.confirmed) throw new ApiError('NOT_FOUND', NOT_BEGUN)
      const { secret } = factor
      const step = await secondFactor.stepOf(userId, secret, request.body.totp)
      if (step === undefined) {
        await request.audit(db, { kind: 'code_refused', detail: { reason: 'wrong code' } })
        throw wrongCode()
      }
      const codes = newRecoveryCodes()
      const recoveryHashes = codes.map(recoveryHash)
      await inTransaction(db, async (trx) => {
        const confirmed = await queries.confirmTwoFactor(trx, { userId, secret, step, recoveryHashes })
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

function disableRoute(app: App, service: CredentialService) {
  const db = app.database.writer
  return {
    method: 'POST',
    url: '/two-factor/disable',
    config: { login: 'any', caching: 'never', takesOwnPermit: true },
    schema: {
      operationId: 'disableTwoFactor',
      summary: 'Turn the second factor off',
      description:
        'Needs the password and a code, of the app or for recovery. The recovery codes end; sessions and keys go on.',
      tags: ['auth'],
      body: ref(TwoFactorRemoval),
      response: noContent('A login needs the password alone.', ...THROTTLED_ERRORS, 'FORBIDDEN', 'NOT_FOUND'),
    },
    handler: async (request: Sent<typeof TwoFactorRemoval>, reply: FastifyReply) => {
      const { id: userId } = requireSession(request)
      const { body, exchange } = request
      await service.confirmPassword(userId, body.password, exchange)
      const verdict = await app.secondFactor.judge(userId, body, exchange)
      if (verdict === 'missing' || verdict === 'wrong') throw wrongCode()
      if (verdict === 'not needed') throw new ApiError('NOT_FOUND', NONE)
      await exchange.withDatabasePermit(() =>
        inTransaction(db, async (trx) => {
          if (await queries.deleteTwoFactor(trx, userId)) await request.audit(trx, { kind: 'two_factor_off' })
        }),
      )
      app.forgetCallers(({ id }) => id === userId)
      return reply.code(204).send()
    },
  } as const
}
