import { DEFAULT_SCOPES, type Scope } from '#schemas/keys.ts'
import { ApiError } from '#src/errors.ts'

/**
 * The scopes of a new key: those that are asked for; else the default ones, as far as its maker has them.
 *
 * @param held the scopes of whoever makes it
 * @throws {ApiError} INVALID_PARAMETERS where they are more than its maker's, who cannot give them away
 */
export function grantedScopes(asked: readonly Scope[] | undefined, held: readonly Scope[]): Scope[] {
  const wanted = new Set(asked ?? DEFAULT_SCOPES.filter((scope) => held.includes(scope)))
  const granted = held.filter((scope) => wanted.has(scope))
  if (granted.length > 0 && granted.length === wanted.size) return granted
  throw ApiError.invalid('scopes', 'must be some of those that the key has which makes it', [...held])
}
