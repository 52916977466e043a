import type {
  FastifyContextConfig,
  FastifyError,
  FastifyReply,
  FastifyRequest,
  HookHandlerDoneFunction,
} from 'fastify'
import fp from 'fastify-plugin'
import type { Scope } from '#schemas/keys.ts'
import { ApiError, BASE, notAllowed, overloaded } from '#src/errors.ts'
import { Cache } from '#src/lib/cache.ts'
import { createLimiter } from '#src/lib/limiter.ts'
import { type AccessTokens, createAccessTokens, loadSecrets } from '../access-tokens.ts'
import type { App } from '../app.ts'
import { type Caller, listScopes, permits, requireCaller } from '../caller.ts'
import { type Exchange, SHARE_OF_EXTRAS } from '../exchange.ts'
import { observeQueue } from '../metrics/metrics.ts'
import { CHALLENGE, toApiError } from './error-handler.ts'
import { createClientSignal } from './time-budget.ts'

declare module 'fastify' {
  interface FastifyInstance {
    accessTokens: AccessTokens
    /** Removes callers from the cache of this process; other processes forget them within seconds. */
    forgetCallers(condition: (caller: Caller) => boolean): void
  }
}

export const KEY_PREFIX = 'agro_'

const TOKEN_OF_NO_USE = 'The token is not valid, has expired or has ended: refresh it, or log in again.'

const AUTHORIZATION = 'authorization'

/** RFC 6750: one space, and the characters of a token. The scheme's case does not matter (RFC 9110). */
const BEARER = /^Bearer ([A-Za-z0-9\-._~+/]+=*)$/i

/** Undefined where the session, the key or the user has ended. */
export interface Accounts {
  callerOfSession(sessionId: string, userId: string): Promise<Caller | undefined>
  callerOfKey(key: string): Promise<Caller | undefined>
  /** Whether the password was given within the last ten minutes. */
  isFresh(sessionId: string): Promise<boolean | undefined>
}

/** Each cached token takes less than a kilobyte. */
const CACHED_TOKENS = 10_000

/** For as long another process may accept an ended session. */
const CACHE_MS = 5000

/** Look-ups of callers at a time: each takes a fraction of a millisecond. */
const LOOKUPS = { embedded: 1, server: 2 }

type FoundCaller = { caller: Caller; lifetimeMs: number } | undefined

/** Callers by token, from a cache or the database. Clients can make up many tokens, so look-ups have a fair queue. */
function createCallers({ config, database, metrics }: App, load: (token: string) => Promise<FoundCaller>) {
  const cache = new Cache<string, FoundCaller>('callers', {
    max: CACHED_TOKENS,
    ttlMs: (found) => Math.min(CACHE_MS, found?.lifetimeMs ?? 0),
  })
  const limits = { running: LOOKUPS[database.kind], waiting: config.DATABASE_QUEUE_LIMIT }
  const lookups = createLimiter(limits, overloaded)
  observeQueue(metrics, 'callers', lookups.state)
  metrics.observe('agro_caller_cache_entries', () => cache.statistics().entries)
  metrics.observe('agro_caller_cache_hits_total', () => cache.statistics().hits)
  metrics.observe('agro_caller_cache_misses_total', () => cache.statistics().misses)

  const cached = (token: string) => cache.get(token)?.caller

  return {
    cached,
    /** A late look-up leaves time for public answers, which need no caller. */
    async find(token: string, exchange: Exchange): Promise<Caller | undefined> {
      const caller = cached(token)
      if (caller) return caller
      const read = async () => (await cache.load(token, () => load(token)))?.caller
      // A request that is answered leaves the queue.
      const queued = () => lookups.run(exchange.clientKey, read, createClientSignal(exchange.reply))
      return exchange.wait(queued, SHARE_OF_EXTRAS)
    },
    forget: (condition: (caller: Caller) => boolean) =>
      cache.deleteWhere((found) => found !== undefined && condition(found.caller)),
  }
}

/** Each route without `public: true` needs an access token or a key. Unknown paths are 404 without one. */
export const authentication = fp(
  async (app: App, { accounts }: { accounts: Accounts }) => {
    // It also decorates the request with `user`.
    const tokens = await createAccessTokens(
      app,
      await loadSecrets(app.config),
      app.config.ACCESS_TOKEN_MINUTES * 60,
    )
    const callers = createCallers(app, async (token) => {
      if (token.startsWith(KEY_PREFIX)) {
        const caller = await accounts.callerOfKey(token)
        return caller && { caller, lifetimeMs: Number.POSITIVE_INFINITY }
      }
      const claims = tokens.verify(token)
      const caller = claims && (await accounts.callerOfSession(claims.sessionId, claims.userId))
      return caller && { caller, lifetimeMs: claims.expiresAt * 1000 - Date.now() }
    })
    app.decorate('accessTokens', tokens)
    app.decorateRequest('callerError', null)
    app.decorate('forgetCallers', callers.forget)

    async function identify(exchange: Exchange, config: FastifyContextConfig): Promise<Caller> {
      const { request } = exchange
      const token = readToken(request)
      const caller = token && (await callers.find(token, exchange))
      if (!caller) throw unauthorized(request)
      if (caller.keyId !== null) app.countKeyRequest(caller.keyId)
      requireScopes(caller, listScopes(config))
      return caller
    }

    async function identifyOrGoOn(exchange: Exchange, config: FastifyContextConfig) {
      const { request, reply } = exchange
      if (!sendsToken(request)) return
      try {
        request.user = await identify(exchange, config)
      } catch (error) {
        // Public routes answer without a caller.
        request.callerError = toApiError(error as FastifyError, request)
        if (request.callerError.status < 500) reply.headers(request.callerError.headers)
        else app.logFailure(error, 'a caller could not be looked up', request.log)
      }
    }

    async function admit(exchange: Exchange, config: FastifyContextConfig) {
      if (config.public) return identifyOrGoOn(exchange, config)
      const { request } = exchange
      request.user = await identify(exchange, config)
      const { role, login } = config
      if (login) await refuseOtherThanLogin(accounts, exchange, login)
      if (role && request.user.role !== role) {
        throw notAllowed(request.user, `This is for callers with the role ${role}.`)
      }
    }

    app.addHook('onRoute', (route) => {
      const guard = (request: FastifyRequest, _reply: FastifyReply, done: HookHandlerDoneFunction) => {
        // Later plugins may change the config.
        const { config = {} } = route
        // Most requests are for public routes, and anonymous or from cached callers: they do not wait.
        if (config.public) {
          if (request.headers.authorization === undefined) return done()
          request.user = findCachedCaller(callers, request, config)
          if (request.user) {
            if (request.user.keyId !== null) app.countKeyRequest(request.user.keyId)
            return done()
          }
        }
        admit(request.exchange, config).then(() => done(), done)
      }
      route.onRequest = [guard, ...[route.onRequest ?? []].flat()]
    })
  },
  { name: 'authentication', dependencies: ['error-handler', 'key-usage'] },
)

/** @throws {ApiError} INSUFFICIENT_SCOPE for a key without one of them */
export function requireScopes(caller: Caller, scopes: readonly Scope[]): void {
  if (scopes.every((scope) => permits(caller, scope))) return
  const named = `scope${scopes.length > 1 ? 's' : ''} ${scopes.join(' and ')}`
  throw new ApiError(
    'INSUFFICIENT_SCOPE',
    `The key may not do this: it takes one with the ${named}, or the token of a login.`,
  ).withHeader('www-authenticate', `${CHALLENGE}, error="insufficient_scope", scope="${scopes.join(' ')}"`)
}

/** The cached caller of a request, with the scopes; null for a miss. */
function findCachedCaller(
  { cached }: ReturnType<typeof createCallers>,
  request: FastifyRequest,
  config: FastifyContextConfig,
): Caller | null {
  const token = readToken(request)
  const caller = token === undefined ? undefined : cached(token)
  return caller && listScopes(config).every((scope) => permits(caller, scope)) ? caller : null
}

async function refuseOtherThanLogin(
  accounts: Accounts,
  exchange: Exchange,
  login: 'any' | 'fresh',
): Promise<void> {
  const { request } = exchange
  const { sessionId } = requireCaller(request)
  if (sessionId === null) throw new ApiError('LOGIN_REQUIRED')
  if (login === 'any') return
  // Asked anew: the password may just have been given to another process.
  const fresh = await exchange.wait(() => accounts.isFresh(sessionId))
  if (fresh === undefined) throw unauthorized(request)
  if (fresh) return
  throw new ApiError(
    'REAUTHENTICATION_REQUIRED',
    `This takes a password that was given within the last ten minutes: send it to POST ${BASE}/auth/reauthenticate.`,
  )
}

/** The token of the one Authorization header; undefined where there is none, or more than one. */
function readToken({ headers, raw }: FastifyRequest): string | undefined {
  const token = BEARER.exec(headers.authorization ?? '')?.[1]
  if (token === undefined) return undefined
  // Node keeps the first of several headers and says nothing.
  const { rawHeaders } = raw
  let sent = 0
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index] as string
    if (name.length === AUTHORIZATION.length && name.toLowerCase() === AUTHORIZATION) sent++
  }
  return sent > 1 ? undefined : token
}

/** Whether a request has a token, valid or not. Other schemes do not count. */
function sendsToken({ headers }: FastifyRequest): boolean {
  return /^Bearer\b/i.test(headers.authorization ?? '')
}

/** Where other services take a key, in letters alone. */
const KEY_NAME = /^(?:x?(?:apikey|authtoken|accesstoken)|token|key)$/i

/** Where a request has a key that is not read, for a sentence; undefined for none. The key itself is never shown. */
function findMisplacedKey({ headers, query }: FastifyRequest): string | undefined {
  const isKeyName = (name: string) => KEY_NAME.test(name.replace(/[_-]/g, ''))
  if (headers.authorization !== undefined) return 'Authorization, but without Bearer'
  const header = Object.keys(headers).find(isKeyName)
  if (header !== undefined) return `the header ${header}, which is not read`
  const parameter = Object.keys((query ?? {}) as object).find(isKeyName)
  return parameter && `the parameter ${parameter}, which is not read`
}

/** The error where a token is needed, and none, or none of use, was sent. Only a token can be wrong (RFC 6750, 3.1). */
export function unauthorized(request: FastifyRequest): ApiError {
  if (!sendsToken(request)) {
    const sent = findMisplacedKey(request)
    return new ApiError(
      'UNAUTHORIZED',
      sent === undefined
        ? `This needs \`Authorization: Bearer KEY\`: POST ${BASE}/auth/login gives a token, POST ${BASE}/auth/keys a key.`
        : `Send \`Authorization: Bearer KEY\`: this request has ${sent}.`,
    )
  }
  return new ApiError('UNAUTHORIZED', TOKEN_OF_NO_USE).withHeader(
    'www-authenticate',
    `${CHALLENGE}, error="invalid_token"`,
  )
}
