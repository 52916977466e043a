import { createHash, randomBytes } from 'node:crypto'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import { ref } from '#schemas/common.ts'
import { ApiKeyList, ApiKeyRequest, NewApiKey } from '#schemas/keys.ts'
import { ApiError, errorResponses } from '#src/errors.ts'
import type { App } from '#src/http/app.ts'
import { callerOf, KEY_PREFIX } from '#src/http/plugins/authentication.ts'
import { deleteKey, insertKey, listKeys } from './queries.ts'

const KEYS_PER_USER = 20
/** Enough of a key to tell it from others, and nothing to guess the rest by. */
const HINT_LENGTH = KEY_PREFIX.length + 4

export function keyRoutes(app: App): void {
  app.route(createRoute(app))
  app.route(listRoute(app))
  app.route(deleteRoute(app))
}

function createRoute({ database }: App) {
  return {
    method: 'POST',
    url: '/keys',
    config: { caching: 'never' },
    schema: {
      operationId: 'createKey',
      summary: 'Make a key for a server',
      description: `A key is sent as the Bearer token in the place of an access token and may do what its owner may. It is shown once, and only its hash is kept. A user has at most ${KEYS_PER_USER}.`,
      tags: ['auth'],
      body: ref(ApiKeyRequest),
      response: {
        201: { ...ref(NewApiKey), description: 'The key.' },
        ...errorResponses(
          'INVALID_PARAMETERS',
          'MALFORMED_JSON',
          'UNAUTHORIZED',
          'TOO_MANY_KEYS',
          'BODY_TOO_LARGE',
          'UNSUPPORTED_MEDIA_TYPE',
        ),
      },
    },
    handler: async (request: FastifyRequest<{ Body: ApiKeyRequest }>, reply: FastifyReply) => {
      const key = KEY_PREFIX + randomBytes(32).toString('base64url')
      const { name, expires_in_days: expiresInDays = null } = request.body
      const row = await database.writer.transaction().execute((trx) =>
        insertKey(
          trx,
          {
            userId: callerOf(request).id,
            name,
            hint: key.slice(0, HINT_LENGTH),
            hash: createHash('sha256').update(key).digest(),
            expiresInDays,
          },
          KEYS_PER_USER,
        ),
      )
      if (!row) {
        throw new ApiError('TOO_MANY_KEYS', `You have ${KEYS_PER_USER} keys: delete one that is not used.`)
      }
      request.log.info({ user: callerOf(request).id, key: row.id, ip: request.ip }, 'a key was made')
      reply.code(201)
      return { ...row, key }
    },
  } as const
}

function listRoute({ database }: App) {
  return {
    method: 'GET',
    url: '/keys',
    config: { caching: 'never' },
    schema: {
      operationId: 'listKeys',
      summary: 'The own keys',
      description: 'What they are for, how they begin and when they were last used; never the keys.',
      tags: ['auth'],
      response: {
        200: { ...ref(ApiKeyList), description: 'The keys.' },
        ...errorResponses('UNAUTHORIZED'),
      },
    },
    handler: async (request: FastifyRequest) => ({
      items: await listKeys(database.writer, callerOf(request).id),
      next_cursor: null,
    }),
  } as const
}

function deleteRoute(app: App) {
  return {
    method: 'DELETE',
    url: '/keys/:id',
    config: { caching: 'never' },
    schema: {
      operationId: 'deleteKey',
      summary: 'Delete a key',
      description: 'It stops working.',
      tags: ['auth'],
      params: Type.Object({ id: Type.String({ description: 'The id of the key.' }) }),
      response: {
        204: { type: 'null', description: 'The key is deleted.' },
        ...errorResponses('UNAUTHORIZED', 'NOT_FOUND'),
      },
    },
    handler: async (request: FastifyRequest<{ Params: { id: string } }>, reply: FastifyReply) => {
      const { id } = request.params
      const deleted = await deleteKey(app.database.writer, callerOf(request).id, id)
      if (!deleted) throw new ApiError('NOT_FOUND', 'You have no key with this id.')
      app.forgetCallers(({ keyId }) => keyId === id.toLowerCase())
      return reply.code(204).send()
    },
  } as const
}
