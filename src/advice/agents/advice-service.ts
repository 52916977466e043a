import type { FastifyReply, FastifyRequest } from 'fastify'
import type { LocationRequest, LocationValidation } from '#schemas/location.ts'
import type { PointRequest } from '#schemas/point-request.ts'
import type { ProductDefinition } from '#schemas/products/define.ts'
import type { App } from '#src/http/app.ts'
import { withTimeout } from '#src/http/plugins/time-budget.ts'
import { clientKeyOf } from '#src/http/request.ts'
import type { Lookup } from '#src/lookup/lookup.ts'
import { releaseMembers } from '#src/lookup/releases.ts'
import { createLocationValidator } from '../location/validator.ts'
import { allProductsAnswerer } from '../point/all-products.ts'
import { productAnswerer } from '../point/answer.ts'
import { type Advisors, locationOf, type RegionQuestion } from '../polygon/advisors.ts'
import { entriesOf } from '../polygon/answer.ts'
import { readGeoJson, soleFeature } from '../polygon/geometry.ts'
import type { ReadRules } from '../quantities/rules.ts'

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

/** What the endpoints for points, places, polygons and areas answer, for rooms that say it in other words. */
export interface AdviceService {
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

/** Makes what answers as the endpoints do, of the same parts. */
export function createAdviceService(
  app: App,
  lookup: Lookup,
  advisors: Advisors,
  readRules: ReadRules,
): AdviceService {
  const { adviseOn, adviseWithTimeout } = advisors
  const { list } = app.products
  const validator = createLocationValidator(app.database.reader, lookup, list)
  const ofAll = allProductsAnswerer(list, readRules)
  const ofOne = new Map(list.map((product) => [product, productAnswerer(product, readRules)]))

  return {
    async atPoint(product, point, { request, reply }) {
      const answerer = (product && ofOne.get(product)) ?? ofAll
      const fromDatabase = () => answerer.answer(lookup, point, clientKeyOf(request))
      const found = answerer.fromMemory(lookup, point) ?? (await withTimeout(request, reply, fromDatabase))
      if (found instanceof Error) throw found
      return found.body
    },
    async whereIs(place, { request, reply }) {
      const fromDatabase = () => validator.validate(place, clientKeyOf(request))
      return validator.fromMemory(place) ?? withTimeout(request, reply, fromDatabase)
    },
    async inRegion(product, region, question, { request, reply }) {
      const where =
        'geometry' in region ? readGeoJson(soleFeature({ value: region.geometry, at: region.at })) : region
      const asked = { ...question }
      await withTimeout(request, reply, () => lookup.places.fillCrop(asked))
      const advice = await adviseWithTimeout(request, reply, (waiting) =>
        adviseOn(where, { product, asked, wanted: null, clientKey: clientKeyOf(request) }, waiting),
      )
      return {
        location: locationOf(undefined, advice),
        ...releaseMembers(advice.release),
        [product.entries]: entriesOf(product, advice.release, advice.statistics),
      }
    },
  }
}
