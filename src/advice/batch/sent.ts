import { BATCH_LIMITS } from '#schemas/batch.ts'
import { ApiError } from '#src/errors.ts'
import type { Form } from '#src/http/formats.ts'
import { readNumber } from '#src/http/parameters.ts'
import { nestingError } from '#src/http/plugins/body-parser.ts'
import { isObject } from '#src/lib/collections.ts'
import { isInAnotherCrs } from '#src/lib/geojson.ts'

/** More columns than anybody's table has: a line without end is not read to its end. */
const MOST_COLUMNS = 1000

const CELL = /[^,\r\n]*/y
const LINE_END = /\r\n|[\r\n]/y
const BLANK_LINES = /[\r\n]*/y

/** What the columns of points may be called, in any case. */
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
 * It is our own because csv-parse (7.0) is no faster for ordinary tables, and slow for hostile ones: two
 * megabytes of line ends hold everyone up for 90 ms instead of 2, of commas for 300 instead of 20, and of
 * rows of one digit for 500 instead of 15. It also either refuses a quote in the middle of a cell, as in
 * `6" pipe`, or lets text follow a closing one.
 *
 * @throws {ApiError} MALFORMED_BODY, where quotes leave it open what belongs to which cell
 */
function* csvRecords(text: string): Generator<string[]> {
  let at = 0
  let record: string[] = []
  while (at < text.length) {
    // Many at once: a body of nothing else would otherwise keep everyone waiting for a second.
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
  const line = 1 + lineEndsBefore(text, at)
  return new ApiError('MALFORMED_BODY', `The body is not valid CSV: on line ${line} ${what}.`)
}

/** Counts without a list of the lines: there may be millions. */
function lineEndsBefore(text: string, end: number): number {
  let count = 0
  for (let at = 0; at < end; at++) {
    const code = text.charCodeAt(at)
    if (code === LINE_FEED || (code === CARRIAGE_RETURN && text.charCodeAt(at + 1) !== LINE_FEED)) count++
  }
  return count
}

/** How the records of a table are read. Empty cells count as left out. */
interface CsvTable {
  /** As the header names them. */
  columns: string[]
  /** A record as a point, as JSON would have it; the error where it is too long. */
  pointOf(record: string[]): Record<string, unknown> | ApiError
  /** Cells of a record, by `id`, `name`, `lat` and `lng` or by the names of other columns. */
  cellsOf(record: string[], names: readonly string[]): (string | undefined)[]
}

/**
 * The table that a header is of.
 *
 * @throws {ApiError} MALFORMED_BODY, where the header does not say which columns are which
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
    pointOf(record) {
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
    cellsOf: (record, names) => names.map((name) => record[places.get(name) ?? record.length] || undefined),
  }
}

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
