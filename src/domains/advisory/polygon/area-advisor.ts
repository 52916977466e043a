import type { AdvisedArea } from '#schemas/areas.ts'
import type { Database } from '#src/database/client.ts'
import type { AreaReference } from '#src/domains/areas/queries.ts'
import { ApiError, BASE, unknownCountry } from '#src/errors.ts'
import type { LogFailure } from '#src/http/plugins/failure-log.ts'
import type { Series } from '#src/products/series.ts'
import type { DistributionWanted } from '#src/raster/distribution.ts'
import { decodeMultiPolygon } from '#src/raster/geometry-wkb.ts'
import type { WorkInRelease } from '../lookup/answering.ts'
import type { Lookup } from '../lookup/lookup.ts'
import type { PublishedRelease } from '../lookup/published-release.ts'
import { ReplacedMeanwhile } from '../lookup/replaced.ts'
import { codesOf, type Snapshot } from '../lookup/snapshot.ts'
import { adviceFrom, type LocatedStatistics, type PolygonAdvice, withValues } from './advice.ts'
import type { Computation, Waiting } from './computing.ts'
import { interiorPointOf } from './interior-point.ts'
import { type AreaInRelease, findArea, persistAreaResult, readArea } from './queries.ts'
import { type ReleaseStatistics, refuseUnlessThere } from './release-statistics.ts'
import { keyOfArea, type RememberedStatistics } from './remembered-statistics.ts'

export type AreaAdvice = PolygonAdvice & { admin: AdvisedArea }

type Wanted = DistributionWanted | null

/** Answers for administrative areas. */
export interface AreaAdvisor {
  /**
   * Advice from the release that answers for a series.
   *
   * @throws {ApiError} which says why there is no answer
   */
  advise(series: Series, area: AreaReference, wanted: Wanted, waiting: Waiting): Promise<AreaAdvice>
  /**
   * Advice from a release for an area that was found, which may be without any value.
   *
   * @throws {ReplacedMeanwhile} where the release or the area has been deleted: to be called within `inRelease`
   */
  adviseOn(
    area: AreaInRelease,
    release: PublishedRelease,
    wanted: Wanted,
    waiting: Waiting,
  ): Promise<AreaAdvice>
}

export function createAreaAdvisor(
  database: Database,
  lookup: Lookup,
  statisticsIn: ReleaseStatistics,
  remembered: RememberedStatistics,
  logFailure: LogFailure,
): AreaAdvisor {
  const { reasons } = lookup
  const { findOrCompute, recallOrCompute } = createAreaStatistics(
    database,
    statisticsIn,
    remembered,
    logFailure,
  )

  async function adviseOn(
    area: AreaInRelease,
    release: PublishedRelease,
    wanted: Wanted,
    { compute }: Waiting,
  ): Promise<AreaAdvice> {
    const { countryCode, level, code, name } = area
    const located = await (wanted
      ? compute((computation) => recallOrCompute(computation, area, release.id, wanted))
      : (area.statistics ?? compute((computation) => findOrCompute(computation, area, release.id))))
    return { admin: { country_code: countryCode, level, code, name }, ...adviceFrom(release, located) }
  }

  return {
    adviseOn,
    advise(series, reference, wanted, waiting) {
      const { wait, waitInTurn } = waiting
      const adviseIn: WorkInRelease<AreaAdvice> = async (snapshot, release) => {
        const area = await waitInTurn(() => findArea(database.reader, reference, release?.id ?? null))
        if (!area) throw unknownArea(snapshot, reference)
        if (!release) throw await wait(() => reasons.noRelease(snapshot, series))
        const advice = await adviseOn(area, release, wanted, waiting)
        return withValues(reasons, wait, snapshot, series, advice)
      }
      return lookup.inRelease(series, adviseIn, wait)
    },
  }
}

/** Makes what finds out what releases come to in areas. */
function createAreaStatistics(
  database: Database,
  statisticsIn: ReleaseStatistics,
  remembered: RememberedStatistics,
  logFailure: LogFailure,
) {
  /** Computes what a release comes to in an area, and stores it for those who ask next. */
  async function computeArea(
    computation: Computation,
    releaseId: number,
    areaId: number,
    wanted: Wanted,
  ): Promise<LocatedStatistics> {
    const shape = await readArea(computation.ask, areaId)
    // Its boundaries are being replaced.
    if (!shape) throw new ReplacedMeanwhile()
    const { wkb, version } = shape
    const polygons = decodeMultiPolygon(wkb)
    const statistics = await statisticsIn(computation, releaseId, polygons, wanted)
    const stored = { ...statistics, ...interiorPointOf(polygons) }
    if (wanted) {
      remembered.set(keyOfArea(releaseId, { id: areaId, version }, wanted), stored)
      return stored
    }
    await persistAreaResult(database.writer, { areaId, releaseId, version }, stored).catch((error) =>
      // The answer is right even where it could not be stored.
      logFailure(error, 'the result of an area could not be kept'),
    )
    return stored
  }

  async function findOrCompute(
    computation: Computation,
    area: AreaInRelease,
    releaseId: number,
  ): Promise<LocatedStatistics> {
    // Others may have asked for it, too, while this one waited for its turn.
    const found = await computation.wait(() => findArea(database.reader, area, releaseId))
    return found?.statistics ?? computeArea(computation, releaseId, area.id, null)
  }

  async function recallOrCompute(
    computation: Computation,
    area: AreaInRelease,
    releaseId: number,
    wanted: DistributionWanted,
  ): Promise<LocatedStatistics> {
    const known = remembered.get(keyOfArea(releaseId, area, wanted))
    if (!known) return computeArea(computation, releaseId, area.id, wanted)
    await refuseUnlessThere(computation.ask, releaseId)
    return known
  }

  return { findOrCompute, recallOrCompute }
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
