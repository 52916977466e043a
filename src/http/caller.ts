import type { FastifyContextConfig, FastifyRequest } from 'fastify'
import type { Scope } from '#schemas/keys.ts'
import type { Role } from '#schemas/user.ts'
import type { ApiError } from '#src/errors.ts'

export interface Caller {
  id: string
  /** It may be less than the role of the account; a key needs a scope for it. */
  role: Role
  /** What refuses the rights of admins to an admin, for a step of the login that is lacking. */
  refuseAdmin?: () => ApiError
  sessionId: string | null
  /** Null for a session. */
  keyId: string | null
  /** Of a key; a session has all rights of its user. */
  scopes: readonly Scope[]
}

declare module 'fastify' {
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
