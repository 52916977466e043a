import type {
  FastifyContextConfig,
  FastifyError,
  FastifyReply,
  FastifyRequest,
  HookHandlerDoneFunction,
} from 'fastify'
import fp from 'fastify-plugin'
import type { Scope } from '#schemas/keys.ts'
import type { Role } from '#schemas/user.ts'
import { ApiError, BASE, notAllowed } from '#src/errors.ts'
import type { Exchange } from '#src/http/exchange.ts'
import { type AccessTokens, createAccessTokens, loadSecrets } from '../access-tokens.ts'
import type { App } from '../app.ts'
import { type Accounts, type Caller, createCallers } from './callers.ts'
import { CHALLENGE, toApiError } from './error-handler.ts'

declare module 'fastify' {
  interface FastifyInstance {
    accessTokens: AccessTokens
    /** Removes callers from the cache of this process; other processes forget them within seconds. */
    forgetCallers(condition: (caller: Caller) => boolean): void
  }
  interface FastifyRequest {
    /** Why a token on a public route has no caller: it is of no use, or its caller could not be looked up. */
    callerError: ApiError | null
  }
  interface FastifyContextConfig {
    /** The route needs no token; a valid one sets the caller. */
    public?: boolean
    role?: Role
    /** The scopes that a key needs, all of them, by default `account`. On a public route a key without them is no caller. */
    scope?: Scope | readonly Scope[]
    /** The route is for logins, not for keys. A `fresh` one gave the password within the last ten minutes. */
    login?: 'any' | 'fresh'
  }
}

declare module '@fastify/jwt' {
  interface FastifyJWT {
    /** `request.user`: null on public routes without a valid token. */
    user: Caller | null
  }
}

export const KEY_PREFIX = 'agro_'

const TOKEN_OF_NO_USE = 'The token is not valid, has expired or has ended: refresh it, or log in again.'

const AUTHORIZATION = 'authorization'

/** RFC 6750: one space, and the characters of a token. The scheme's case does not matter (RFC 9110). */
const BEARER = /^Bearer ([A-Za-z0-9\-._~+/]+=*)$/i

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

/**
 * The caller of a public route, where the answer depends on it; null for anybody.
 *
 * @throws {ApiError} of 503 where a token was sent and its caller could not be looked up
 */
export function findCaller({ user, callerError }: FastifyRequest): Caller | null {
  if (callerError && callerError.status >= 500) throw callerError
  return user
}

export function requireCaller({ user }: FastifyRequest): Caller {
  if (user === null) throw new Error('a public route does not know its caller')
  return user
}

export function requireSession(request: FastifyRequest): { id: string; sessionId: string } {
  const { id, sessionId } = requireCaller(request)
  if (sessionId === null) throw new Error('a route for logins alone let a key in')
  return { id, sessionId }
}

/** The scopes that a key needs on a route; none where nothing depends on them. */
export function listScopes({ public: open, login, scope }: FastifyContextConfig): readonly Scope[] {
  return [scope ?? (open || login ? [] : 'account')].flat()
}

export function permits({ scopes }: Caller, scope: Scope): boolean {
  return scopes.includes(scope)
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
