import type { FastifyBaseLogger } from 'fastify'
import { askUntil } from '#src/database/cancellable.ts'
import type { Database } from '#src/database/client.ts'
import { ApiError } from '#src/errors.ts'
import type { Series } from '#src/products/series.ts'
import { decodeMultiPolygon, encodeMultiPolygon, type Rings } from '#src/raster/geometry-wkb.ts'
import { findReleases, listCountries, type Position, type ReleaseLabels } from '../lookup/queries.ts'
import type { Reasons } from '../lookup/reasons.ts'
import { invalid } from './geometry.ts'
import { placeOf, refuseNesting } from './nesting.ts'
import {
  type AreaReference,
  type CountryBounds,
  examinePolygon,
  findArea,
  listCountryBounds,
  persistAreaResult,
  readArea,
} from './queries.ts'
import { listCoverages, type ZonalCoverage } from './zonal-queries.ts'
import { type ZonalStatistics, zonalStatistics } from './zonal-statistics.ts'

/** What the release that answers says of an area. */
export interface PolygonAdvice {
  release: ReleaseLabels
  /** A position inside. */
  position: Position
  statistics: ZonalStatistics
}

export type AreaAdvice = PolygonAdvice & { name: string }

/**
 * Answers for polygons and administrative areas from the published releases, until a signal ends it.
 *
 * Both throw an {@link ApiError} that says why there is no answer.
 */
export interface PolygonAdvisor {
  /** @param polygons as `readGeoJson` has read them */
  advise(series: Series, polygons: Rings[], signal: AbortSignal): Promise<PolygonAdvice>
  adviseArea(series: Series, area: AreaReference, signal: AbortSignal): Promise<AreaAdvice>
}

/** Of so many releases the labels and grids are kept; each is a kilobyte or two. */
const KEPT_RELEASES = 500

interface ZonalRelease {
  labels: ReleaseLabels
  coverages: ZonalCoverage[]
}

/** What is kept in the database of an area. */
type KeptStatistics = ZonalStatistics & Position

export function createPolygonAdvisor(
  database: Database,
  reasons: Reasons,
  log: FastifyBaseLogger,
): PolygonAdvisor {
  const db = database.reader
  const releases = new Map<number, ZonalRelease>()
  let bounds: CountryBounds[] | undefined

  /** The labels and grids of a release, whose content never changes; undefined where it was deleted. */
  async function releaseOf(id: number): Promise<ZonalRelease | undefined> {
    const kept = releases.get(id)
    if (kept) return kept
    const [labels] = await findReleases(db, [id])
    const coverages = await listCoverages(db, id)
    if (!labels || coverages.length === 0) return undefined
    const release = { labels, coverages }
    // Their summaries may still be made, after which they are to be used.
    if (!coverages.every(({ summarised }) => summarised)) return release
    if (releases.size >= KEPT_RELEASES) releases.delete(releases.keys().next().value as number)
    releases.set(id, release)
    return release
  }

  async function refuseElsewhere(polygons: Rings[]): Promise<void> {
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

  async function advise(series: Series, polygons: Rings[], signal: AbortSignal): Promise<PolygonAdvice> {
    const ask = askUntil(database, signal)
    await refuseElsewhere(polygons)
    refuseNesting(polygons)
    const examined = await examinePolygon(ask, series, encodeMultiPolygon(polygons))
    const { reason, longitude, latitude, releaseId } = examined
    if (reason !== null || longitude === null || latitude === null) throw notValid(examined)
    const position = { longitude, latitude }
    if (releaseId === null) throw await reasons.noRelease({ ...series, ...position }, 'polygon')
    const release = await releaseOf(releaseId)
    // Deleted in between: what has taken its place answers.
    if (!release) return advise(series, polygons, signal)
    const statistics = await zonalStatistics(ask, signal, release.coverages, polygons)
    return withValues(series, { release: release.labels, position, statistics })
  }

  async function adviseArea(series: Series, area: AreaReference, signal: AbortSignal): Promise<AreaAdvice> {
    const ask = askUntil(database, signal)
    const found = await findArea(ask, series, area)
    if (!found) throw await unknownArea(area)
    const { id, name, releaseId } = found
    if (releaseId === null) throw await reasons.noRelease(series)
    const release = await releaseOf(releaseId)
    if (!release) return adviseArea(series, area, signal)
    const kept = found.statistics as KeptStatistics | null
    if (kept) {
      const { longitude, latitude, ...statistics } = kept
      const position = { longitude, latitude }
      return { name, ...(await withValues(series, { release: release.labels, position, statistics })) }
    }
    const shape = await readArea(ask, id)
    // Its boundaries are being replaced.
    if (!shape) return adviseArea(series, area, signal)
    const polygons = decodeMultiPolygon(shape.wkb)
    const statistics = await zonalStatistics(ask, signal, release.coverages, polygons)
    const position = { longitude: shape.longitude, latitude: shape.latitude }
    await persistAreaResult(
      database.writer,
      { areaId: id, releaseId, version: shape.version },
      { ...statistics, ...position } satisfies KeptStatistics,
      // The answer is right even where it could not be kept.
    ).catch((error) => log.warn({ err: error }, 'the result of an area could not be kept'))
    return { name, ...(await withValues(series, { release: release.labels, position, statistics })) }
  }

  async function withValues(series: Series, advice: PolygonAdvice): Promise<PolygonAdvice> {
    if (advice.statistics.layers.some((layer) => layer !== null)) return advice
    throw await reasons.noValue(series, advice.position, 'polygon')
  }

  async function unknownArea({ countryCode, code, level }: AreaReference): Promise<ApiError> {
    const countries = await listCountries(db)
    const country = countries.find((candidate) => candidate.code === countryCode)
    if (!country) {
      const allowed = countries.map((candidate) => candidate.code)
      const message = `admin.country_code must be one of ${allowed.join(', ')}`
      return new ApiError('INVALID_PARAMETERS', `${message}.`, [
        { field: 'admin.country_code', message, allowed },
      ])
    }
    const ofLevel = level === null ? '' : ` of level ${level}`
    return new ApiError(
      'UNKNOWN_AREA',
      `${country.name} has no area${ofLevel} with the code ${code}; GET /admin lists them.`,
      [{ field: 'admin.code', message: `admin.code must be the code of an area of ${country.name}` }],
    )
  }

  return { advise, adviseArea }
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

function notValid({
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
