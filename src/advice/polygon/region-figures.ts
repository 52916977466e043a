import type { FastifyReply, FastifyRequest } from 'fastify'
import type { App } from '#src/http/app.ts'
import type { PublishedRelease } from '#src/lookup/releases.ts'
import type { Advisors } from './advisors.ts'
import { adviceFrom, columnsOf, figureKeysOf, figuresIn, type PolygonAdvice } from './answer.ts'
import type { Waiting } from './computing.ts'
import { readGeoJson } from './geometry.ts'
import { type AreaInRelease, listAreasInRelease, STATISTICS_VERSION } from './queries.ts'

/** The figures of a release in a region, in the order of its columns; null where a layer has no value. */
export type Figures = readonly (number | null)[]

/** Some areas of a level, in the order of their codes. */
interface AreaRun {
  countryCode: string
  level: number
  /** The code of the area before them; null for the beginning. */
  after: string | null
  count: number
}

/** An area, and what a release comes to in it. */
export interface FoundArea {
  code: string
  /** Which boundaries of its level are loaded. */
  version: string
  /** What is stored; null where nothing is. */
  stored: Figures | null
  /**
   * Computes what is not stored, and stores it, when the turn of the request has come.
   *
   * @throws {ReplacedMeanwhile} where the release or the area has been deleted
   */
  compute(request: FastifyRequest, reply: FastifyReply): Promise<Figures>
}

/** Says what releases come to in areas and polygons, as tables have it. */
export interface RegionFigures {
  /** Changes with how they are computed. */
  version: string
  /** A column for each number of each layer. */
  columnsOf(release: PublishedRelease): string[]
  /** Reads what is stored of areas: to be done in the turn of a request. */
  find(release: PublishedRelease, run: AreaRun): Promise<FoundArea[]>
  /**
   * Computes what a release comes to in a polygon.
   *
   * @param polygon as GeoJSON, and what it was sent as
   * @throws {ApiError} where it is not valid, or lies elsewhere
   * @throws {ReplacedMeanwhile} where the release has been deleted
   */
  inPolygon(
    release: PublishedRelease,
    polygon: { value: unknown; at: string },
    request: FastifyRequest,
    reply: FastifyReply,
  ): Promise<Figures>
}

/** Makes what says so for rooms that draw tables and maps. */
export function createRegionFigures({ database, products }: App, advisors: Advisors): RegionFigures {
  const { areaAdvisor, polygonAdvisor, adviseWithTimeout } = advisors

  function figuresOf(release: PublishedRelease, advice: Pick<PolygonAdvice, 'statistics'>): Figures {
    const product = products.of(release.product)
    return figuresIn(product, release, figureKeysOf(product), advice)
  }

  function foundArea(release: PublishedRelease, area: AreaInRelease): FoundArea {
    const { code, version, statistics } = area
    return {
      code,
      version,
      stored: statistics && figuresOf(release, adviceFrom(release, statistics)),
      compute: async (request, reply) =>
        figuresOf(
          release,
          await adviseWithTimeout(request, reply, (waiting) =>
            areaAdvisor.adviseOn(area, release, null, waiting),
          ),
        ),
    }
  }

  return {
    version: String(STATISTICS_VERSION),
    columnsOf(release) {
      const product = products.of(release.product)
      return columnsOf(product, release, figureKeysOf(product))
    },
    async find(release, { countryCode, level, after, count }) {
      const selection = { countryCode, level, parent: null }
      const areas = await listAreasInRelease(database.reader, selection, release.id, after, count)
      return areas.map((area) => foundArea(release, area))
    },
    async inPolygon(release, polygon, request, reply) {
      const { polygons } = readGeoJson(polygon)
      const advise = (waiting: Waiting) => polygonAdvisor.adviseIn(release, polygons, null, waiting)
      return figuresOf(release, await adviseWithTimeout(request, reply, advise))
    },
  }
}
