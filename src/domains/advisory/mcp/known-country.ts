import { unknownCountry } from '#src/errors.ts'
import { codesOf, type Snapshot } from '../lookup/snapshot.ts'

/**
 * The code of a country as it is stored; null where none was sent.
 *
 * @throws {ApiError} INVALID_PARAMETERS where it is none of ours
 */
export function knownCountry(snapshot: Snapshot, code: string | undefined): string | null {
  if (code === undefined) return null
  const normal = code.trim().toLowerCase()
  const codes = codesOf(snapshot)
  if (!codes.includes(normal)) throw unknownCountry('country_code', codes)
  return normal
}
