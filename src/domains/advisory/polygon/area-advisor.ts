import type { AdvisedArea } from '#schemas/areas.ts'
import type { Database } from '#src/database/client.ts'
import type { AreaReference } from '#src/domains/areas/queries.ts'
import { ApiError, BASE, unknownCountry } from '#src/errors.ts'
import type { LogFailure } from '#src/http/plugins/failure-log.ts'
import type { Series } from '#src/products/series.ts'
import { decodeMultiPolygon } from '#src/raster/geometry-wkb.ts'
import type { Lookup, WorkInRelease } from '../lookup/lookup.ts'
import type { PublishedRelease } from '../lookup/published-release.ts'
import { ReplacedMeanwhile } from '../lookup/replaced.ts'
import { codesOf, type Snapshot } from '../lookup/snapshot.ts'
import { adviceFrom, type LocatedStatistics, type PolygonAdvice, withValues } from './advice.ts'
import type { Computation, Waiting } from './computing.ts'
import { interiorPointOf } from './interior-point.ts'
import { type AreaInRelease, findArea, persistAreaResult, readArea } from './queries.ts'
import type { ReleaseStatistics } from './release-statistics.ts'

export type AreaAdvice = PolygonAdvice & { admin: AdvisedArea }

/** Answers for administrative areas. */
export interface AreaAdvisor {
  /**
   * Advice from the release that answers for a series.
   *
   * @throws {ApiError} which says why there is no answer
   */
  advise(series: Series, area: AreaReference, waiting: Waiting): Promise<AreaAdvice>
  /**
   * Advice from a release for an area that was found, which may be without any value.
   *
   * @throws {ReplacedMeanwhile} where the release or the area has been deleted: to be called within `inRelease`
   */
  adviseOn(area: AreaInRelease, release: PublishedRelease, waiting: Waiting): Promise<AreaAdvice>
}

export function createAreaAdvisor(
  database: Database,
  lookup: Lookup,
  statisticsIn: ReleaseStatistics,
  logFailure: LogFailure,
): AreaAdvisor {
  const { reasons } = lookup

  /** Computes what a release comes to in an area, and stores it for those who ask next. */
  async function computeArea(
    computation: Computation,
    releaseId: number,
    areaId: number,
  ): Promise<LocatedStatistics> {
    const shape = await readArea(computation.ask, areaId)
    // Its boundaries are being replaced.
    if (!shape) throw new ReplacedMeanwhile()
    const { wkb, version } = shape
    const polygons = decodeMultiPolygon(wkb)
    const statistics = await statisticsIn(computation, releaseId, polygons)
    const stored = { ...statistics, ...interiorPointOf(polygons) }
    await persistAreaResult(database.writer, { areaId, releaseId, version }, stored).catch((error) =>
      // The answer is right even where it could not be stored.
      logFailure(error, 'the result of an area could not be kept'),
    )
    return stored
  }

  async function adviseOn(
    area: AreaInRelease,
    release: PublishedRelease,
    { compute }: Waiting,
  ): Promise<AreaAdvice> {
    const { id, countryCode, level, code, name } = area
    const located =
      area.statistics ??
      (await compute(async (computation) => {
        // Others may have asked for it, too, while this one waited for its turn.
        const found = await computation.wait(() => findArea(database.reader, area, release.id))
        return found?.statistics ?? computeArea(computation, release.id, id)
      }))
    return { admin: { country_code: countryCode, level, code, name }, ...adviceFrom(release, located) }
  }

  return {
    adviseOn,
    advise(series, reference, waiting) {
      const { wait, waitInTurn } = waiting
      const adviseIn: WorkInRelease<AreaAdvice> = async (snapshot, release) => {
        const area = await waitInTurn(() => findArea(database.reader, reference, release?.id ?? null))
        if (!area) throw unknownArea(snapshot, reference)
        if (!release) throw await wait(() => reasons.noRelease(snapshot, series))
        return withValues(reasons, wait, snapshot, series, await adviseOn(area, release, waiting))
      }
      return lookup.inRelease(series, adviseIn, wait)
    },
  }
}

function unknownArea(snapshot: Snapshot, { countryCode, code, level }: AreaReference): ApiError {
  const country = snapshot.countries.find((candidate) => candidate.code === countryCode)
  if (!country) return unknownCountry('admin.country_code', codesOf(snapshot))
  const ofLevel = level === null ? '' : ` of level ${level}`
  return new ApiError(
    'UNKNOWN_AREA',
    `${country.name} has no area${ofLevel} with the code ${code}; GET ${BASE}/admin lists them.`,
    [{ field: 'admin.code', message: `admin.code must be the code of an area of ${country.name}` }],
  )
}
