import type { Transaction } from 'kysely'
import type { Tables } from '#src/data/tables.ts'
import { OperatorError } from '#src/errors.ts'
import type { Bounds } from './geometry.ts'
import { type Finding, linkByCode, linkByOverlap } from './staging-queries.ts'

export interface CountryPlace {
  code: string
  name: string
  /** Null where nobody knows where it lies. */
  bounds: Bounds | null
}

/** Degrees by which areas may reach beyond the bounds of their country. */
const MARGIN = 1

/**
 * Whether it lies elsewhere is not known of a country that has no bounds yet.
 *
 * @throws {OperatorError} where an area does not lie in the country; the sentence says what is probably
 * wrong with the file: swapped coordinates, a projection, or another country
 */
export function refuseOtherPlace(
  subject: string,
  bounds: Bounds,
  country: CountryPlace,
  countries: CountryPlace[],
): void {
  const [west, south, east, north] = bounds
  const onEarth = west >= -180 && south >= -90 && east <= 180 && north <= 90
  if (country.bounds === null ? onEarth : within(bounds, country.bounds)) return
  const corner = `${rounded(west)}, ${rounded(south)}`
  if (within([south, west, north, east], country.bounds)) {
    throw new OperatorError(
      `${subject} begins at ${corner}, which lies in ${country.name} only with the coordinates swapped: did you mean lng, lat?`,
    )
  }
  if (!onEarth) {
    throw new OperatorError(
      `${subject} begins at ${corner}, which are not degrees: convert the file to WGS 84 with \`ogr2ogr -t_srs EPSG:4326\`.`,
    )
  }
  const other = countries.find((candidate) => within(bounds, candidate.bounds))
  const guess = other ? ` It seems to be of ${other.name}.` : ''
  throw new OperatorError(
    `${subject} does not lie in ${country.name}: it reaches from ${corner} to ${rounded(east)}, ${rounded(north)}.${guess}`,
  )
}

function within([west, south, east, north]: Bounds, outer: Bounds | null): boolean {
  return (
    outer !== null &&
    west >= outer[0] - MARGIN &&
    south >= outer[1] - MARGIN &&
    east <= outer[2] + MARGIN &&
    north <= outer[3] + MARGIN
  )
}

function rounded(degrees: number): string {
  return String(Number(degrees.toFixed(4)))
}

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
