import { BATCH_LIMITS } from '#schemas/batch-forms.ts'
import { ApiError } from '#src/errors.ts'
import { isInAnotherCrs } from '#src/lib/geojson.ts'
import { csvPointReader, csvRecords } from './csv.ts'
import { isObject, RefusedPoint } from './items.ts'

/** The forms in which many points are sent and answered. */
export const FORMS = ['application/json', 'application/x-ndjson', 'text/csv', 'application/geo+json'] as const
export type Form = (typeof FORMS)[number]

/** The points of a call as they were sent, in their order. */
export interface SentPoints {
  /** One more than a call may ever have where there are more. */
  count: number
  /** A point as JSON would have it, not looked at yet; a {@link RefusedPoint} where it could not be read. */
  at(index: number): unknown
}

/** A call with many points. */
export interface SentBatch {
  form: Form
  points: SentPoints
  /** What else the body says; only a JSON body does. */
  parameters: object
}

/**
 * Reads the body of a call with many points.
 *
 * @param parseJson throws where text is not JSON
 * @throws {ApiError} where the body as a whole cannot be read; what is wrong with one point is said by `at`
 */
export function readBatch(form: Form, text: string, parseJson: (text: string) => unknown): SentBatch {
  switch (form) {
    case 'application/json': {
      const body = objectOf(parseJson(text))
      return { form, points: listOf(body, 'points', (point) => point), parameters: body }
    }
    case 'application/geo+json':
      return { form, points: featuresOf(objectOf(parseJson(text))), parameters: {} }
    case 'application/x-ndjson':
      return { form, points: linesOf(text), parameters: {} }
    case 'text/csv':
      return { form, points: recordsOf(text), parameters: {} }
  }
}

function objectOf(body: unknown): Record<string, unknown> {
  if (isObject(body)) return body
  throw ApiError.invalid('body', 'must be a JSON object')
}

function listOf(
  body: Record<string, unknown>,
  field: string,
  pointOf: (item: unknown) => unknown,
): SentPoints {
  const list = Object.hasOwn(body, field) ? body[field] : undefined
  if (list === undefined) throw ApiError.invalid(field, 'is required')
  if (!Array.isArray(list)) throw ApiError.invalid(field, 'must be an array')
  return { count: list.length, at: (index) => pointOf(list[index]) }
}

function linesOf(text: string): SentPoints {
  const lines: string[] = []
  for (let start = 0; start < text.length && lines.length <= BATCH_LIMITS.withToken; ) {
    const newline = text.indexOf('\n', start)
    const end = newline === -1 ? text.length : newline
    const line = text.slice(start, end)
    if (line.trim() !== '') lines.push(line)
    start = end + 1
  }
  return {
    count: lines.length,
    at(index) {
      try {
        return JSON.parse(lines[index] as string)
      } catch {
        return new RefusedPoint(new ApiError('MALFORMED_JSON', 'The line is not valid JSON.'))
      }
    },
  }
}

function recordsOf(text: string): SentPoints {
  const reader = csvRecords(text)
  const header = reader.next().value
  if (!header) return { count: 0, at: () => undefined }
  const pointOf = csvPointReader(header)
  const records: string[][] = []
  for (const record of reader) {
    records.push(record)
    if (records.length > BATCH_LIMITS.withToken) break
  }
  return { count: records.length, at: (index) => pointOf(records[index] as string[]) }
}

function featuresOf(body: Record<string, unknown>): SentPoints {
  if (body.type !== 'FeatureCollection') throw ApiError.invalid('type', 'must be FeatureCollection')
  if (isInAnotherCrs(body)) {
    throw ApiError.invalid(
      'crs',
      'must be left out: GeoJSON coordinates are longitude and latitude in WGS 84',
    )
  }
  return listOf(body, 'features', pointOfFeature)
}

function pointOfFeature(feature: unknown): unknown {
  if (!isObject(feature) || feature.type !== 'Feature') {
    return new RefusedPoint(ApiError.invalid('type', 'must be Feature'))
  }
  const properties = isObject(feature.properties) ? feature.properties : {}
  const id = feature.id ?? properties.id ?? undefined
  const name = properties.name ?? undefined
  const labels = { ...(id !== undefined && { id }), ...(name !== undefined && { name }) }
  const { geometry } = feature
  if (!isObject(geometry) || geometry.type !== 'Point' || !Array.isArray(geometry.coordinates)) {
    return new RefusedPoint(ApiError.invalid('geometry', 'must be a Point'), id)
  }
  const [lng, lat] = geometry.coordinates
  return { ...labels, ...(lat !== undefined && { lat }), ...(lng !== undefined && { lng }) }
}
