import type { FastifyReply, FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import { Reauthentication, SessionList } from '#schemas/auth.ts'
import { ref } from '#schemas/common.ts'
import { inTransaction } from '#src/data/sql.ts'
import { ApiError, EXAMPLE_SENTENCES } from '#src/errors.ts'
import { type App, answers, noContent } from '#src/http/app.ts'
import { requireCaller, requireSession } from '#src/http/caller.ts'
import type { Passwords } from './credentials.ts'
import * as queries from './queries.ts'
import { passSteps } from './steps.ts'
import { type Sent, THROTTLED_ERRORS } from './throttle.ts'
import { holdAccount } from './user-queries.ts'

const NO_SUCH_SESSION = 'You have no session with this id.'

export function sessionRoutes(app: App, passwords: Passwords): void {
  app.route(reauthenticateRoute(app, passwords))
  app.route(logoutRoute(app))
  app.route(listRoute(app))
  app.route(endRoute(app))
  app.route(endOthersRoute(app))
}

function reauthenticateRoute(app: App, { service, steps }: Passwords) {
  return {
    method: 'POST',
    url: '/reauthenticate',
    config: { login: 'any', caching: 'never', takesOwnPermit: true },
    schema: {
      operationId: 'reauthenticate',
      summary: 'Confirm the password again',
      description: [
        'Some operations, such as creating a key, need a password given within ten minutes. This call renews that time; a refresh does not.',
        ...steps.map(({ texts }) => texts.reauthentication),
      ].join(' '),
      tags: ['auth'],
      body: ref(Reauthentication),
      response: noContent('The password is right.', ...THROTTLED_ERRORS, 'FORBIDDEN'),
    },
    handler: async (request: Sent<typeof Reauthentication>, reply: FastifyReply) => {
      const { id, sessionId } = requireSession(request)
      const { body } = request
      const { exchange } = request
      await service.confirmPassword(id, body.password, exchange)
      await passSteps(steps, id, body, exchange, ({ texts, refusals }, verdict) => {
        const sentence = verdict === 'missing' ? texts.missing : EXAMPLE_SENTENCES[refusals.wrong]
        return new ApiError('FORBIDDEN', sentence)
      })
      await exchange.withDatabasePermit(() =>
        inTransaction(app.database.writer, async (trx) => {
          await queries.freshenSession(trx, sessionId)
          await request.audit(trx, { kind: 'reauthenticated' })
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
