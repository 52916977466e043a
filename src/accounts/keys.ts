import { randomBytes } from 'node:crypto'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import { ref } from '#schemas/common.ts'
import {
  ApiKeyList,
  ApiKeyRequest,
  DEFAULT_SCOPES,
  keySchemas,
  NewApiKey,
  SCOPES,
  type Scope,
} from '#schemas/keys.ts'
import { inTransaction } from '#src/data/sql.ts'
import { ADMIN_ERRORS, ApiError, notAllowed } from '#src/errors.ts'
import { type App, answers, errorResponses, noContent } from '#src/http/app.ts'
import { type Caller, requireCaller, requireSession } from '#src/http/caller.ts'
import { KEY_PREFIX } from '#src/http/plugins/authentication.ts'
import { deleteKey, insertKey, listKeys } from './key-queries.ts'
import { tokenHash } from './token-queries.ts'
import { findLimit, findLimits } from './user-queries.ts'

/** Several times the longest request: each item of an endless list of scopes would be a mistake to name. */
const BODY_LIMIT = 4096

const NO_ADMIN = 'The scope admin is for keys of callers with the role admin.'
const NO_SUCH_KEY = 'You have no key with this id.'
const HINT_LENGTH = KEY_PREFIX.length + 4

function createRoute({ config, database }: App) {
  const limits = findLimits('api_key', config)
  return {
    method: 'POST',
    url: '/keys',
    bodyLimit: BODY_LIMIT,
    config: { login: 'fresh', caching: 'never', idempotent: true, secret: true },
    schema: {
      operationId: 'createKey',
      summary: 'Create a key for a server',
      description: `Send the key as the Bearer token instead of an access token. Its scopes limit its rights, by default to ${DEFAULT_SCOPES.join(' and ')}. It is shown once, and only its hash is stored; a repetition with the same \`Idempotency-Key\` shows it again for a day. A user has at most ${findLimit('TOO_MANY_KEYS', config).most}.`,
      tags: ['auth'],
      body: ref(ApiKeyRequest),
      response: {
        201: { ...ref(NewApiKey), description: 'The key.' },
        ...errorResponses('INVALID_PARAMETERS', ...ADMIN_ERRORS, ...limits.codes),
      },
    },
    handler: async (request: FastifyRequest<{ Body: ApiKeyRequest }>, reply: FastifyReply) => {
      const key = KEY_PREFIX + randomBytes(32).toString('base64url')
      const { name, expires_in_days: expiresInDays = null } = request.body
      const caller = requireCaller(request)
      const { id: userId, sessionId } = requireSession(request)
      const scopes = grantedScopes(request.body.scopes ?? DEFAULT_SCOPES, caller)
      const made = {
        userId,
        sessionId,
        name,
        hint: key.slice(0, HINT_LENGTH),
        hash: tokenHash(key),
        scopes,
        expiresInDays,
      }
      const row = await inTransaction(database.writer, async (trx) => {
        const inserted = await limits.add(trx, userId, () => insertKey(trx, made))
        if (!inserted) throw new ApiError('UNAUTHORIZED', 'The session has just ended.')
        await request.audit(trx, { kind: 'key_made', detail: { key: inserted.id, scopes } })
        return inserted
      })
      reply.code(201).header('location', `${request.basePath}/auth/keys/${row.id}`)
      return { ...row, key }
    },
  } as const
}

function listRoute(app: App) {
  return {
    method: 'GET',
    url: '/keys',
    config: { scope: 'account', caching: 'never' },
    schema: {
      operationId: 'listKeys',
      summary: 'List your keys',
      description:
        'The name, beginning, scopes and use of each key, never the key itself. Other processes of the service may be 10 seconds behind.',
      tags: ['auth'],
      response: answers(ApiKeyList, 'The keys.'),
    },
    handler: async (request: FastifyRequest) => {
      await app.flushKeyUsage()
      return { items: await listKeys(app.database.writer, requireCaller(request).id), next_cursor: null }
    },
  } as const
}

function deleteRoute(app: App) {
  return {
    method: 'DELETE',
    url: '/keys/:id',
    config: { login: 'any', caching: 'never' },
    schema: {
      operationId: 'deleteKey',
      summary: 'Delete a key',
      description: 'The key stops working, and so do the keys that it made.',
      tags: ['auth'],
      params: Type.Object({ id: Type.String({ description: 'The id of the key.' }) }),
      response: noContent('The key is deleted.', 'NOT_FOUND'),
    },
    handler: async (request: FastifyRequest<{ Params: { id: string } }>, reply: FastifyReply) => {
      const { id } = request.params
      const { id: userId } = requireCaller(request)
      const deleted = await inTransaction(app.database.writer, async (trx) => {
        const found = await deleteKey(trx, userId, id)
        if (found) await request.audit(trx, { kind: 'key_deleted', detail: { key: id } })
        return found
      })
      if (!deleted) throw new ApiError('NOT_FOUND', NO_SUCH_KEY)
      // It may have made others.
      app.forgetCallers((caller) => caller.id === userId && caller.keyId !== null)
      return reply.code(204).send()
    },
  } as const
}

function grantedScopes(asked: readonly Scope[], caller: Caller): Scope[] {
  if (asked.includes('admin') && caller.role !== 'admin') throw notAllowed(caller, NO_ADMIN)
  return SCOPES.filter((scope) => asked.includes(scope))
}

export async function keys(app: App): Promise<void> {
  for (const schema of keySchemas) app.addSchema(schema)
  app.route(createRoute(app))
  app.route(listRoute(app))
  app.route(deleteRoute(app))
}
