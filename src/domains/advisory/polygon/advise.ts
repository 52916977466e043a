import type { FastifyBaseLogger } from 'fastify'
import { type Ask, askUntil } from '#src/database/cancellable.ts'
import type { Database } from '#src/database/client.ts'
import { ApiError, unknownCountry } from '#src/errors.ts'
import type { Series } from '#src/products/series.ts'
import { decodeMultiPolygon, encodeMultiPolygon, type Rings } from '#src/raster/geometry-wkb.ts'
import type { Lookup } from '../lookup/lookup.ts'
import type { Position, ReleaseLabels } from '../lookup/queries.ts'
import { ReplacedMeanwhile } from '../lookup/replaced.ts'
import { codesOf, type Snapshot } from '../lookup/snapshot.ts'
import { createCoverageFinder } from './coverages.ts'
import { refuseNesting } from './nesting.ts'
import { type AreaReference, examinePolygon, findArea, persistAreaResult, readArea } from './queries.ts'
import { createElsewhereRefusal, notValid } from './refusals.ts'
import { isRelease } from './zonal-queries.ts'
import { type ZonalStatistics, zonalStatistics } from './zonal-statistics.ts'

/** What the release that answers says of a polygon. */
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

/** What the database stores of an area once it has been computed. */
type StoredStatistics = ZonalStatistics & Position

/** @param maxAgeMs how old what is known of the countries may be */
export function createPolygonAdvisor(
  database: Database,
  lookup: Lookup,
  maxAgeMs: number,
  log: FastifyBaseLogger,
): PolygonAdvisor {
  const coveragesOf = createCoverageFinder(database.reader)
  const refuseElsewhere = createElsewhereRefusal(database.reader, maxAgeMs)
  const { reasons } = lookup

  /** @throws {ReplacedMeanwhile} where the release has been deleted before all of it was read */
  async function statisticsIn(
    ask: Ask,
    signal: AbortSignal,
    releaseId: number,
    polygons: Rings[],
  ): Promise<ZonalStatistics> {
    const statistics = await zonalStatistics(ask, signal, await coveragesOf(releaseId), polygons)
    // Tiles of a deleted release look like tiles without a value.
    if (!(await isRelease(ask, releaseId))) throw new ReplacedMeanwhile()
    return statistics
  }

  async function withValues<Advice extends PolygonAdvice>(
    snapshot: Snapshot,
    series: Series,
    advice: Advice,
  ): Promise<Advice> {
    if (advice.statistics.layers.some((layer) => layer !== null)) return advice
    throw await reasons.noValue(snapshot, series, advice.position, 'polygon')
  }

  return {
    async advise(series, polygons, signal) {
      const ask = askUntil(database, signal)
      await refuseElsewhere(polygons)
      refuseNesting(polygons)
      const examined = await examinePolygon(ask, encodeMultiPolygon(polygons))
      const { reason, longitude, latitude } = examined
      if (reason !== null || longitude === null || latitude === null) throw notValid(examined)
      const position = { longitude, latitude }
      return lookup.inRelease(series, async (snapshot, release) => {
        if (!release) throw await reasons.noRelease(snapshot, { ...series, ...position }, 'polygon')
        const statistics = await statisticsIn(ask, signal, release.id, polygons)
        return withValues(snapshot, series, { release, position, statistics })
      })
    },

    adviseArea(series, reference, signal) {
      const ask = askUntil(database, signal)
      return lookup.inRelease(series, async (snapshot, release) => {
        const area = await findArea(ask, reference, release?.id ?? null)
        if (!area) throw unknownArea(snapshot, reference)
        if (!release) throw await reasons.noRelease(snapshot, series)
        const { id, name } = area
        const { longitude, latitude, ...statistics } =
          (area.statistics as StoredStatistics | null) ?? (await computeArea(ask, signal, release.id, id))
        const position = { longitude, latitude }
        return withValues(snapshot, series, { name, release, position, statistics })
      })
    },
  }

  /** Computes what a release comes to in an area, and stores it for those who ask next. */
  async function computeArea(
    ask: Ask,
    signal: AbortSignal,
    releaseId: number,
    areaId: number,
  ): Promise<StoredStatistics> {
    const shape = await readArea(ask, areaId)
    // Its boundaries are being replaced.
    if (!shape) throw new ReplacedMeanwhile()
    const { wkb, version, longitude, latitude } = shape
    const statistics = await statisticsIn(ask, signal, releaseId, decodeMultiPolygon(wkb))
    const stored = { ...statistics, longitude, latitude }
    await persistAreaResult(database.writer, { areaId, releaseId, version }, stored).catch((error) =>
      // The answer is right even where it could not be stored.
      log.warn({ err: error }, 'the result of an area could not be kept'),
    )
    return stored
  }
}

function unknownArea(snapshot: Snapshot, { countryCode, code, level }: AreaReference): ApiError {
  const country = snapshot.countries.find((candidate) => candidate.code === countryCode)
  if (!country) return unknownCountry('admin.country_code', codesOf(snapshot))
  const ofLevel = level === null ? '' : ` of level ${level}`
  return new ApiError(
    'UNKNOWN_AREA',
    `${country.name} has no area${ofLevel} with the code ${code}; GET /admin lists them.`,
    [{ field: 'admin.code', message: `admin.code must be the code of an area of ${country.name}` }],
  )
}
