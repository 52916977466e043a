import type { Scope } from '#schemas/keys.ts'
import { isDatabaseReadOnly, isDatabaseUnavailable } from '#src/database/failures.ts'
import { ApiError, BASE } from '#src/errors.ts'
import { isUnreadable } from '#src/tiles/failures.ts'

/** What a caller is told who has not the role for something. */
export function notAllowed({ lacksTwoFactor }: { lacksTwoFactor?: boolean }, sentence: string): ApiError {
  if (!lacksTwoFactor) return new ApiError('FORBIDDEN', sentence)
  return new ApiError(
    'TWO_FACTOR_SETUP_REQUIRED',
    `Admins need a second factor: set one up with POST ${BASE}/auth/two-factor.`,
  )
}

/** What a key is told where it takes a login. */
export function loginRequired(): ApiError {
  return new ApiError('LOGIN_REQUIRED', 'No key may do this: it takes the token of a login.')
}

/** What a login is told whose password was given too long ago. */
export function reauthenticationRequired(): ApiError {
  return new ApiError(
    'REAUTHENTICATION_REQUIRED',
    `This takes a password that was given within the last ten minutes: send it to POST ${BASE}/auth/reauthenticate.`,
  )
}

/** What a key is told that has not the scope of a route. */
export function insufficientScope(scope: Scope): ApiError {
  return new ApiError(
    'INSUFFICIENT_SCOPE',
    `The key may not do this: it takes one with the scope ${scope}, or the token of a login.`,
  ).withHeader(
    'www-authenticate',
    `Bearer realm="agro-advisory", error="insufficient_scope", scope="${scope}"`,
  )
}

/** What a caller is told whose account was deleted since it was let in. */
export function accountDeleted(): ApiError {
  return new ApiError('UNAUTHORIZED', 'The account has been deleted.')
}

/** What a request is told that has waited for the database as long as it may. */
export function databaseUnavailable(): ApiError {
  return new ApiError('DATABASE_UNAVAILABLE', 'The database does not answer; try again later.')
}

/** What a request is told where the database, or the store of tiles, cannot do it now; undefined where something else is wrong. */
export function databaseError(error: unknown): ApiError | undefined {
  if (isUnreadable(error)) {
    return new ApiError('DATABASE_UNAVAILABLE', 'The rasters cannot be read at present; try again later.')
  }
  if (isDatabaseReadOnly(error)) {
    return new ApiError('DATABASE_READ_ONLY', 'The database stores nothing at present; try again later.')
  }
  return isDatabaseUnavailable(error) ? databaseUnavailable() : undefined
}
