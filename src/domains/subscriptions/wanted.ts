import type { FastifyReply, FastifyRequest } from 'fastify'
import type { SubscriptionRequest, WatchedValue } from '#schemas/subscriptions.ts'
import { ApiError } from '#src/errors.ts'
import { type OutwardRules, whyNoTarget } from '#src/lib/outward-post.ts'
import type { Products } from '#src/products/define.ts'
import type { Place, PlaceReader } from './queries.ts'
import type { Wanted } from './subscription-queries.ts'
import { watchedAmong } from './value-changes.ts'

export type SubscriptionCall = FastifyRequest<{ Body: SubscriptionRequest }>

/**
 * What a request subscribes to, and what is told of it now.
 *
 * @throws {ApiError} where it is about no place or two, or no value is to be expected there
 */
export async function wantedBy(
  request: SubscriptionCall,
  reply: FastifyReply,
  { products, reader, rules }: { products: Products; reader: PlaceReader; rules: OutwardRules },
): Promise<Omit<Wanted, 'userId' | 'secret'>> {
  const body = withoutNulls(request.body)
  const rule = whyNoTarget(body.url, rules)
  if (rule !== undefined) throw ApiError.invalid('url', rule)
  const place = placeOf(body, reader)
  const { crop, forecast_period } = body
  const country_code = countryOf(body)
  const series = await reader.seriesOf(products.of(body.product), {
    ...(crop && { crop }),
    ...(country_code && { country_code }),
    ...(forecast_period && { forecast_period }),
  })
  const reading = await reader.forRequest({ series, place }, request, reply).catch(nothingYet)
  const { name = '', input = null, scenario = null, threshold, url } = body
  const told = watchedAmong(reading.values, { input, scenario })
  if (reading.values.length > 0 && told.length === 0) throw notThere(body, reading.values)
  const { release } = reading
  return { name, series, place, input, scenario, threshold, url: new URL(url).href, release, told }
}

/** Null is the same as leaving out. */
function withoutNulls(body: SubscriptionRequest): SubscriptionRequest {
  const said = Object.entries(body).filter(([, value]) => value !== null)
  return Object.fromEntries(said) as unknown as SubscriptionRequest
}

/** That nothing is published yet is what somebody may want to be told of. */
function nothingYet(error: unknown): { release: null; values: WatchedValue[] } {
  if (error instanceof ApiError && error.code === 'NO_RELEASE') return { release: null, values: [] }
  throw error
}

function placeOf({ lat, lng, geometry, admin }: SubscriptionRequest, reader: PlaceReader): Place {
  const given = [lat !== undefined || lng !== undefined, geometry !== undefined, admin !== undefined]
  if (given.filter(Boolean).length !== 1) {
    throw new ApiError(
      'INVALID_PARAMETERS',
      'Send either lat and lng, a point; geometry, a GeoJSON polygon; or admin, an administrative area.',
      [{ field: 'lat', message: 'exactly one of lat and lng, geometry and admin must be sent' }],
    )
  }
  if (geometry !== undefined) return { type: 'polygon', geometry: reader.outlineOf(geometry) }
  if (admin !== undefined) return { type: 'area', code: admin.code.trim(), level: admin.level ?? null }
  if (lat === undefined) throw ApiError.invalid('lat', 'is required beside lng')
  if (lng === undefined) throw ApiError.invalid('lng', 'is required beside lat')
  return { type: 'point', lat, lng }
}

/** The country of an area is that of the subscription. */
function countryOf({ admin, country_code }: SubscriptionRequest): string | undefined {
  if (!admin) return country_code
  const normal = (code: string) => code.trim().toLowerCase()
  if (country_code !== undefined && normal(country_code) !== normal(admin.country_code)) {
    throw ApiError.invalid('country_code', 'must be the same as admin.country_code, or left out')
  }
  return admin.country_code
}

function notThere({ input }: SubscriptionRequest, values: readonly WatchedValue[]): ApiError {
  const field = input !== undefined && !values.some((value) => value.input === input) ? 'input' : 'scenario'
  const names = [...new Set(values.map((value) => value[field]))].filter((name) => name !== null)
  if (names.length === 0) return ApiError.invalid(field, 'must be left out: the product has none')
  return ApiError.invalid(field, `must be one of ${names.join(', ')}, or left out`, names)
}
