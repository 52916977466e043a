import type { FastifyReply, FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import { Reauthentication } from '#schemas/auth.ts'
import { ref } from '#schemas/common.ts'
import { SessionList } from '#schemas/sessions.ts'
import { inTransaction } from '#src/database/transaction.ts'
import { holdAccount } from '#src/domains/user/queries.ts'
import { ApiError, BODY_ERRORS, errorResponses } from '#src/errors.ts'
import type { App } from '#src/http/app.ts'
import { callerOf, sessionOf } from '#src/http/plugins/authentication.ts'
import type { CredentialDesk } from './credentials.ts'
import { endOtherSessions, endSessionOf, freshenSession, listSessions } from './queries.ts'
import { THROTTLED_ERRORS } from './routes.ts'
import { type SecondFactor, WRONG_CODE } from './second-factor.ts'
import { visitOf } from './visits.ts'

const CODE_NEEDED = 'The account has a second factor: send totp or recovery_code as well.'
const NO_SUCH_SESSION = 'You have no session with this id.'

/** What people do with the sessions that they have begun. */
export function sessionRoutes(app: App, desk: CredentialDesk, secondFactor: SecondFactor): void {
  app.route(reauthenticateRoute(app, desk, secondFactor))
  app.route(logoutRoute(app))
  app.route(listRoute(app))
  app.route(endRoute(app))
  app.route(endOthersRoute(app))
}

function reauthenticateRoute(app: App, desk: CredentialDesk, secondFactor: SecondFactor) {
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
      response: {
        204: { type: 'null', description: 'The password is right.' },
        ...errorResponses(...THROTTLED_ERRORS, 'UNAUTHORIZED', 'LOGIN_REQUIRED', 'FORBIDDEN'),
      },
    },
    handler: async (request: FastifyRequest<{ Body: Reauthentication }>, reply: FastifyReply) => {
      const { id, sessionId } = sessionOf(request)
      const { body } = request
      const visit = visitOf(app, request, reply)
      await desk.confirmPassword(id, body.password, visit)
      const verdict = await secondFactor.verdict(id, body, visit)
      if (verdict === 'missing') throw new ApiError('FORBIDDEN', CODE_NEEDED)
      if (verdict === 'wrong') throw new ApiError('FORBIDDEN', WRONG_CODE)
      await visit.atDatabase(() =>
        inTransaction(app.database.writer, async (trx) => {
          await freshenSession(trx, sessionId)
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
      response: {
        204: { type: 'null', description: 'The session has ended.' },
        ...errorResponses('UNAUTHORIZED', 'LOGIN_REQUIRED', ...BODY_ERRORS),
      },
    },
    handler: async (request: FastifyRequest, reply: FastifyReply) => {
      const { id, sessionId } = sessionOf(request)
      await inTransaction(app.database.writer, async (trx) => {
        if (await endSessionOf(trx, id, sessionId)) await request.audit(trx, { kind: 'logout' })
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
      response: {
        200: { ...ref(SessionList), description: 'The sessions.' },
        ...errorResponses('UNAUTHORIZED', 'LOGIN_REQUIRED'),
      },
    },
    handler: async (request: FastifyRequest) => {
      const { id, sessionId } = sessionOf(request)
      return { items: await listSessions(app.database.writer, id, sessionId), next_cursor: null }
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
      response: {
        204: { type: 'null', description: 'The session has ended.' },
        ...errorResponses('UNAUTHORIZED', 'LOGIN_REQUIRED', 'NOT_FOUND', ...BODY_ERRORS),
      },
    },
    handler: async (request: FastifyRequest<{ Params: { id: string } }>, reply: FastifyReply) => {
      const { id: userId } = callerOf(request)
      const { id } = request.params
      const ended = await inTransaction(app.database.writer, async (trx) => {
        const found = await endSessionOf(trx, userId, id)
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
      response: {
        204: { type: 'null', description: 'The sessions have ended.' },
        ...errorResponses('UNAUTHORIZED', 'LOGIN_REQUIRED', ...BODY_ERRORS),
      },
    },
    handler: async (request: FastifyRequest, reply: FastifyReply) => {
      const { id, sessionId } = sessionOf(request)
      await inTransaction(app.database.writer, async (trx) => {
        // First, as all do that change several sessions: otherwise two could wait for each other.
        await holdAccount(trx, id)
        await endOtherSessions(trx, id, sessionId)
        await request.audit(trx, { kind: 'other_sessions_ended' })
      })
      app.forgetCallers((caller) => caller.id === id && caller.sessionId !== sessionId)
      return reply.code(204).send()
    },
  } as const
}
