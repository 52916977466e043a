import { BATCH_LIMITS, type BatchPoint, type SentLabels } from '#schemas/batch.ts'
import type { ErrorBody } from '#schemas/common.ts'
import { ApiError } from '#src/errors.ts'
import { readNumber } from '#src/http/parameters.ts'
import { nestingError } from '#src/http/plugins/body-parser.ts'
import { validationError } from '#src/http/validation.ts'
import { isObject } from '#src/lib/collections.ts'
import { GEOJSON_TYPE, JSON_TYPE, readCollection, type Validator } from './bodies.ts'

/** The most columns: the reader stops within an endless line. */
const MOST_COLUMNS = 1000

const CELL = /[^,\r\n]*/y
const LINE_END = /\r\n|[\r\n]/y
const BLANK_LINES = /[\r\n]*/y

/** The names of columns of points, in lower case. */
const COLUMNS = new Map<string, 'id' | 'lat' | 'lng' | 'name'>([
  ['id', 'id'],
  ['name', 'name'],
  ['lat', 'lat'],
  ['latitude', 'lat'],
  ['lng', 'lng'],
  ['lon', 'lng'],
  ['long', 'lng'],
  ['longitude', 'lng'],
])

/** Whether a column is one of those of points. */
export function isPointColumn(name: string): boolean {
  return COLUMNS.has(name.trim().toLowerCase())
}

/**
 * The records of a table as RFC 4180 has it, blank lines left out; lines may end in CRLF, LF or CR.
 *
 * csv-parse (7.0) is no faster for ordinary tables, and slow for hostile ones: two megabytes of line ends block
 * the event loop for 90 ms instead of 2, of commas for 300 instead of 20, and of rows of one digit for 500
 * instead of 15. It also either refuses a quote in the middle of a cell, as in `6" pipe`, or accepts text after a
 * closing one.
 *
 * @throws {ApiError} MALFORMED_BODY, where quotes are ambiguous
 */
function* csvRecords(text: string): Generator<string[]> {
  let at = 0
  let record: string[] = []
  while (at < text.length) {
    // Many at once: a body of line ends alone would block the event loop for a second.
    if (record.length === 0) {
      BLANK_LINES.lastIndex = at
      BLANK_LINES.test(text)
      at = BLANK_LINES.lastIndex
      if (at === text.length) return
    }
    if (text[at] === '"') {
      const start = at
      let escaped = false
      for (;;) {
        const quote = text.indexOf('"', at + 1)
        if (quote === -1) throw malformed(text, start, 'a quote is opened and never closed')
        at = quote + 1
        if (text[at] !== '"') break
        escaped = true
      }
      const cell = text.slice(start + 1, at - 1)
      record.push(escaped ? cell.replaceAll('""', '"') : cell)
    } else {
      CELL.lastIndex = at
      record.push((CELL.exec(text) as RegExpExecArray)[0])
      at = CELL.lastIndex
    }
    if (record.length > MOST_COLUMNS) throw malformed(text, at, `there are more than ${MOST_COLUMNS} cells`)

    if (text[at] === ',') {
      at++
      // A comma at the very end has an empty cell behind it.
      if (at < text.length) continue
      record.push('')
    } else {
      LINE_END.lastIndex = at
      if (LINE_END.test(text)) at = LINE_END.lastIndex
      else if (at < text.length) throw malformed(text, at, 'text follows a closing quote')
    }
    yield record
    record = []
  }
}

const LINE_FEED = 10
const CARRIAGE_RETURN = 13

function malformed(text: string, at: number, what: string): ApiError {
  const line = 1 + countLineEnds(text, at)
  return new ApiError('MALFORMED_BODY', `The body is not valid CSV: on line ${line} ${what}.`)
}

/** Counts without a list of the lines: there may be millions. */
function countLineEnds(text: string, end: number): number {
  let count = 0
  for (let at = 0; at < end; at++) {
    const code = text.charCodeAt(at)
    if (code === LINE_FEED || (code === CARRIAGE_RETURN && text.charCodeAt(at + 1) !== LINE_FEED)) count++
  }
  return count
}

/** Reads the records of a table. Empty cells count as left out. */
interface CsvTable {
  /** The names in the header. */
  columns: string[]
  /** A record as an object of JSON; the error where it is too long. */
  readPoint(record: string[]): Record<string, unknown> | ApiError
  /** Cells of a record, by `id`, `name`, `lat` and `lng` or by the names of other columns. */
  pickCells(record: string[], names: readonly string[]): (string | undefined)[]
}

/**
 * The reader of a table with a header.
 *
 * @throws {ApiError} MALFORMED_BODY, where the header lacks a column or has one twice
 */
function csvTable(header: string[]): CsvTable {
  const titles = header.map((name) => name.trim())
  const columns = header.map((name) => COLUMNS.get(name.trim().toLowerCase()))
  for (const name of ['lat', 'lng'] as const) {
    if (columns.includes(name)) continue
    const hint =
      header.length === 1 && /[;\t]/.test(header[0] as string) ? ' Cells are separated by commas.' : ''
    throw new ApiError(
      'MALFORMED_BODY',
      `The first line must name the columns, lat and lng among them.${hint}`,
    )
  }
  const twice = columns.find((name, index) => name && columns.indexOf(name) !== index)
  if (twice) throw new ApiError('MALFORMED_BODY', `The first line names more than one column for ${twice}.`)

  const places = new Map<string | undefined, number>(titles.map((title, index) => [title, index]))
  for (const [index, name] of columns.entries()) if (name) places.set(name, index)

  return {
    columns: titles,
    readPoint(record) {
      if (record.length > header.length) {
        const rule = `has ${record.length} cells, and the first line names ${header.length}`
        return ApiError.invalid('row', rule)
      }
      const point: Record<string, unknown> = {}
      for (const [index, name] of columns.entries()) {
        const cell = record[index]
        if (!name || !cell) continue
        if (name === 'id' || name === 'name') point[name] = cell
        else if (cell.trim() !== '') point[name] = readNumber(cell.trim())
      }
      return point
    },
    pickCells: (record, names) => names.map((name) => record[places.get(name) ?? record.length] || undefined),
  }
}

/** The points of a call as they were sent, in their order. */
export interface SentPoints {
  /** At most one more than a call may have. */
  count: number
  /** The columns of a table; null in formats where each point names its members. */
  columns: string[] | null
  /** A point as an object of JSON, unchecked; the error where it cannot be read. */
  at(index: number): unknown
  /**
   * The object with the names that a point was sent with; undefined for a table.
   *
   * @param sent the result of `at`
   */
  named(index: number, sent: unknown): unknown
  /** Members of a point, unchecked; undefined for missing ones. */
  membersOf(index: number, names: readonly string[]): unknown[]
}

/** The body of a call with many points. */
export interface SentBatch {
  mediaType: string
  points: SentPoints
  /** The other members of a JSON body. */
  parameters: object
}

type ReadBatch = (text: string, parseJson: (text: string) => unknown) => Omit<SentBatch, 'mediaType'>

const READERS: Record<string, ReadBatch> = {
  [JSON_TYPE](text, parseJson) {
    const body = readObject(parseJson(text))
    return { points: pointsOfList(readList(body, 'points')), parameters: body }
  },
  'application/x-ndjson': (text) => ({ points: readLines(text), parameters: {} }),
  'text/csv': (text) => ({ points: readRecords(text), parameters: {} }),
  [GEOJSON_TYPE]: (text, parseJson) => ({
    points: pointsOfCollection(readObject(parseJson(text))),
    parameters: {},
  }),
}

/** Readers of bodies by their media types. Errors of single points come from `SentPoints.at`. */
export const BATCH_READERS = Object.fromEntries(
  Object.entries(READERS).map(([mediaType, read]) => [
    mediaType,
    (text: string, parseJson: (text: string) => unknown): SentBatch => ({
      mediaType,
      ...read(text, parseJson),
    }),
  ]),
)

function readObject(body: unknown): Record<string, unknown> {
  if (isObject(body)) return body
  throw ApiError.invalid('body', 'must be a JSON object')
}

function readList(body: Record<string, unknown>, field: string): unknown[] {
  const list = Object.hasOwn(body, field) ? body[field] : undefined
  if (list === undefined) throw ApiError.invalid(field, 'is required')
  if (!Array.isArray(list)) throw ApiError.invalid(field, 'must be an array')
  return list
}

function pickMembers(value: unknown, names: readonly string[]): unknown[] {
  return names.map((name) => (isObject(value) && Object.hasOwn(value, name) ? value[name] : undefined))
}

function pointsOfList(list: unknown[]): SentPoints {
  return {
    count: list.length,
    columns: null,
    at: (index) => list[index],
    named: (_, sent) => sent,
    membersOf: (index, names) => pickMembers(list[index], names),
  }
}

function readLines(text: string): SentPoints {
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
      return pickMembers(value instanceof ApiError ? undefined : value, names)
    },
  }
}

function readRecords(text: string): SentPoints {
  const reader = csvRecords(text)
  const header = reader.next().value
  if (!header) return pointsOfList([])
  const table = csvTable(header)
  const records: string[][] = []
  for (const record of reader) {
    records.push(record)
    if (records.length > BATCH_LIMITS.withToken) break
  }
  return {
    count: records.length,
    columns: table.columns,
    at: (index) => table.readPoint(records[index] as string[]),
    named: () => undefined,
    membersOf: (index, names) => table.pickCells(records[index] as string[], names),
  }
}

function pointsOfCollection(body: Record<string, unknown>): SentPoints {
  const features = readList(readCollection(body), 'features')
  return {
    count: features.length,
    columns: null,
    at: (index) => readPointFeature(features[index]),
    named(index) {
      const feature = features[index]
      return isObject(feature) ? feature.properties : undefined
    },
    membersOf: (index, names) => pickFeatureMembers(features[index], names),
  }
}

function readPointFeature(feature: unknown): unknown {
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

/** A value that an answer can repeat. */
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
 * @param take takes what else the call needs of a point, or returns the error
 * @param note notes unknown names of an object
 */
export function readPoint(
  points: SentPoints,
  index: number,
  validate: Validator,
  take: (index: number) => ApiError | undefined,
  note: (named: object) => void,
): BatchPoint | RefusedPoint {
  const sent = points.at(index)
  const named = points.named(index, sent)
  if (isObject(named) && !(named instanceof ApiError)) note(named)
  const missing = take(index)
  if (isObject(sent) && isPlainPoint(sent) && !missing) return sent as BatchPoint
  const error = findError(sent, validate) ?? missing
  if (error) return new RefusedPoint(error, points.membersOf(index, ['id', ...LABELS]))
  const { id, name, ...place } = sent as Record<string, unknown>
  return { ...place, id: id ?? undefined, name: name ?? undefined } as BatchPoint
}

function findError(sent: unknown, validate: Validator): ApiError | undefined {
  if (sent instanceof ApiError) return sent
  if (!isObject(sent)) return ApiError.invalid('point', 'must be an object')
  return validate(sent) ? undefined : validationError(validate.errors ?? [], sent)
}

/** Whether a point is certainly valid. A long text may be valid all the same. */
function isPlainPoint({ id, lat, lng, name }: Record<string, unknown>): boolean {
  return (
    typeof lat === 'number' &&
    lat >= -90 &&
    lat <= 90 &&
    typeof lng === 'number' &&
    lng >= -180 &&
    lng <= 180 &&
    (id === undefined || isId(id)) &&
    (name === undefined || isShort(name, MOST_CHARACTERS))
  )
}

function isId(id: unknown): id is string | number {
  return typeof id === 'number' ? Math.abs(id) <= Number.MAX_SAFE_INTEGER : isShort(id, MOST_CHARACTERS)
}
