import { OperatorError } from '#src/errors.ts'
import type { Bounds } from './geometry.ts'

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
