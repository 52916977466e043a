import type { FastifyReply, FastifyRequest, HookHandlerDoneFunction } from 'fastify'
import fp from 'fastify-plugin'
import type { App } from '../app.ts'
import { answerDigest, entityTag, isCurrent } from '../entity-tags.ts'
import { varyBy } from '../request.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** What caches may do with the answers; without it, whatever HTTP says of the method and the status. */
    caching?: Caching
    /** Changes with the schema of the answer. */
    answerDigest?: { text: string }
  }
}

/** How long others may answer in our place without asking, in seconds: a new release shows within a minute. */
const SHARED_SECONDS = 60

/** Where the service cannot be reached, last month's forecast is better than none for so many seconds. */
const STALE_SECONDS = 86_400

/**
 * What a route lets caches do. An answer has a tag where the handler found it to be one that may be asked
 * for again: see {@link allowCaching}. The others are errors, and answers to a single call.
 *
 * | `caching` | other answers, errors too            | answers with a tag                      | for |
 * |-----------|--------------------------------------|-----------------------------------------|-----|
 * | `never`   | `no-store`                           |                                         | what is of one person |
 * | `own`     |                                      | kept by its caller, who asks every time | lists that rarely change |
 * | `shared`  | `no-store`; `private` with a token   | kept by everybody for a minute          | what is answered to everybody |
 * | `asset`   |                                      | kept by everybody for a day             | files of the service's pages |
 * | `document`|                                      | kept by everybody for five minutes      | the OpenAPI document |
 * | none      |                                      |                                         | the rest |
 *
 * An answer of which the time was asked for (`Prefer: server-timing`) says `no-store`, whatever the route.
 */
export type Caching = 'never' | 'own' | 'shared' | 'asset' | 'document'

/**
 * Pages ask for their files with a version, so it might be longer; but while versions change places, a process
 * of the old one may answer to the address of the new.
 */
const ASSET_SECONDS = 86_400

/** Programs ask for it under one address, whatever the version. */
const DOCUMENT_SECONDS = 300

const WITH_TAG: Record<Caching, string> = {
  asset: `public, max-age=${ASSET_SECONDS}`,
  document: `public, max-age=${DOCUMENT_SECONDS}`,
  never: 'no-store',
  own: 'private, no-cache',
  shared: `public, max-age=${SHARED_SECONDS}, stale-if-error=${STALE_SECONDS}`,
}

/** Sets what is known before the handler runs. Routes without a policy have no hook of it. */
export const caching = fp(
  async (app: App) => {
    const digests: (() => void)[] = []
    app.addHook('onRoute', function (route) {
      const hooks = [route.onRequest ?? []].flat()
      // Whoever is refused is told so, too; who may share an answer is known once the caller is.
      if (route.config?.caching === 'never') route.onRequest = [forbid, ...hooks]
      if (route.config?.caching === 'shared') route.onRequest = [...hooks, forbidUntilTagged]
      if (route.config?.caching === undefined) return
      const digest = { text: '' }
      route.config = { ...route.config, answerDigest: digest }
      const response = (route.schema?.response as { 200?: object } | undefined)?.[200]
      // Routes are registered before some of the components that they refer to.
      digests.push(() => {
        digest.text = answerDigest(response, this.getSchemas())
      })
    })
    app.addHook('onReady', async () => {
      for (const compute of digests) compute()
    })
  },
  { name: 'caching', dependencies: ['authentication'] },
)

function forbid(_request: FastifyRequest, reply: FastifyReply, done: HookHandlerDoneFunction): void {
  reply.header('cache-control', 'no-store')
  done()
}

function forbidUntilTagged(
  { user }: FastifyRequest,
  reply: FastifyReply,
  done: HookHandlerDoneFunction,
): void {
  varyBy(reply, 'Authorization').header('cache-control', user === null ? 'no-store' : 'private, no-store')
  done()
}

/** A hook for the files of pages, which have tags of their own, and routes that others have made. */
export function allowAsset(
  _request: FastifyRequest,
  reply: FastifyReply,
  _body: unknown,
  done: () => void,
): void {
  if (reply.hasHeader('etag')) reply.header('cache-control', WITH_TAG.asset)
  done()
}

/**
 * The tag of an answer by the data behind it, which can be told before the answer is made. It changes with the schema of
 * the answer: nobody is told 304 for a body of before.
 */
export function dataTag({ routeOptions: { config } }: FastifyRequest, ...parts: string[]): string {
  return entityTag(config.answerDigest?.text ?? '', ...parts)
}

/**
 * Lets caches keep an answer as the policy of its route says.
 *
 * @param tag names the answer: the same as long as the answer is
 * @returns whether the client has it already, and 304 is the answer
 */
export function allowCaching(request: FastifyRequest, reply: FastifyReply, tag: string): boolean {
  const { caching: policy } = request.routeOptions.config
  if (policy === undefined) throw new Error('a route whose answers have tags says what caches may do')
  // It says something of one request: that its token is of no use.
  if (reply.hasHeader('www-authenticate')) {
    reply.header('cache-control', 'no-store')
    return false
  }
  reply.header('etag', tag)
  // Where the time was asked for, it is that of this one call.
  if (!reply.hasHeader('server-timing')) reply.header('cache-control', WITH_TAG[policy])
  return isCurrent(request.headers['if-none-match'], tag)
}
