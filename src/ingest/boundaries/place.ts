import type { Transaction } from 'kysely'
import type { Tables } from '#src/data/tables.ts'
import { OperatorError } from '#src/errors.ts'
import type { Bounds } from './geometry.ts'
import { type Finding, linkByCode, linkByOverlap } from './staging-queries.ts'

export interface CountryPlace {
  code: string
  name: string
  /** Null for an unknown place. */
  bounds: Bounds | null
}

/** Degrees. */
const MARGIN = 1

/**
 * A country without bounds accepts any place.
 *
 * @throws {OperatorError} guesses the mistake: swapped coordinates, a projection, or another country
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

/** Some areas were split, renamed or redrawn; with a larger share the levels do not belong together. */
const TOLERATED = 0.5

/**
 * By parents' codes, else by the largest overlap.
 *
 * @returns the areas not linked by code
 */
export async function linkParents(
  trx: Transaction<Tables>,
  country: CountryPlace,
  level: number,
): Promise<Finding[]> {
  if (level === 0) return []
  const { total, unlinked } = await linkByCode(trx, country.code, level)
  // A country needs no outline for its regions.
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

const NAMED_CODES = 5

export function someOf(codes: string[]): string {
  return codes.slice(0, NAMED_CODES).join(', ') + (codes.length > NAMED_CODES ? ', ...' : '')
}
