import type { FastifyReply, FastifyRequest } from 'fastify'
import type { PublishedRelease } from './published-release.ts'

/** The figures of a release in a region, in the order of its columns; null where a layer has no value. */
export type Figures = readonly (number | null)[]

/** Some areas of a level, in the order of their codes. */
export interface AreaRun {
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
