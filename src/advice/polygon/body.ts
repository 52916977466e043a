import type { FastifyReply, FastifyRequest } from 'fastify'
import type { TObject } from 'typebox'
import { PointRequest } from '#schemas/point-request.ts'
import { PolygonRequest } from '#schemas/polygon.ts'
import { ApiError } from '#src/errors.ts'
import { ignoredNoter, queryMerger } from '#src/http/parameters.ts'
import { isObject } from '#src/lib/collections.ts'
import type { DistributionOptions } from '#src/raster/distribution.ts'
import { invalid, type SentGeoJson, soleFeature } from './geometry.ts'

/** @throws {ApiError} INVALID_PARAMETERS for `provenance` where many pixels answer */
export function refuseProvenance({ query, body }: FastifyRequest): void {
  const sent = isObject(body) && Object.hasOwn(body, 'provenance') ? body.provenance : undefined
  const option = sent ?? (query as Record<string, unknown>).provenance
  if (option === true || option === 'true') {
    throw ApiError.invalid('provenance', 'must be left out: pixels are told of one point alone')
  }
}

/** Makes a hook that notes unknown parameters. Properties of GeoJSON are none. */
export function polygonNoter(parameters: readonly string[]) {
  return ignoredNoter([...parameters, 'provenance'])
}

/** The media type of a body that is a polygon. */
export const GEOJSON = 'application/geo+json'

/** The types of GeoJSON (RFC 7946, section 1.4). */
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

/** Makes a hook that merges body and query, and returns the polygon. The name of the Feature is the default. */
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
    const name = request.name ?? readFeatureName(sent.value, call)
    if (name !== undefined) request.name = name
    return sent
  }
}

/** Whether the whole body is GeoJSON. */
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

/** The name of a Feature; undefined where it has none, or an invalid one. */
export function readFeatureName(geojson: unknown, call: FastifyRequest): string | undefined {
  if (!isObject(geojson) || geojson.type !== 'Feature' || !isObject(geojson.properties)) return undefined
  const { name } = geojson.properties
  const isName = call.compileValidationSchema(PointRequest.properties.name)
  return typeof name === 'string' && isName(name) ? name : undefined
}

/** The options of a request for the distribution of values; null for none. */
export function readDistributionOptions({
  quantiles = [],
  histogram = 0,
}: {
  quantiles?: number[] | undefined
  histogram?: number | undefined
}): DistributionOptions | null {
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

/** @throws {ApiError} INVALID_PARAMETERS for polygons and `admin` together, and for neither */
export function refuseUnlessOne(field: keyof typeof SENTENCES, body: object): void {
  const { [field]: polygons, admin } = body as Record<string, unknown>
  if ((polygons === undefined) !== (admin === undefined)) return
  throw new ApiError('INVALID_PARAMETERS', SENTENCES[field], [
    { field, message: `exactly one of ${field} and admin must be sent` },
  ])
}

/** The country of a request, or of its areas. @throws {ApiError} INVALID_PARAMETERS where they differ */
export function readCountryCode({ admin, country_code }: Body): string | undefined {
  if (!admin) return country_code
  const normal = (code: string) => code.trim().toLowerCase()
  if (country_code !== undefined && normal(country_code) !== normal(admin.country_code)) {
    throw ApiError.invalid('country_code', 'must be the same as admin.country_code, or left out')
  }
  return admin.country_code
}
