import { randomBytes } from 'node:crypto'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import {
  Reauthentication,
  RecoveryCodes,
  SessionList,
  TwoFactorConfirmation,
  TwoFactorRemoval,
  TwoFactorRequest,
  TwoFactorSecret,
  TwoFactorStatus,
} from '#schemas/auth.ts'
import { ref } from '#schemas/common.ts'
import { SERVICE_NAME } from '#schemas/service.ts'
import { inTransaction } from '#src/data/sql.ts'
import { ApiError, answers, noContent } from '#src/errors.ts'
import {
  newRecoveryCodes,
  recoveryHash,
  type SecondFactor,
  WRONG_CODE,
} from '#src/extensions/second-factor/factor.ts'
import { base32, otpauthUri, SECRET_BYTES } from '#src/extensions/second-factor/totp.ts'
import type { AccountSeal } from '#src/http/account-seal.ts'
import type { App } from '#src/http/app.ts'
import { requireCaller, requireSession } from '#src/http/plugins/authentication.ts'
import { accountDeleted } from '#src/http/plugins/error-handler.ts'
import type { CredentialService } from './credentials.ts'
import * as queries from './queries.ts'
import { type Sent, THROTTLED_ERRORS } from './routes.ts'
import { makeContext } from './throttle.ts'
import { findUser, holdAccount } from './user-queries.ts'

const CODE_NEEDED = 'The account has a second factor: send totp or recovery_code as well.'
const NO_SUCH_SESSION = 'You have no session with this id.'

export function sessionRoutes(app: App, service: CredentialService, secondFactor: SecondFactor): void {
  app.route(reauthenticateRoute(app, service, secondFactor))
  app.route(logoutRoute(app))
  app.route(listRoute(app))
  app.route(endRoute(app))
  app.route(endOthersRoute(app))
}

function reauthenticateRoute(app: App, service: CredentialService, secondFactor: SecondFactor) {
  return {
    method: 'POST',
    url: '/reauthenticate',
    config: { login: 'any', caching: 'never', ownTurns: true },
    schema: {
      operationId: 'reauthenticate',
      summary: 'Confirm the password again',
      description:
        'Some operations, such as creating a key, need a password given within ten minutes. This call renews that time; a refresh does not. An account with a second factor also needs a code.',
      tags: ['auth'],
      body: ref(Reauthentication),
      response: noContent('The password is right.', ...THROTTLED_ERRORS, 'FORBIDDEN'),
    },
    handler: async (request: Sent<typeof Reauthentication>, reply: FastifyReply) => {
      const { id, sessionId } = requireSession(request)
      const { body } = request
      const visit = makeContext(app, request, reply)
      await service.confirmPassword(id, body.password, visit)
      const verdict = await secondFactor.verdict(id, body, visit)
      if (verdict === 'missing') throw new ApiError('FORBIDDEN', CODE_NEEDED)
      if (verdict === 'wrong') throw new ApiError('FORBIDDEN', WRONG_CODE)
      await visit.atDatabase(() =>
        inTransaction(app.database.writer, async (trx) => {
          await queries.freshenSession(trx, sessionId)
          await visit.audit(trx, { kind: 'reauthenticated' })
        }),
      )
      return reply.code(204).send()
    },
  } as const
}

function logoutRoute(app: App) {
  return {
    method: 'POST',
    url: '/logout',
    config: { login: 'any', caching: 'never' },
    schema: {
      operationId: 'logout',
      summary: 'End the session',
      description: 'The access token and the refresh token of this login stop working. Other logins go on.',
      tags: ['auth'],
      response: noContent('The session has ended.'),
    },
    handler: async (request: FastifyRequest, reply: FastifyReply) => {
      const { id, sessionId } = requireSession(request)
      await inTransaction(app.database.writer, async (trx) => {
        if (await queries.endUserSession(trx, id, sessionId)) await request.audit(trx, { kind: 'logout' })
      })
      app.forgetCallers((caller) => caller.sessionId === sessionId)
      return reply.code(204).send()
    },
  } as const
}

function listRoute(app: App) {
  return {
    method: 'GET',
    url: '/sessions',
    config: { login: 'any', caching: 'never' },
    schema: {
      operationId: 'listSessions',
      summary: 'List your sessions',
      description: 'The logins of the account, with their times and programs.',
      tags: ['auth'],
      response: answers(SessionList, 'The sessions.'),
    },
    handler: async (request: FastifyRequest) => {
      const { id, sessionId } = requireSession(request)
      return { items: await queries.listSessions(app.database.writer, id, sessionId), next_cursor: null }
    },
  } as const
}

function endRoute(app: App) {
  return {
    method: 'DELETE',
    url: '/sessions/:id',
    config: { login: 'any', caching: 'never' },
    schema: {
      operationId: 'endSession',
      summary: 'End a session',
      description: 'Its access tokens and its refresh token stop working. It may be the one that asks.',
      tags: ['auth'],
      params: Type.Object({ id: Type.String({ description: 'The id of the session.' }) }),
      response: noContent('The session has ended.', 'NOT_FOUND'),
    },
    handler: async (request: FastifyRequest<{ Params: { id: string } }>, reply: FastifyReply) => {
      const { id: userId } = requireCaller(request)
      const { id } = request.params
      const ended = await inTransaction(app.database.writer, async (trx) => {
        const found = await queries.endUserSession(trx, userId, id)
        if (found) await request.audit(trx, { kind: 'session_ended', detail: { ended: id } })
        return found
      })
      if (!ended) throw new ApiError('NOT_FOUND', NO_SUCH_SESSION)
      app.forgetCallers((caller) => caller.id === userId && caller.keyId === null)
      return reply.code(204).send()
    },
  } as const
}

function endOthersRoute(app: App) {
  return {
    method: 'DELETE',
    url: '/sessions',
    config: { login: 'any', caching: 'never' },
    schema: {
      operationId: 'endOtherSessions',
      summary: 'End all other sessions',
      description: 'All but the one that asks. Keys go on working.',
      tags: ['auth'],
      response: noContent('The sessions have ended.'),
    },
    handler: async (request: FastifyRequest, reply: FastifyReply) => {
      const { id, sessionId } = requireSession(request)
      await inTransaction(app.database.writer, async (trx) => {
        // First, against deadlocks with other changes of sessions.
        await holdAccount(trx, id)
        await queries.endOtherSessions(trx, id, sessionId)
        await request.audit(trx, { kind: 'other_sessions_ended' })
      })
      app.forgetCallers((caller) => caller.id === id && caller.sessionId !== sessionId)
      return reply.code(204).send()
    },
  } as const
}

const NOT_BEGUN = 'No second factor has been begun in the last hour: begin with the password.'
const NONE = 'The account has no second factor.'

export function twoFactorRoutes(
  app: App,
  service: CredentialService,
  secondFactor: SecondFactor,
  seal: AccountSeal,
): void {
  app.route(statusRoute(app))
  app.route(beginRoute(app, service, seal))
  app.route(confirmRoute(app, secondFactor))
  app.route(disableRoute(app, service, secondFactor))
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
      const factor = await queries.findTwoFactor(db, id)
      return {
        enabled: factor?.confirmed ?? false,
        required: config.ADMIN_2FA && user?.role === 'admin',
        recovery_codes: await queries.countRecoveryCodes(db, id),
      }
    },
  } as const
}

function beginRoute(app: App, service: CredentialService, seal: AccountSeal) {
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
      response: answers(
        TwoFactorSecret,
        'The secret for the app.',
        ...THROTTLED_ERRORS,
        'FORBIDDEN',
        'TWO_FACTOR_ON',
      ),
    },
    handler: async (
      request: Sent<typeof TwoFactorRequest>,
      reply: FastifyReply,
    ): Promise<TwoFactorSecret> => {
      const { id } = requireSession(request)
      const visit = makeContext(app, request, reply)
      await service.confirmPassword(id, request.body.password, visit)
      const secret = randomBytes(SECRET_BYTES)
      const user = await visit.atDatabase(async () => {
        const begun = await queries.putTwoFactor(db, id, seal.seal(id, secret))
        const known = await findUser(db, id)
        if (!known) throw accountDeleted()
        return begun ? known : undefined
      })
      if (!user) throw new ApiError('TWO_FACTOR_ON')
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
        throw new ApiError('FORBIDDEN', WRONG_CODE)
      }
      const codes = newRecoveryCodes()
      const recoveryHashes = codes.map(recoveryHash)
      await inTransaction(db, async (trx) => {
        const confirmed = await queries.confirmTwoFactor(trx, { userId, secret, step, recoveryHashes })
        if (!confirmed) throw new ApiError('NOT_FOUND', NOT_BEGUN)
        // They have shown the password alone.
        await queries.endOtherSessions(trx, userId, sessionId)
        await request.audit(trx, { kind: 'two_factor_on' })
      })
      await secondFactor.forgive(userId)
      app.forgetCallers(({ id }) => id === userId)
      return { recovery_codes: codes }
    },
  } as const
}

function disableRoute(app: App, service: CredentialService, secondFactor: SecondFactor) {
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
      response: noContent('A login needs the password alone.', ...THROTTLED_ERRORS, 'FORBIDDEN', 'NOT_FOUND'),
    },
    handler: async (request: Sent<typeof TwoFactorRemoval>, reply: FastifyReply) => {
      const { id: userId } = requireSession(request)
      const { body } = request
      const visit = makeContext(app, request, reply)
      await service.confirmPassword(userId, body.password, visit)
      const verdict = await secondFactor.verdict(userId, body, visit)
      if (verdict === 'missing' || verdict === 'wrong') throw new ApiError('FORBIDDEN', WRONG_CODE)
      if (verdict === 'not needed') throw new ApiError('NOT_FOUND', NONE)
      await visit.atDatabase(() =>
        inTransaction(db, async (trx) => {
          if (await queries.deleteTwoFactor(trx, userId)) await visit.audit(trx, { kind: 'two_factor_off' })
        }),
      )
      app.forgetCallers(({ id }) => id === userId)
      return reply.code(204).send()
    },
  } as const
}
