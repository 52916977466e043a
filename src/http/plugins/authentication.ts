import type { FastifyContextConfig, FastifyReply, FastifyRequest, HookHandlerDoneFunction } from 'fastify'
import fp from 'fastify-plugin'
import type { Scope } from '#schemas/keys.ts'
import type { Role } from '#schemas/user.ts'
import { ApiError, BASE } from '#src/errors.ts'
import { Cache } from '#src/lib/cache.ts'
import { createFairQueue } from '#src/lib/fair-queue.ts'
import { type AccessTokens, createAccessTokens, loadSecrets } from '../access-tokens.ts'
import type { App } from '../app.ts'
import { deadlineOf } from '../deadline.ts'
import { observeQueue } from '../metrics/metrics.ts'
import { clientKeyOf } from '../request.ts'
import { insufficientScope, loginRequired, notAllowed, reauthenticationRequired } from './error-handler.ts'
import { overloaded } from './overload.ts'
import { SHARE_OF_EXTRAS, timeBudgetOf, withTimeout } from './time-budget.ts'

/** So many tokens are cached; each takes less than a kilobyte. */
const CACHED_TOKENS = 10_000

/** For so long an ended session may still be taken for a living one, by another process. */
const CACHE_MS = 5000

/** So many callers are looked up at a time: each takes a fraction of a millisecond. */
const LOOKUPS = { embedded: 1, server: 2 }

/** What tokens stand for. */
interface CallerLookup<Caller> {
  /** Whom a token stands for, where that is remembered. */
  known(token: string): Caller | undefined
  /**
   * What is public is answered as to anybody where this fails, for which it leaves some time.
   *
   * @throws {ApiError} OVERLOADED where too many wait, DATABASE_UNAVAILABLE where it takes too long; else what `ask`
   * throws
   */
  find(token: string, request: FastifyRequest, reply: FastifyReply): Promise<Caller | undefined>
  /** Forgets the callers that meet a condition, so that this process asks anew. */
  forget(condition: (caller: Caller) => boolean): void
}

/**
 * Remembers callers for a while, and asks for the others. Anybody can make up tokens by the thousand, and each has
 * to be asked about: they take turns.
 *
 * @param ask whom a token stands for, and for how many milliseconds at most; undefined where for nobody
 */
function createCallerLookup<Caller>(
  { config, database, metrics }: App,
  ask: (token: string) => Promise<{ caller: Caller; lifetimeMs: number } | undefined>,
): CallerLookup<Caller> {
  const cache = new Cache<string, { caller: Caller; lifetimeMs: number } | undefined>('callers', {
    max: CACHED_TOKENS,
    ttlMs: (found) => Math.min(CACHE_MS, found?.lifetimeMs ?? 0),
  })
  const limits = { running: LOOKUPS[database.kind], waiting: config.DATABASE_QUEUE_LIMIT }
  const lookups = createFairQueue(limits, overloaded)
  observeQueue(metrics, 'callers', lookups.state)
  metrics.observe('agro_caller_cache_entries', () => cache.statistics().entries)
  metrics.observe('agro_caller_cache_hits_total', () => cache.statistics().hits)
  metrics.observe('agro_caller_cache_misses_total', () => cache.statistics().misses)

  const known = (token: string) => cache.get(token)?.caller

  return {
    known,
    async find(token, request, reply) {
      const caller = known(token)
      if (caller) return caller
      const deadline = deadlineOf(reply, timeBudgetOf(request, reply).left(), overloaded)
      const answered = new AbortController()
      const signal = AbortSignal.any([deadline.signal, answered.signal])
      const find = async () => (await cache.load(token, () => ask(token)))?.caller
      const found = () => lookups.run(clientKeyOf(request), find, signal)
      try {
        return await withTimeout(request, reply, found, SHARE_OF_EXTRAS)
      } catch (error) {
        // Who is answered without it leaves the line.
        answered.abort(error)
        throw error
      } finally {
        deadline.end()
      }
    },
    forget: (condition) => cache.deleteWhere((found) => found !== undefined && condition(found.caller)),
  }
}

/** Who a request comes from. */
export interface Caller {
  /** The user's id. */
  id: string
  /** What the caller may do now, which may be less than what the account is for; a key has it where its scopes say so. */
  role: Role
  /** Whether the caller would be an admin with a second factor, which the service asks admins for. */
  lacksTwoFactor?: boolean
  /** The login that the access token belongs to; null for a key. */
  sessionId: string | null
  /** The key that was sent in the place of an access token; null for a session. */
  keyId: string | null
  /** What the key may do; a session may do everything that its user may. */
  scopes: readonly Scope[]
}

/** Where callers are looked up: undefined where the session, the key or the user has ended. */
export interface Accounts {
  callerOfSession(sessionId: string, userId: string): Promise<Caller | undefined>
  callerOfKey(key: string): Promise<Caller | undefined>
  /** Whether a session's password was given within the last ten minutes; undefined where it has ended. */
  isFresh(sessionId: string): Promise<boolean | undefined>
}

declare module 'fastify' {
  interface FastifyInstance {
    accessTokens: AccessTokens
    /** Makes this process ask anew for callers that meet a condition. Others do so within seconds. */
    forgetCallers(condition: (caller: Caller) => boolean): void
  }
  interface FastifyRequest {
    /** Why the caller of a public route is not known, where a token was sent. Calls that need a caller end with it. */
    callerError: Error | null
  }
  interface FastifyContextConfig {
    /** The route needs no token. Where a valid one is sent, the caller is known all the same. */
    public?: boolean
    /** The route is for callers with this role alone. */
    role?: Role
    /**
     * What a key needs here, `account` where it is not said. To a public route a key without it is nobody:
     * the answer is the one that anybody gets.
     */
    scope?: Scope
    /**
     * The route is for logins alone: no key may do it, whatever its scopes. A `fresh` one has to have given the
     * password within the last ten minutes, by logging in or again.
     */
    login?: 'any' | 'fresh'
  }
}

declare module '@fastify/jwt' {
  interface FastifyJWT {
    /** `request.user`: null on public routes where no valid token was sent. */
    user: Caller | null
  }
}

export const KEY_PREFIX = 'agro_'

const TOKEN_OF_NO_USE = 'The token is not valid, has expired or has ended: refresh it, or log in again.'

const AUTHORIZATION = 'authorization'

/** RFC 6750: one space, and the characters of a token. The scheme's case does not matter (RFC 9110). */
const BEARER = /^Bearer ([A-Za-z0-9\-._~+/]+=*)$/i

/**
 * Every route needs an access token or a key, unless its config says `public: true`: a route that
 * somebody forgets to think about is closed, not open. Unknown paths stay 404 for everybody.
 */
export const authentication = fp(
  async (app: App, { accounts }: { accounts: Accounts }) => {
    // It also decorates the request with `user`, which is null until somebody is known.
    const tokens = await createAccessTokens(
      app,
      await loadSecrets(app.config),
      app.config.ACCESS_TOKEN_MINUTES * 60,
    )
    const callers = createCallerLookup<Caller>(app, async (token) => {
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

    /** Finds out whom a request comes from; with an error that says why it is nobody who may do this. */
    async function identify(
      request: FastifyRequest,
      reply: FastifyReply,
      config: FastifyContextConfig,
    ): Promise<Caller> {
      const token = tokenOf(request)
      const caller = token && (await callers.find(token, request, reply))
      if (!caller) throw unauthorized(request)
      if (caller.keyId !== null) app.countKeyRequest(caller.keyId)
      const scope = scopeOf(config)
      if (scope !== undefined && !permits(caller, scope)) throw insufficientScope(scope)
      return caller
    }

    async function identifyOrGoOn(
      request: FastifyRequest,
      reply: FastifyReply,
      config: FastifyContextConfig,
    ) {
      if (!sendsToken(request)) return
      try {
        request.user = await identify(request, reply, config)
      } catch (error) {
        // Whatever public routes can say without the database they say to everybody.
        request.callerError = error as Error
        if (error instanceof ApiError && error.status < 500) reply.headers(error.headers)
        else app.logFailure(error, 'a caller could not be looked up', request.log)
      }
    }

    async function admit(request: FastifyRequest, reply: FastifyReply, config: FastifyContextConfig) {
      if (config.public) return identifyOrGoOn(request, reply, config)
      request.user = await identify(request, reply, config)
      const { role, login } = config
      if (login) await refuseOtherThanLogin(accounts, request, reply, login)
      if (role && request.user.role !== role) {
        throw notAllowed(request.user, `This is for callers with the role ${role}.`)
      }
    }

    app.addHook('onRoute', (route) => {
      const guard = (request: FastifyRequest, reply: FastifyReply, done: HookHandlerDoneFunction) => {
        // Plugins that come later may still mark the route.
        const { config = {} } = route
        // Most requests are for public routes, and anonymous or from callers who have just been here: those wait for nothing.
        if (config.public) {
          if (request.headers.authorization === undefined) return done()
          request.user = knownCaller(callers, request, config)
          if (request.user) {
            if (request.user.keyId !== null) app.countKeyRequest(request.user.keyId)
            return done()
          }
        }
        admit(request, reply, config).then(() => done(), done)
      }
      route.onRequest = [guard, ...[route.onRequest ?? []].flat()]
    })
  },
  { name: 'authentication', dependencies: ['error-handler', 'key-usage'] },
)

/** The caller of a request whose token is remembered, and who may do this; null where more has to be found out. */
function knownCaller(
  { known }: CallerLookup<Caller>,
  request: FastifyRequest,
  { scope }: FastifyContextConfig,
): Caller | null {
  const token = tokenOf(request)
  const caller = token === undefined ? undefined : known(token)
  return caller && (scope === undefined || permits(caller, scope)) ? caller : null
}

/** @throws {ApiError} where the caller is a key, or a login that is not as fresh as it has to be */
async function refuseOtherThanLogin(
  accounts: Accounts,
  request: FastifyRequest,
  reply: FastifyReply,
  login: 'any' | 'fresh',
): Promise<void> {
  const { sessionId } = callerOf(request)
  if (sessionId === null) throw loginRequired()
  if (login === 'any') return
  // Asked anew: the password may just have been given to another process.
  const fresh = await withTimeout(request, reply, () => accounts.isFresh(sessionId))
  if (fresh === undefined) throw unauthorized(request)
  if (!fresh) throw reauthenticationRequired()
}

/** The caller of a route that is not public. */
export function callerOf({ user }: FastifyRequest): Caller {
  if (user === null) throw new Error('a public route does not know its caller')
  return user
}

/** The user and the session of a route that is for logins alone. */
export function sessionOf(request: FastifyRequest): { id: string; sessionId: string } {
  const { id, sessionId } = callerOf(request)
  if (sessionId === null) throw new Error('a route for logins alone let a key in')
  return { id, sessionId }
}

/** What a key needs on a route; undefined where nothing depends on it. */
export function scopeOf({ public: open, login, scope }: FastifyContextConfig): Scope | undefined {
  return scope ?? (open || login ? undefined : 'account')
}

/** Whether a caller may do what a scope is about. */
export function permits({ scopes }: Caller, scope: Scope): boolean {
  return scopes.includes(scope)
}

/** The token of the one Authorization header; undefined where there is none, or more than one. */
function tokenOf({ headers, raw }: FastifyRequest): string | undefined {
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

/** Whether a request has a token, such as it is; what other schemes send is meant for somebody else. */
function sendsToken({ headers }: FastifyRequest): boolean {
  return /^Bearer\b/i.test(headers.authorization ?? '')
}

/** Why a request is from nobody. Only a token can be wrong (RFC 6750, 3.1). */
function unauthorized(request: FastifyRequest): ApiError {
  if (!sendsToken(request)) {
    return new ApiError(
      'UNAUTHORIZED',
      `This needs a token: log in with POST ${BASE}/auth/login and send \`Authorization: Bearer <access_token>\`.`,
    )
  }
  return new ApiError('UNAUTHORIZED', TOKEN_OF_NO_USE).withHeader(
    'www-authenticate',
    'Bearer realm="agro-advisory", error="invalid_token"',
  )
}
