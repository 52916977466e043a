import { BATCH_LIMITS } from '#schemas/batch-forms.ts'
import { ApiError } from '#src/errors.ts'
import type { Form } from '#src/http/forms.ts'
import { nestingError } from '#src/http/plugins/body-parser.ts'
import { isInAnotherCrs } from '#src/lib/geojson.ts'
import { isObject } from '#src/lib/objects.ts'
import { csvRecords, csvTable } from './csv.ts'

/** The points of a call as they were sent, in their order. */
export interface SentPoints {
  /** One more than a call may ever have where there are more. */
  count: number
  /** The columns of a table, as its header names them; null where each point names its own. */
  columns: string[] | null
  /** A point as JSON would have it, not looked at yet; the error where it could not be read. */
  at(index: number): unknown
  /**
   * What has the names that a point was sent with; nothing where a table has them.
   *
   * @param sent the point as `at` gave it
   */
  named(index: number, sent: unknown): unknown
  /** Members of a point as they were sent, whatever they are; undefined for those that are left out. */
  membersOf(index: number, names: readonly string[]): unknown[]
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
      return { form, points: objectsOf(listOf(body, 'points')), parameters: body }
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

function listOf(body: Record<string, unknown>, field: string): unknown[] {
  const list = Object.hasOwn(body, field) ? body[field] : undefined
  if (list === undefined) throw ApiError.invalid(field, 'is required')
  if (!Array.isArray(list)) throw ApiError.invalid(field, 'must be an array')
  return list
}

function ownMembersOf(value: unknown, names: readonly string[]): unknown[] {
  return names.map((name) => (isObject(value) && Object.hasOwn(value, name) ? value[name] : undefined))
}

function objectsOf(list: unknown[]): SentPoints {
  return {
    count: list.length,
    columns: null,
    at: (index) => list[index],
    named: (_, sent) => sent,
    membersOf: (index, names) => ownMembersOf(list[index], names),
  }
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
  const at = (index: number): unknown => {
    const line = lines[index] as string
    const excess = nestingError(line, 'line')
    if (excess) return excess
    try {
      return JSON.parse(line)
    } catch {
      return new ApiError('MALFORMED_JSON', 'The line is not valid JSON.')
    }
  }
  return {
    count: lines.length,
    columns: null,
    at,
    named: (_, sent) => sent,
    membersOf(index, names) {
      const value = at(index)
      return ownMembersOf(value instanceof ApiError ? undefined : value, names)
    },
  }
}

function recordsOf(text: string): SentPoints {
  const reader = csvRecords(text)
  const header = reader.next().value
  if (!header) return objectsOf([])
  const table = csvTable(header)
  const records: string[][] = []
  for (const record of reader) {
    records.push(record)
    if (records.length > BATCH_LIMITS.withToken) break
  }
  return {
    count: records.length,
    columns: table.columns,
    at: (index) => table.pointOf(records[index] as string[]),
    named: () => undefined,
    membersOf: (index, names) => table.cellsOf(records[index] as string[], names),
  }
}

function featuresOf(body: Record<string, unknown>): SentPoints {
  if (body.type !== 'FeatureCollection') throw ApiError.invalid('type', 'must be FeatureCollection')
  if (isInAnotherCrs(body)) {
    throw ApiError.invalid(
      'crs',
      'must be left out: GeoJSON coordinates are longitude and latitude in WGS 84',
    )
  }
  const features = listOf(body, 'features')
  return {
    count: features.length,
    columns: null,
    at: (index) => pointOfFeature(features[index]),
    named(index) {
      const feature = features[index]
      return isObject(feature) ? feature.properties : undefined
    },
    membersOf: (index, names) => membersOfFeature(features[index], names),
  }
}

function pointOfFeature(feature: unknown): unknown {
  if (!isObject(feature) || feature.type !== 'Feature') return ApiError.invalid('type', 'must be Feature')
  const properties = feature.properties ?? {}
  if (!isObject(properties)) return ApiError.invalid('properties', 'must be an object or null')
  const id = feature.id ?? properties.id ?? undefined
  const name = properties.name ?? undefined
  const { geometry } = feature
  if (!isObject(geometry) || geometry.type !== 'Point' || !Array.isArray(geometry.coordinates)) {
    return ApiError.invalid('geometry', 'must be a Point')
  }
  const [lng, lat, ...heights] = geometry.coordinates
  if (heights.some((height) => typeof height !== 'number')) {
    return ApiError.invalid('geometry', 'must be a Point with numbers as coordinates')
  }
  return {
    ...(id !== undefined && { id }),
    ...(name !== undefined && { name }),
    ...(lat !== undefined && { lat }),
    ...(lng !== undefined && { lng }),
  }
}

/** The id of a Feature, the coordinates of its point, and its properties. */
function membersOfFeature(feature: unknown, names: readonly string[]): unknown[] {
  const { id, geometry, properties } = isObject(feature) ? feature : {}
  const coordinates = isObject(geometry) && Array.isArray(geometry.coordinates) ? geometry.coordinates : []
  const own = new Map<string, unknown>([
    ['id', id ?? undefined],
    ['lng', coordinates[0]],
    ['lat', coordinates[1]],
  ])
  return ownMembersOf(properties, names).map((property, index) => own.get(names[index] as string) ?? property)
}
