import type { FastifyRequest, onRequestHookHandler, onSendHookHandler } from 'fastify'
import fp from 'fastify-plugin'
import type { Exchange } from '#src/http/exchange.ts'
import type { App } from '../app.ts'
import { answerDigest, entityTag, isCurrent } from '../entity-tags.ts'
import { isApplied, varyBy } from '../request.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Rules for caches; by default those of HTTP. */
    caching?: Caching
    /** Changes with the schema of the answer. */
    answerDigest?: () => string
  }
}

/** Seconds in which caches need not revalidate: a new release shows within a minute. */
const SHARED_SECONDS = 60

/** Seconds for which caches may answer while the service is away. */
const STALE_SECONDS = 86_400

/**
 * Rules of a route for caches. Handlers give tags to answers that can be revalidated, by {@link allowCaching}; errors and
 * answers to a single call have none.
 *
 * | `caching` | answers without a tag                | answers with a tag                      | for |
 * |-----------|--------------------------------------|-----------------------------------------|-----|
 * | `never`   | `no-store`                           |                                         | data of one person |
 * | `own`     |                                      | private, revalidated each time          | lists that rarely change |
 * | `shared`  | `no-store`; `private` with a token   | public for a minute                     | public answers |
 * | `asset`   |                                      | public for a day                        | files of the service's pages |
 * | `document`|                                      | public for five minutes                 | the OpenAPI document |
 * | none      |                                      |                                         | the rest |
 *
 * An answer with `Prefer: server-timing` has `no-store` on any route.
 */
type Caching = 'never' | 'own' | 'shared' | 'asset' | 'document'

/** Addresses of files have a version, but during an upgrade the old one may answer to an address of the new one. */
const ASSET_SECONDS = 86_400

/** The document of all versions has one address. */
const DOCUMENT_SECONDS = 300

const WITH_TAG: Record<Caching, string> = {
  asset: `public, max-age=${ASSET_SECONDS}`,
  document: `public, max-age=${DOCUMENT_SECONDS}`,
  never: 'no-store',
  own: 'private, no-cache',
  shared: `public, max-age=${SHARED_SECONDS}, stale-if-error=${STALE_SECONDS}`,
}

/** Sets headers before the handler runs. Routes without rules have no hook. */
export const caching = fp(
  async (app: App) => {
    app.addHook('onRoute', function (route) {
      const hooks = [route.onRequest ?? []].flat()
      // Refusals have the header too; `shared` depends on the caller.
      if (route.config?.caching === 'never') route.onRequest = [forbid, ...hooks]
      if (route.config?.caching === 'shared') route.onRequest = [...hooks, forbidUntilTagged]
      if (route.config?.caching === undefined) return
      const response = (route.schema?.response as { 200?: object } | undefined)?.[200]
      let digest: string | undefined
      // Some components are registered after the routes.
      const read = () => (digest ??= answerDigest(response, this.getSchemas()))
      route.config = { ...route.config, answerDigest: read }
    })
  },
  { name: 'caching', dependencies: ['authentication'] },
)

const forbid: onRequestHookHandler = (_request, reply, done) => {
  reply.header('cache-control', 'no-store')
  done()
}

const forbidUntilTagged: onRequestHookHandler = ({ user }, reply, done) => {
  varyBy(reply, 'Authorization').header('cache-control', user === null ? 'no-store' : 'private, no-store')
  done()
}

/** Hook of files with tags, on routes of packages. */
export const allowAsset: onSendHookHandler = (_request, reply, _body, done) => {
  if (reply.hasHeader('etag')) reply.header('cache-control', WITH_TAG.asset)
  done()
}

/** The tag of an answer by its data, before it is made. It changes with the schema of the answer. */
export function dataTag({ routeOptions: { config } }: FastifyRequest, ...parts: string[]): string {
  return entityTag(config.answerDigest?.() ?? '', ...parts)
}

/** Whether caches may store an answer: they ignore preferences, and a request with a token needs its check each time. */
export function mayBeShared({ request: { method, headers }, reply }: Exchange): boolean {
  return method !== 'POST' && headers.authorization === undefined && !isApplied(reply, 'return=provenance')
}

/** Sets the headers of the route's rules; true where the client has the answer, and 304 is due. */
export function allowCaching({ request, reply }: Exchange, tag: string): boolean {
  const { caching: policy } = request.routeOptions.config
  if (policy === undefined) throw new Error('a route whose answers have tags says what caches may do')
  // The answer is for one client: its token is invalid.
  if (reply.hasHeader('www-authenticate')) {
    reply.header('cache-control', 'no-store')
    return false
  }
  reply.header('etag', tag)
  // The time is that of one call.
  if (!reply.hasHeader('server-timing')) reply.header('cache-control', WITH_TAG[policy])
  return isCurrent(request.headers['if-none-match'], tag)
}
