import type { FastifyReply, FastifyRequest } from 'fastify'
import type { App } from '#src/http/app.ts'
import type { PublishedRelease } from '#src/lookup/releases.ts'
import type { Advisors } from './advisors.ts'
import { type Advice, adviceFrom, listStatisticColumns, listStatisticKeys, readStatistics } from './answer.ts'
import { readGeoJson, type SentGeoJson } from './geometry.ts'
import { type AreaInRelease, listAreasInRelease, STATISTICS_VERSION } from './queries.ts'

/** The statistics of a release in a region, in the order of its columns; null where a layer has no value. */
export type RegionValues = readonly (number | null)[]

/** Some areas of a level, in the order of their codes. */
interface AreaRun {
  countryCode: string
  level: number
  /** The code of the area before them; null for the beginning. */
  after: string | null
  count: number
}

/** The statistics of releases in areas and polygons, for tables and maps. */
export function createRegionStatistics({ database, products }: App, advisors: Advisors) {
  function listFigures(release: PublishedRelease, advice: Pick<Advice, 'statistics'>): RegionValues {
    const product = products.of(release.product)
    return readStatistics(product, release, listStatisticKeys(product), advice)
  }

  const describeArea = (release: PublishedRelease, area: AreaInRelease) => ({
    code: area.code,
    /** The version of the boundaries of its level. */
    version: area.version,
    /** Null where nothing is stored. */
    stored: area.statistics && listFigures(release, adviceFrom(release, area.statistics)),
    /**
     * Computes and stores, with a queue and a deadline.
     *
     * @throws {ReplacedMeanwhile} where the release or the area was deleted
     */
    compute: async (request: FastifyRequest, reply: FastifyReply) =>
      listFigures(
        release,
        await advisors.adviseWithTimeout(request, reply, (waiting) =>
          advisors.adviseIn(release, area, null, waiting),
        ),
      ),
  })

  return {
    /** Changes with the computation. */
    version: String(STATISTICS_VERSION),
    columnsOf(release: PublishedRelease) {
      const product = products.of(release.product)
      return listStatisticColumns(product, release, listStatisticKeys(product))
    },
    /** Reads stored statistics; the caller has a connection. */
    async find(release: PublishedRelease, { countryCode, level, after, count }: AreaRun) {
      const selection = { countryCode, level, parent: null }
      const areas = await listAreasInRelease(database.reader, selection, release.id, after, count)
      return areas.map((area) => describeArea(release, area))
    },
    /**
     * @throws {ApiError} for a polygon that is invalid or lies outside all countries
     * @throws {ReplacedMeanwhile} where the release was deleted
     */
    async inPolygon(
      release: PublishedRelease,
      polygon: SentGeoJson,
      request: FastifyRequest,
      reply: FastifyReply,
    ) {
      const { polygons } = readGeoJson(polygon)
      const advice = await advisors.adviseWithTimeout(request, reply, (waiting) =>
        advisors.adviseIn(release, polygons, null, waiting),
      )
      return listFigures(release, advice)
    },
  }
}

export type RegionStatistics = ReturnType<typeof createRegionStatistics>
export type FoundArea = Awaited<ReturnType<RegionStatistics['find']>>[number]
