import type { FastifyReply, FastifyRequest } from 'fastify'
import type { LocationRequest, LocationValidation } from '#schemas/location.ts'
import type { PointRequest } from '#schemas/point-request.ts'
import type { ProductDefinition } from '#src/products/define.ts'

/** On whose behalf something is asked: its turns, limits and deadlines count. */
export interface Asker {
  request: FastifyRequest
  reply: FastifyReply
}

/** The body of an endpoint's answer. */
export type AdviceBody = Record<string, unknown>

/** A polygon, or an administrative area: one of the two. */
export type Region =
  /** @param geometry GeoJSON as it was sent, and how the field is called */
  { geometry: unknown; at: string } | { countryCode: string; code: string; level: number | null }

/** What is asked of a region beside where it is. */
export type RegionQuestion = Pick<PointRequest, 'crop' | 'country_code' | 'forecast_period'>

/** What the endpoints for points, places, polygons and areas answer, for rooms that say it in other words. */
export interface AdviceDesk {
  /**
   * What `/advisory/{product}/point` answers.
   *
   * @param product null for all of them, as `/advisory/point`
   * @throws {ApiError} as the endpoint
   */
  atPoint(product: ProductDefinition | null, request: PointRequest, by: Asker): Promise<AdviceBody>
  /**
   * What `/validate_location` answers.
   *
   * @throws {ApiError} as the endpoint
   */
  whereIs(request: LocationRequest, by: Asker): Promise<LocationValidation>
  /**
   * What `/advisory/{product}` answers.
   *
   * @throws {ApiError} as the endpoint
   */
  inRegion(
    product: ProductDefinition,
    region: Region,
    question: RegionQuestion,
    by: Asker,
  ): Promise<AdviceBody>
}
