import type { FastifyRequest, FastifySchemaValidationError } from 'fastify'
import { memberNames, PointRequest } from '#schemas/point-request.ts'
import type { PolygonName } from '#schemas/polygon.ts'
import { joinNames } from '#schemas/product.ts'
import { ApiError } from '#src/errors.ts'
import type { App } from '#src/http/app.ts'
import { ignoredNoter } from '#src/http/parameters.ts'
import {
  collectBody,
  decodeBody,
  isUntypedJson,
  jsonParser,
  unsupported,
  waitToParse,
} from '#src/http/plugins/body-parser.ts'
import { CELL_RULE, LONGEST_CELL } from '#src/lib/csv.ts'
import { crsRule, findOtherCrs, isGeoJsonType } from '#src/lib/geojson.ts'
import { isObject } from '#src/lib/json.ts'
import type { Pause } from '#src/lib/limiter.ts'
import type { DistributionOptions } from '#src/raster/distribution.ts'

export const JSON_TYPE = 'application/json'
export const GEOJSON_TYPE = 'application/geo+json'

/** Reads the text of a body, which is not blank. @param pause lets others go on, in a long text */
type ReadText = (text: string, parseJson: (text: string) => unknown, pause: Pause) => unknown

interface BodyFormats {
  /** By media types; a body without a type may be JSON. */
  readers: Readonly<Record<string, ReadText>>
  limit(request: FastifyRequest): number
  tooLarge(request: FastifyRequest, bytes: number): Error
}

/** Makes a scope read long bodies. The limit depends on the caller, so Fastify does not collect them. */
export function readLongBodies(app: App, { readers, limit, tooLarge }: BodyFormats): void {
  const mediaTypes = Object.keys(readers)
  const sentence = `Send the body as one of ${mediaTypes.join(', ')}.`
  const parseJson = jsonParser(app)

  app.removeAllContentTypeParsers()
  app.addContentTypeParser(
    [...mediaTypes, '*'],
    async (request: FastifyRequest, stream: NodeJS.ReadableStream) => {
      const refuse = (bytes: number) => tooLarge(request, bytes)
      const body = await collectBody(request, stream, limit(request), refuse)
      if (body.length === 0) return undefined
      const read =
        readers[mediaTypeOfBody(request)] ?? (isUntypedJson(request, body) ? readers[JSON_TYPE] : undefined)
      if (!read) throw unsupported(request, sentence)
      const pause = () => waitToParse(request, body)
      await pause()
      const text = decodeBody(body, request)
      return text.trim() === '' ? undefined : read(text, (json) => parseJson(request, json), pause)
    },
  )
}

/** @throws {ApiError} MALFORMED_BODY for a table with a longer name of a column than {@link LONGEST_CELL} */
export function refuseLongNames(header: readonly string[]): void {
  const at = header.findIndex(({ length }) => length > LONGEST_CELL)
  if (at !== -1) throw new ApiError('MALFORMED_BODY', `The name of column ${at + 1} ${CELL_RULE}.`)
}

export function mediaTypeOfBody({ headers }: FastifyRequest): string {
  return headers['content-type']?.split(';')[0]?.trim().toLowerCase() ?? ''
}

/** A FeatureCollection in longitude and latitude; its Features are unchecked. @throws {ApiError} INVALID_PARAMETERS */
export function readCollection(value: unknown): Record<string, unknown> {
  if (!isObject(value) || value.type !== 'FeatureCollection') {
    throw ApiError.invalid('type', 'must be FeatureCollection')
  }
  const other = findOtherCrs(value)
  if (other !== undefined) throw ApiError.invalid('crs', crsRule(other))
  return value
}

/** A compiled schema: its errors are those of the last call. */
export interface Validator {
  (value: unknown): unknown
  errors?: FastifySchemaValidationError[] | null
}

/** @throws {ApiError} INVALID_PARAMETERS for members of pixels, where many answer */
export function refusePixelMembers({ query, body, server }: FastifyRequest): void {
  for (const { name, of } of server.additions.members) {
    if (of !== 'pixels') continue
    const sent = isObject(body) && Object.hasOwn(body, name) ? body[name] : undefined
    const option = sent ?? (query as Record<string, unknown>)[name]
    if (option === true || option === 'true') {
      throw ApiError.invalid(name, 'must be left out: only the answer for one point has it')
    }
  }
}

/** Makes a hook that notes unknown parameters. Properties of GeoJSON are none. */
export function polygonNoter({ additions }: App, parameters: readonly string[]) {
  return ignoredNoter([...parameters, ...memberNames(additions, 'pixels')])
}

/** Whether the whole body is GeoJSON. */
export function isPolygonItself(request: FastifyRequest): boolean {
  const { body } = request
  if (!isObject(body)) return false
  return isGeoJsonType(body.type) || mediaTypeOfBody(request) === GEOJSON_TYPE
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

interface Body {
  admin?: { country_code: string } | undefined
  country_code?: string | undefined
}

const ALTERNATIVES = {
  geometry: { geometry: 'a GeoJSON polygon', admin: 'an administrative area' },
  polygons: { polygons: 'a GeoJSON FeatureCollection', admin: 'the areas of a level' },
}

/** @throws {ApiError} INVALID_PARAMETERS for none of the alternatives, and for several */
export function refuseUnlessOne(
  field: keyof typeof ALTERNATIVES,
  body: object,
  others: readonly PolygonName[],
): void {
  const all = new Map<string, string>(Object.entries(ALTERNATIVES[field]))
  for (const { member, means } of others) all.set(member, means)
  const sent = [...all.keys()].filter((name) => (body as Record<string, unknown>)[name] !== undefined)
  if (sent.length === 1) return
  const sentence = `Send ${joinNames(
    [...all].map((one) => one.join(', ')),
    ', or',
  )}.`
  const message = `exactly one of ${joinNames([...all.keys()])} must be sent`
  throw new ApiError('INVALID_PARAMETERS', sentence, [{ field, message }])
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
