import { BATCH_LIMITS, type BatchPoint, type SentLabels } from '#schemas/batch.ts'
import type { ErrorBody } from '#schemas/common.ts'
import { ApiError } from '#src/errors.ts'
import { ID_RULE, isNumberId, notAnObject, POINT, readNumber, validationError } from '#src/http/parameters.ts'
import { malformedJson, nestingError } from '#src/http/plugins/body-parser.ts'
import { findTableForm, LONGEST_CELL, readCsv, withDecimalPoint } from '#src/lib/csv.ts'
import { crsRule, findOtherCrs, textSeparator } from '#src/lib/geojson.ts'
import { findRoundedNumbers, isObject } from '#src/lib/json.ts'
import type { Pause } from '#src/lib/limiter.ts'
import { findSlip } from '#src/lib/names.ts'
import { GEOJSON_TYPE, JSON_TYPE, readCollection, refuseLongNames, type Validator } from '../bodies.ts'

const COLUMNS = new Map<string, 'id' | 'lat' | 'lng' | 'name' | 'condition'>([
  ['id', 'id'],
  ['name', 'name'],
  ['condition', 'condition'],
  ['lat', 'lat'],
  ['latitude', 'lat'],
  ['lng', 'lng'],
  ['lon', 'lng'],
  ['long', 'lng'],
  ['longitude', 'lng'],
])

export function isPointColumn(name: string): boolean {
  return COLUMNS.has(name.trim().toLowerCase())
}

/** The points of a call as they were sent, in their order. */
export interface SentPoints {
  /** At most one more than a call may have. */
  count: number
  /** Null in formats where each point names its members. */
  table: { columns: string[]; delimiter: string } | null
  /** A point as an object of JSON, unchecked; the error where it cannot be read. */
  at(index: number): unknown
  /** The object with the names that a point was sent with; undefined for a table. @param sent the result of `at` */
  named(index: number, sent: unknown): unknown
  /** Members of a point, unchecked; undefined for missing ones. */
  membersOf(index: number, names: readonly string[]): unknown[]
  /** What became of numbers that the members were sent with, and that have more digits than a number can have. */
  roundedNumbers(names: readonly string[], pause: Pause): Promise<ReadonlySet<unknown>>
}

export interface SentBatch {
  points: SentPoints
  parameters: object
}

/** Readers of bodies by their media types. Errors of single points come from `SentPoints.at`. */
export const BATCH_READERS: Record<
  string,
  (text: string, parseJson: (text: string) => unknown, pause: Pause) => SentBatch | Promise<SentBatch>
> = {
  [JSON_TYPE](text, parseJson) {
    const body = readObject(parseJson(text))
    const points = readList(body, 'points')
    const [first] = points
    if (points.length > 0 && points.every(Array.isArray)) throw notAnObject('points[0]', first, POINT)
    return { points: createPoints(text, points.length, (index) => points[index]), parameters: body }
  },
  'application/x-ndjson': (text) => ({ points: readLines(text), parameters: {} }),
  'application/geo+json-seq': (text) => ({ points: readLines(text), parameters: {} }),
  'text/csv': async (text, _, pause) => ({ points: await readRecords(text, pause), parameters: {} }),
  [GEOJSON_TYPE](text, parseJson) {
    const features = readList(readCollection(readObject(parseJson(text))), 'features')
    return { points: createPoints(text, features.length, (index) => features[index], true), parameters: {} }
  },
}

function readObject(body: unknown): Record<string, unknown> {
  if (isObject(body)) return body
  throw notAnObject('body', body, ', such as {"points": [{"lat": 9.5, "lng": 38.5}]}')
}

function readList(body: Record<string, unknown>, field: string): unknown[] {
  const list = Object.hasOwn(body, field) ? body[field] : undefined
  if (list === undefined) throw ApiError.invalid(field, 'is required')
  if (!Array.isArray(list)) throw ApiError.invalid(field, 'must be an array')
  return list
}

function pickMembers(value: unknown, names: readonly string[]): unknown[] {
  return names.map((name) => (isSent(value) && Object.hasOwn(value, name) ? value[name] : undefined))
}

/** Whether a value is an object of a body, and no error. */
function isSent(value: unknown): value is Record<string, unknown> {
  return isObject(value) && !(value instanceof ApiError)
}

/**
 * @param text of the body
 * @param read the value of a point, an object with its members or a Feature
 */
function createPoints(
  text: string,
  count: number,
  read: (index: number) => unknown,
  areFeatures = false,
): SentPoints {
  const held: { index: number; value: unknown } = { index: -1, value: undefined }
  const valueAt = (index: number) => {
    if (held.index !== index) Object.assign(held, { index, value: read(index) })
    return held.value
  }
  const isFeature = (value: unknown) => areFeatures || (isSent(value) && value.type === 'Feature')
  return {
    count,
    table: null,
    at(index) {
      const value = valueAt(index)
      return isFeature(value) ? readPointFeature(value) : value
    },
    named(index) {
      const value = valueAt(index)
      return isFeature(value) && isObject(value) ? value.properties : value
    },
    membersOf(index, names) {
      const value = valueAt(index)
      return isFeature(value) ? pickFeatureMembers(value, names) : pickMembers(value, names)
    },
    roundedNumbers: (names, pause) => findRoundedNumbers(text, names, pause),
  }
}

/** Objects or Features a line, or in a sequence. */
function readLines(text: string): SentPoints {
  const lines: string[] = []
  // With the blank lines behind it: a million of them would be looked at one by one.
  const end = `(?:${textSeparator(text).source})`
  const separator = new RegExp(`${end}(?:\\s{0,10000}${end})?`, 'g')
  for (let start = 0; start < text.length && lines.length <= BATCH_LIMITS.withToken; ) {
    separator.lastIndex = start
    const found = separator.exec(text)
    const line = text.slice(start, found?.index)
    if (line.trim() !== '') lines.push(line)
    start = found ? separator.lastIndex : text.length
  }
  return createPoints(text, lines.length, (index) => {
    const line = lines[index] as string
    const excess = nestingError(line, 'line')
    if (excess) return excess
    try {
      return JSON.parse(line)
    } catch {
      return malformedJson(line, 'line')
    }
  })
}

/** Rows between two pauses, of up to a thousand cells each. */
const ROWS_AT_ONCE = 50

async function readRecords(text: string, pause: Pause): Promise<SentPoints> {
  const form = findTableForm(text)
  const records: string[][] = []
  try {
    for (const { cells } of readCsv(text, form)) {
      if (records.length % ROWS_AT_ONCE === 0) await pause()
      if (records.push(cells) > BATCH_LIMITS.withToken + 1) break
    }
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error
    throw new ApiError('MALFORMED_BODY', `The body is not valid CSV: ${error.message}.`)
  }
  const header = records.shift()
  return header ? pointsOfTable(header, records, form.delimiter) : createPoints('', 0, () => undefined)
}

/** @throws {ApiError} MALFORMED_BODY, where the header lacks a column or has one twice */
function pointsOfTable(header: string[], records: string[][], delimiter: string): SentPoints {
  refuseLongNames(header)
  const titles = header.map((name) => name.trim())
  const columns = titles.map((name) => COLUMNS.get(name.toLowerCase()))
  const missing = (['lat', 'lng'] as const).filter((name) => !columns.includes(name))
  if (missing.length > 0) {
    const slips = missing.flatMap((name) => findSlip(name, titles) ?? [])
    const named = slips.length > 0 ? ` It names ${slips.join(' and ')}.` : ''
    throw new ApiError(
      'MALFORMED_BODY',
      `The first line must name the columns, lat and lng among them.${named}`,
    )
  }
  const twice = columns.find((name, index) => name && columns.indexOf(name) !== index)
  if (twice) throw new ApiError('MALFORMED_BODY', `The first line names more than one column for ${twice}.`)

  const indexes = new Map<string, number>(titles.map((title, index) => [title, index]))
  for (const [index, name] of columns.entries()) if (name) indexes.set(name, index)

  return {
    count: records.length,
    table: { columns: titles, delimiter },
    at(index) {
      const record = records[index] as string[]
      if (record.length > header.length) {
        const rule = `has ${record.length} cells, and the first line names ${header.length}`
        return ApiError.invalid('row', rule)
      }
      const point: Record<string, unknown> = {}
      for (const [index, name] of columns.entries()) {
        const cell = record[index]
        if (!name || !cell) continue
        if ((name !== 'lat' && name !== 'lng') || cell.length > LONGEST_CELL) point[name] = cell
        else if (cell.trim() !== '') point[name] = readNumber(withDecimalPoint(cell))
      }
      return point
    },
    named: () => undefined,
    // Empty cells count as left out.
    membersOf(index, names) {
      const record = records[index] as string[]
      return names.map((name) => record[indexes.get(name) ?? record.length] || undefined)
    },
    roundedNumbers: async () => new Set(),
  }
}

function readPointFeature(feature: unknown): unknown {
  if (!isObject(feature) || feature.type !== 'Feature') return ApiError.invalid('type', 'must be Feature')
  const properties = feature.properties ?? {}
  if (!isObject(properties)) return ApiError.invalid('properties', 'must be an object or null')
  const id = feature.id ?? properties.id ?? undefined
  const name = properties.name ?? undefined
  const condition = properties.condition ?? undefined
  const { geometry } = feature
  const other = findOtherCrs(feature) ?? (isObject(geometry) ? findOtherCrs(geometry) : undefined)
  if (other !== undefined) return ApiError.invalid('crs', crsRule(other))
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
    ...(condition !== undefined && { condition }),
    ...(lat !== undefined && { lat }),
    ...(lng !== undefined && { lng }),
  }
}

/** Members by name: the id of the Feature, the coordinates of its point, and its properties. */
function pickFeatureMembers(feature: unknown, names: readonly string[]): unknown[] {
  const { id, geometry, properties } = isObject(feature) ? feature : {}
  const coordinates = isObject(geometry) && Array.isArray(geometry.coordinates) ? geometry.coordinates : []
  const own = new Map<string, unknown>([
    ['id', id ?? undefined],
    ['lng', coordinates[0]],
    ['lat', coordinates[1]],
  ])
  return pickMembers(properties, names).map((property, index) => own.get(names[index] as string) ?? property)
}

/** The longest id and name, in characters: the schema's limits, which count code points. */
const MOST_CHARACTERS = 200

const LABELS = ['name', 'lat', 'lng'] as const

export type Scalar = string | number | boolean | null

export function isScalar(value: unknown, mostCharacters: number): value is Scalar {
  if (typeof value === 'number') return Math.abs(value) <= Number.MAX_SAFE_INTEGER
  return value === null || typeof value === 'boolean' || isShort(value, mostCharacters)
}

/** Whether a value is a short text that can be stored and sent. */
function isShort(value: unknown, mostCharacters: number): value is string {
  return (
    typeof value === 'string' &&
    value.length <= mostCharacters &&
    !value.includes('\0') &&
    value.isWellFormed()
  )
}

/** An invalid point. The others of its call have answers. */
export class RefusedPoint {
  readonly id: string | number | undefined
  readonly reason: ErrorBody
  /** The labels that an answer can repeat. */
  readonly sent: SentLabels

  constructor(error: ApiError, [id, ...labels]: unknown[]) {
    this.reason = error.body
    this.id = isId(id) ? id : undefined
    this.sent = Object.fromEntries(
      LABELS.flatMap((name, index) => {
        const label = labels[index]
        return isScalar(label, MOST_CHARACTERS) && label !== null ? [[name, label]] : []
      }),
    )
  }
}

/**
 * A point, checked as the point endpoints check theirs. A few comparisons accept most points; the validator of the
 * schema, which has the error texts, reads the rest. Null for an id or a name counts as left out.
 *
 * @param missing the error for another value that the call needs of the point
 * @param note notes unknown names of an object
 */
export function readPoint(
  points: SentPoints,
  index: number,
  validate: Validator,
  missing: ApiError | undefined,
  note: (named: object) => void,
): BatchPoint | RefusedPoint {
  const sent = points.at(index)
  const named = points.named(index, sent)
  if (isSent(named)) note(named)
  if (isObject(sent) && isPlainPoint(sent) && !missing) return sent as BatchPoint
  const error = findError(sent, validate) ?? missing
  if (error) return new RefusedPoint(error, points.membersOf(index, ['id', ...LABELS]))
  const { id, name, condition, ...position } = sent as Record<string, unknown>
  const labels = { id: id ?? undefined, name: name ?? undefined, condition: condition ?? undefined }
  return { ...position, ...labels } as BatchPoint
}

function findError(sent: unknown, validate: Validator): ApiError | undefined {
  if (sent instanceof ApiError) return sent
  if (!isObject(sent)) return notAnObject('point', sent, POINT)
  if (!validate(sent)) return validationError(validate.errors ?? [], sent)
  return typeof sent.id === 'number' && !isNumberId(sent.id) ? ApiError.invalid('id', ID_RULE) : undefined
}

/** Whether a point is certainly valid. A long text may be valid all the same. */
function isPlainPoint({ id, lat, lng, name, condition }: Record<string, unknown>): boolean {
  return (
    typeof lat === 'number' &&
    lat >= -90 &&
    lat <= 90 &&
    typeof lng === 'number' &&
    lng >= -180 &&
    lng <= 180 &&
    (id === undefined || isId(id)) &&
    (name === undefined || isShort(name, MOST_CHARACTERS)) &&
    condition === undefined
  )
}

function isId(id: unknown): id is string | number {
  return isNumberId(id) || isShort(id, MOST_CHARACTERS)
}
