import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Static } from 'typebox'
import { ReleaseParams } from '#schemas/catalog.ts'
import { ref } from '#schemas/common.ts'
import { ApiError } from '#src/errors.ts'
import { type App, errorResponses } from '#src/http/app.ts'
import { findCaller } from '#src/http/caller.ts'
import { entityTag } from '#src/http/entity-tags.ts'
import { allowCaching } from '#src/http/plugins/caching.ts'
import { KeySet, Statement } from './schemas.ts'
import { describePublicKey } from './signing.ts'
import { listSigningKeys } from './signing-queries.ts'
import { findStatement } from './statement-queries.ts'

const RELEASE_CODE = /^[a-z0-9-]+$/

function statementRoute(app: App): void {
  app.addSchema(Statement)
  app.get(
    '/releases/:release/statement',
    {
      config: { public: true, caching: 'own', onlyReads: true },
      schema: {
        operationId: 'getReleaseStatement',
        summary: 'Get the signed statement of a release',
        description:
          'The bytes that `signature` of the release signs: JSON in the canonical form of RFC 8785. It has all that the release was loaded as: product, country, crop, month, version, source, licence, conditions, the SHA-256 of its files, its grids and layers. Also of a deleted release. One of an older version has none.',
        tags: ['catalog'],
        params: ReleaseParams,
        response: {
          200: { ...ref(Statement), description: 'The statement.' },
          304: { type: 'null', description: 'It is as `If-None-Match` names it.' },
          ...errorResponses('NOT_FOUND'),
        },
      },
    },
    async (request: FastifyRequest<{ Params: Static<typeof ReleaseParams> }>, reply: FastifyReply) => {
      const code = request.params.release
      const isAdmin = findCaller(request)?.role === 'admin'
      const statement = RELEASE_CODE.test(code)
        ? await findStatement(app.database.reader, code, isAdmin)
        : undefined
      if (statement === undefined) throw new ApiError('NOT_FOUND', `No release ${code} is or was published.`)
      if (statement === null) {
        const sentence = `${code} was loaded by an older version, which kept no hashes of files: it has no statement.`
        throw new ApiError('NOT_FOUND', sentence)
      }
      if (allowCaching(request.exchange, entityTag(statement))) return reply.code(304).send()
      return reply.type('application/json; charset=utf-8').send(statement)
    },
  )
}

function keysRoute(app: App): void {
  app.addSchema(KeySet)
  app.get(
    '/.well-known/jwks.json',
    {
      config: { public: true, caching: 'shared', onlyReads: true },
      schema: {
        operationId: 'getSigningKeys',
        summary: 'Get the keys that sign releases',
        description:
          'The public keys of the signatures of releases, as a JSON Web Key Set (RFC 7517). Retired ones stay, with the time: older signatures are theirs.',
        tags: ['catalog'],
        response: {
          200: { ...ref(KeySet), description: 'The keys, the newest first.' },
          304: { type: 'null', description: 'They are as `If-None-Match` names them.' },
          ...errorResponses(),
        },
      },
    },
    async (request: FastifyRequest, reply: FastifyReply) => {
      const keys = (await listSigningKeys(app.database.reader)).map(({ kid, public_key, retired_at }) => ({
        ...describePublicKey(public_key),
        kid,
        use: 'sig' as const,
        alg: 'EdDSA' as const,
        ...(retired_at && { retired_at: retired_at.toISOString() }),
      }))
      const text = JSON.stringify({ keys })
      if (allowCaching(request.exchange, entityTag(text))) return reply.code(304).send()
      return { keys }
    },
  )
}

/** The statements of releases, and the public keys of the service, also retired ones. */
export async function signatureRoutes(app: App): Promise<void> {
  statementRoute(app)
  keysRoute(app)
}
