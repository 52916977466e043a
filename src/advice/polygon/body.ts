import type { FastifyReply, FastifyRequest } from 'fastify'
import type { TObject } from 'typebox'
import { PointRequest } from '#schemas/point-request.ts'
import { PolygonRequest } from '#schemas/polygon.ts'
import { ApiError } from '#src/errors.ts'
import { ignoredNoter, queryMerger } from '#src/http/parameters.ts'
import { isObject } from '#src/lib/collections.ts'
import type { DistributionWanted } from '#src/raster/distribution.ts'
import { invalid, type SentGeoJson, soleFeature } from './geometry.ts'

/**
 * Refuses `provenance` where many pixels answer: it would be left out without a word.
 *
 * @throws {ApiError} INVALID_PARAMETERS
 */
export function refuseProvenance({ query, body }: FastifyRequest): void {
  const sent = isObject(body) && Object.hasOwn(body, 'provenance') ? body.provenance : undefined
  const wanted = sent ?? (query as Record<string, unknown>).provenance
  if (wanted === true || wanted === 'true') {
    throw ApiError.invalid('provenance', 'must be left out: pixels are told of one point alone')
  }
}

/** Makes what notes what no operation for polygons knows. Properties of GeoJSON are its own. */
export function polygonNoter(parameters: readonly string[]) {
  return ignoredNoter([...parameters, 'provenance'])
}

/** The media type of bodies that are a polygon and nothing else. */
export const GEOJSON = 'application/geo+json'

/** What GeoJSON says that it is (RFC 7946, section 1.4). */
const GEOJSON_TYPES = new Set<unknown>([
  'Point',
  'MultiPoint',
  'LineString',
  'MultiLineString',
  'Polygon',
  'MultiPolygon',
  'GeometryCollection',
  'Feature',
  'FeatureCollection',
])

/**
 * Makes what turns a call into a request: the body has the polygon as `geometry` or is the polygon, and what
 * it leaves out comes from the query. The name is that of the Feature where nothing else names it.
 *
 * @returns a function that also says where in the body the polygon was; undefined where there is none
 * @throws {ApiError} (the function) where a parameter comes twice, or a collection has not one Feature
 */
export function polygonBodyReader(
  schema: TObject,
): (call: FastifyRequest, reply: FastifyReply) => SentGeoJson | undefined {
  const merge = queryMerger(schema)
  const note = polygonNoter(Object.keys(PolygonRequest.properties))
  return (call, reply) => {
    refuseProvenance(call)
    const whole = isPolygonItself(call)
    if (whole) call.body = { geometry: withType(call.body as object) }
    note(call, reply)
    merge(call)
    const request = call.body as Record<string, unknown>
    if (request.geometry === undefined) return undefined
    const sent = soleFeature({ value: request.geometry, at: whole ? '' : 'geometry' })
    request.geometry = sent.value
    const name = request.name ?? nameOf(sent.value, call)
    if (name !== undefined) request.name = name
    return sent
  }
}

/** Whether the body of a call is GeoJSON by itself. */
export function isPolygonItself({ body, headers }: FastifyRequest): boolean {
  if (!isObject(body)) return false
  return (
    GEOJSON_TYPES.has(body.type) || headers['content-type']?.split(';')[0]?.trim().toLowerCase() === GEOJSON
  )
}

function withType(body: object): object {
  if (Object.hasOwn(body, 'type')) return body
  throw invalid('type', 'is required: it says what GeoJSON the body is')
}

/** The name of a Feature; undefined where it has none. Properties are anything: what cannot be a name is none. */
export function nameOf(geojson: unknown, call: FastifyRequest): string | undefined {
  if (!isObject(geojson) || geojson.type !== 'Feature' || !isObject(geojson.properties)) return undefined
  const { name } = geojson.properties
  const isName = call.compileValidationSchema(PointRequest.properties.name)
  return typeof name === 'string' && isName(name) ? name : undefined
}

/** What a request wants to know of how values are distributed; null where it asks for nothing of it. */
export function wantedIn({
  quantiles = [],
  histogram = 0,
}: {
  quantiles?: number[] | undefined
  histogram?: number | undefined
}): DistributionWanted | null {
  return quantiles.length > 0 || histogram > 0 ? { quantiles, bins: histogram } : null
}

/** A request about polygons, or about administrative areas. */
interface Body {
  admin?: { country_code: string } | undefined
  country_code?: string | undefined
}

const SENTENCES = {
  geometry: 'Send either geometry, a GeoJSON polygon, or admin, an administrative area.',
  polygons: 'Send either polygons, a GeoJSON FeatureCollection, or admin, the areas of a level.',
}

/**
 * Refuses a request that is about nothing, or about two things.
 *
 * @param field that has the polygons
 * @throws {ApiError} INVALID_PARAMETERS
 */
export function refuseUnlessOne(field: keyof typeof SENTENCES, body: object): void {
  const { [field]: polygons, admin } = body as Record<string, unknown>
  if ((polygons === undefined) !== (admin === undefined)) return
  throw new ApiError('INVALID_PARAMETERS', SENTENCES[field], [
    { field, message: `exactly one of ${field} and admin must be sent` },
  ])
}

/**
 * The country that a request is about: with areas it is that of the areas.
 *
 * @throws {ApiError} INVALID_PARAMETERS where there are two
 */
export function countryOf({ admin, country_code }: Body): string | undefined {
  if (!admin) return country_code
  const normal = (code: string) => code.trim().toLowerCase()
  if (country_code !== undefined && normal(country_code) !== normal(admin.country_code)) {
    throw ApiError.invalid('country_code', 'must be the same as admin.country_code, or left out')
  }
  return admin.country_code
}
