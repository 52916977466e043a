import type { Kysely } from 'kysely'
import type { Tables } from '#src/database/tables.ts'
import { ApiError } from '#src/errors.ts'
import type { Rings } from '#src/raster/geometry-wkb.ts'
import { invalid } from './geometry.ts'
import { placeOf } from './nesting.ts'
import { type CountryBounds, listCountryBounds } from './queries.ts'

/**
 * Makes what refuses polygons that lie outside all countries.
 *
 * @throws {ApiError} (the promise) OUTSIDE_COUNTRY, or INVALID_GEOMETRY where the coordinates look swapped
 */
export function createElsewhereRefusal(db: Kysely<Tables>): (polygons: Rings[]) => Promise<void> {
  let bounds: CountryBounds[] | undefined

  return async (polygons) => {
    bounds ??= await listCountryBounds(db)
    const countries = bounds
    if (meetsAny(countries, polygons, 0)) return
    if (meetsAny(countries, polygons, 1)) {
      throw invalid(
        'geometry',
        'lies outside the countries of the service, and would not if its coordinates were swapped: did you mean lng, lat? GeoJSON has the longitude first',
      )
    }
    const names = countries.map(({ name }) => name).join(', ')
    throw new ApiError('OUTSIDE_COUNTRY', `The polygon lies outside the countries of the service (${names}).`)
  }
}

/** Whether polygons reach into the rectangle of any country, with longitude and latitude swapped or not. */
function meetsAny(countries: CountryBounds[], polygons: Rings[], swapped: 0 | 1): boolean {
  const low = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY] as [number, number]
  const high = [Number.NEGATIVE_INFINITY, Number.NEGATIVE_INFINITY] as [number, number]
  for (const [shell] of polygons) {
    for (const [at, number] of (shell as Float64Array).entries()) {
      const axis = ((at + swapped) % 2) as 0 | 1
      low[axis] = Math.min(low[axis], number)
      high[axis] = Math.max(high[axis], number)
    }
  }
  return countries.some(
    ({ west, south, east, north }) =>
      low[0] <= east && high[0] >= west && low[1] <= north && high[1] >= south,
  )
}

/** What PostGIS finds wrong with a polygon, in our words. */
const REASONS: Record<string, string> = {
  'Self-intersection': 'crosses itself or another of its rings',
  'Ring Self-intersection': 'has a ring that touches itself',
  'Hole lies outside shell': 'has a hole outside of its polygon',
  'Holes are nested': 'has a hole within another hole',
  'Nested shells': 'has a polygon within another one',
  'Interior is disconnected': 'is cut into parts by its holes',
  'Duplicate Rings': 'has the same ring twice',
  'Too few points in geometry component': 'has a ring of fewer than three different positions',
}

/** The error for a polygon that PostGIS finds wrong. */
export function notValid({
  reason,
  longitude,
  latitude,
}: {
  reason: string | null
  longitude: number | null
  latitude: number | null
}): ApiError {
  const what = REASONS[reason ?? ''] ?? `is not valid (${reason ?? 'it has no inside'})`
  return invalid(
    'geometry',
    longitude === null || latitude === null ? what : `${what}, ${placeOf([longitude, latitude])}`,
  )
}
