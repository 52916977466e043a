import type { Transaction } from 'kysely'
import type { Tables } from '#src/database/tables.ts'
import { OperatorError } from '#src/errors.ts'
import type { CountryPlace } from './place.ts'
import { type Finding, linkByCode, linkByOverlap } from './staging-queries.ts'

/**
 * The part of the areas that may be without a parent of the code they name, or inside none at all: an
 * area or two were split, renamed or drawn differently. If it is more, the two levels do not belong together.
 */
const TOLERATED = 0.5

/**
 * Links staged areas to those of the level above: by their parents' codes, and where there is none of
 * that code, by the largest overlap.
 *
 * @returns what was not linked by code
 * @throws {OperatorError} where the level above is that of other areas
 */
export async function linkParents(
  trx: Transaction<Tables>,
  country: CountryPlace,
  level: number,
): Promise<Finding[]> {
  if (level === 0) return []
  const { total, unlinked } = await linkByCode(trx, country.code, level)
  // Level 0 may be missing: a country needs no outline to have regions.
  if (level === 1) return []
  const above = `level ${level - 1} of ${country.name}`
  const misnamed = unlinked.filter(({ parentCode }) => parentCode !== null)
  if (misnamed.length > TOLERATED * total) {
    const codes = [...new Set(misnamed.map(({ parentCode }) => String(parentCode)))]
    throw new OperatorError(
      `No areas of ${above} have the parents' codes ${someOf(codes)}: are these areas of level ${level}? If they are, --parent-property none links them by overlap.`,
    )
  }
  const parents = await linkByOverlap(trx, country.code, level)
  const outside = unlinked.filter(({ area }) => !parents.has(area)).map(({ area }) => area)
  if (outside.length > TOLERATED * total) {
    throw new OperatorError(
      `${outside.length} of the areas lie in none of the areas of ${above}: ${someOf(outside)}.`,
    )
  }
  return unlinked.map(({ area, parentCode }) => {
    const parent = parents.get(area)
    const why = parentCode === null ? 'it names no parent' : `its parent ${parentCode} is not there`
    const then = parent === undefined ? `and it lies in no area of ${above}` : `it lies mostly in ${parent}`
    return { area, reason: `${why}; ${then}` }
  })
}

/** Codes named in a sentence. */
const NAMED_CODES = 5

/** The first few of some codes. */
export function someOf(codes: string[]): string {
  return codes.slice(0, NAMED_CODES).join(', ') + (codes.length > NAMED_CODES ? ', ...' : '')
}
