import type { Kysely } from 'kysely'
import type { Tables } from '#src/database/tables.ts'
import { type CountryExtent, listCountryExtents } from '#src/domains/reference/queries.ts'
import { ApiError } from '#src/errors.ts'
import { createFreshValue } from '#src/lib/fresh-value.ts'
import type { Rings } from '#src/raster/rings.ts'
import { invalid } from './geometry.ts'

/**
 * Makes what refuses polygons that lie outside all countries.
 *
 * @param maxAgeMs how old what is known of the countries may be
 * @throws {ApiError} (the promise) OUTSIDE_COUNTRY, or INVALID_GEOMETRY where the coordinates look swapped
 */
export function createElsewhereRefusal(
  db: Kysely<Tables>,
  maxAgeMs: number,
): (polygons: Rings[], countryCode: string) => Promise<void> {
  const countryExtents = createFreshValue(() => listCountryExtents(db), maxAgeMs)

  return async (polygons, countryCode) => {
    const countries = await countryExtents()
    // A country whose extent is not known may be anywhere: nothing that it is asked about lies elsewhere.
    if (countries.some(({ code, extent }) => code === countryCode && extent === null)) return
    if (meetsAny(countries, polygons, 0)) return
    if (meetsAny(countries, polygons, 1)) {
      throw invalid(
        'geometry',
        'lies outside the countries of the service, and would not if its coordinates were swapped: did you mean lng, lat? GeoJSON has the longitude first',
      )
    }
    const names = countries
      .filter(({ extent }) => extent !== null)
      .map(({ name }) => name)
      .join(', ')
    throw new ApiError('OUTSIDE_COUNTRY', `The polygon lies outside the countries of the service (${names}).`)
  }
}

/** Degrees around the extents of countries: rasters reach over outlines. */
const BEYOND = 0.5

/** Whether polygons reach into the known extent of any country, with longitude and latitude swapped or not. */
function meetsAny(countries: CountryExtent[], polygons: Rings[], swapped: 0 | 1): boolean {
  const low = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY] as [number, number]
  const high = [Number.NEGATIVE_INFINITY, Number.NEGATIVE_INFINITY] as [number, number]
  for (const [shell] of polygons) {
    for (const [at, number] of (shell as Float64Array).entries()) {
      const axis = ((at + swapped) % 2) as 0 | 1
      low[axis] = Math.min(low[axis], number)
      high[axis] = Math.max(high[axis], number)
    }
  }
  return countries.some(({ extent }) => {
    if (extent === null) return false
    const [west, south, east, north] = extent
    return (
      low[0] <= east + BEYOND &&
      high[0] >= west - BEYOND &&
      low[1] <= north + BEYOND &&
      high[1] >= south - BEYOND
    )
  })
}
