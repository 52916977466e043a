import { setImmediate } from 'node:timers/promises'
import { GEOJSON_TYPE, JSON_TYPE, readCollection, refuseLongNames } from '#src/advice/bodies.ts'
import { invalid, MAX_VERTICES, tooManyVertices } from '#src/advice/polygon/geometry.ts'
import { ApiError } from '#src/errors.ts'
import { withoutGuard } from '#src/http/formats.ts'
import { BODY_TEXT, nestingError } from '#src/http/plugins/body-parser.ts'
import { readWkt } from '#src/http/wkt.ts'
import { CELL_RULE, findTableForm, LONGEST_CELL, OPEN_QUOTE, readCsv } from '#src/lib/csv.ts'
import { textSeparator } from '#src/lib/geojson.ts'
import { BracketWalk, memberText, withoutSpace } from '#src/lib/json.ts'
import { createTextReader } from '#src/lib/text.ts'

/** Characters of one feature, one line or one record: a polygon of the most vertices has half of them. */
const LONGEST_FEATURE = 1_048_576

/** Bytes of a read. A long feature is looked at anew with each piece. */
const PIECE_BYTES = 65_536

/** Characters of a collection before and after its features. */
const LONGEST_FRAME = 65_536

/** A Feature of GeoJSON, unchecked; the error where its text cannot be read. */
export interface SentFeature {
  value: unknown
  /** Its properties as they were sent: a parser rounds numbers of 16 digits, and has none for 1e400. */
  properties?: string | undefined
}

type Texts = AsyncIterable<string>

/** Reads an upload feature by feature, by its media type. @throws {ApiError} MALFORMED_BODY, MALFORMED_JSON or INVALID_PARAMETERS, also after features */
export const FEATURE_READERS: Readonly<Record<string, (texts: Texts) => AsyncGenerator<SentFeature>>> = {
  [GEOJSON_TYPE]: readFeatures,
  [JSON_TYPE]: readFeatures,
  'application/x-ndjson': readLines,
  'application/geo+json-seq': readLines,
  'text/csv': readTable,
}

/**
 * Decodes an upload in pieces.
 *
 * @param most bytes of all pieces
 * @param pieceBytes the least of one, but of the last
 * @throws {TextError}
 * @throws {ApiError} BODY_TOO_LARGE
 */
export async function* decodeTexts(
  stream: AsyncIterable<Buffer>,
  most: number,
  declared?: string,
  pieceBytes = PIECE_BYTES,
): Texts {
  const reader = createTextReader({ ...BODY_TEXT, declared })
  let bytes = 0
  let chunks: Buffer[] = []
  let length = 0
  for await (const chunk of stream) {
    bytes += chunk.length
    if (bytes > most) throw new ApiError('BODY_TOO_LARGE', `The body is larger than ${most} bytes.`)
    length += chunk.length
    chunks.push(chunk)
    if (length < pieceBytes) continue
    yield reader.write(Buffer.concat(chunks))
    chunks = []
    length = 0
    // Other requests would wait for all chunks that have arrived.
    await setImmediate()
  }
  yield reader.write(Buffer.concat(chunks))
  yield reader.end()
}

function parseFeature(text: string): SentFeature {
  const excess = nestingError(text, 'feature')
  if (excess) return { value: excess }
  try {
    return { value: JSON.parse(text), properties: memberText(text, 'properties') }
  } catch {
    return { value: new ApiError('MALFORMED_JSON', 'The feature is not valid JSON.') }
  }
}

const FIRST_SEPARATOR = /^\s*$/
const SEPARATOR = /^\s*,\s*$/

const FEATURES_BEGIN = /"features"\s*:\s*\[$/

/** Characters in which they begin. */
const LEAD = 100

/** The members of `features`, one after the other: a whole collection is never in memory. */
async function* readFeatures(texts: Texts): AsyncGenerator<SentFeature> {
  const walk = new BracketWalk()
  let isIn = false
  let separator = FIRST_SEPARATOR
  /** The text around the features. */
  let frame = ''
  let rest = ''
  for await (const text of texts) {
    rest += text
    let begin = 0
    for (let at = walk.next(rest, rest.length - text.length); at !== -1; at = walk.next(rest, at)) {
      if (!isIn && walk.level === FEATURES_LEVEL && FEATURES_BEGIN.test(rest.slice(begin, at).slice(-LEAD))) {
        if (frame !== '') throw notOnce()
        isIn = true
        frame += rest.slice(begin, at)
        begin = at
      } else if (isIn && walk.level === FEATURES_LEVEL) {
        const feature = rest.slice(begin, at)
        const start = feature.indexOf('{')
        if (!separator.test(feature.slice(0, start)) || !feature.endsWith('}')) throw notObjects()
        yield parseFeature(feature.slice(start))
        separator = SEPARATOR
        begin = at
      } else if (isIn && walk.level < FEATURES_LEVEL) {
        if (!/^\s*\]$/.test(rest.slice(begin, at))) throw notObjects()
        isIn = false
        frame += ']'
        begin = at
      }
    }
    rest = rest.slice(begin)
    if (rest.length > (isIn ? LONGEST_FEATURE : LONGEST_FRAME)) throw tooLong(isIn)
  }
  if (isIn) throw new ApiError('MALFORMED_JSON', 'The body ends before its FeatureCollection does.')
  refuseOtherCollection(frame + rest)
}

/** Brackets around a feature. */
const FEATURES_LEVEL = 2

function notObjects(): ApiError {
  return new ApiError('MALFORMED_JSON', 'The body is not valid JSON: features must be a list of objects.')
}

function notOnce(): ApiError {
  return ApiError.invalid('features', 'must be there once')
}

function tooLong(isFeature: boolean): ApiError {
  return new ApiError(
    'MALFORMED_BODY',
    isFeature
      ? `A feature is longer than ${LONGEST_FEATURE} characters.`
      : `The members beside features are longer than ${LONGEST_FRAME} characters.`,
  )
}

/** @param text a collection without its features */
function refuseOtherCollection(text: string): void {
  let collection: unknown
  try {
    collection = JSON.parse(text)
  } catch {
    throw new ApiError('MALFORMED_JSON', 'The body is not valid JSON.')
  }
  const { features } = readCollection(collection)
  if (!Array.isArray(features)) throw ApiError.invalid('features', 'must be an array')
  if (features.length > 0) throw notOnce()
}

async function* readLines(texts: Texts): AsyncGenerator<SentFeature> {
  let rest = ''
  let separator: RegExp | undefined
  for await (const text of texts) {
    if (text.trim() !== '') separator ??= textSeparator(text)
    const lines = (rest + text).split(separator ?? '\n')
    rest = lines.pop() as string
    yield* parseLines(lines)
    if (rest.length > LONGEST_FEATURE) throw tooLong(true)
  }
  // A file that is cut off ends within a line.
  for (const feature of parseLines([rest])) {
    if (feature.value instanceof ApiError)
      throw new ApiError('MALFORMED_JSON', 'The body ends within a line.')
    yield feature
  }
}

function* parseLines(lines: string[]): Generator<SentFeature> {
  for (const line of lines) if (line.trim() !== '') yield parseFeature(line)
}

/** The columns with the shape as well-known text, as programs name them. */
const SHAPE_COLUMNS = ['wkt', 'geometry', 'geom', 'the_geom', 'shape']

async function* readTable(texts: Texts): AsyncGenerator<SentFeature> {
  let readRecord: ((record: string[]) => SentFeature) | undefined
  for await (const record of readRecordsIn(texts)) {
    if (readRecord) yield readRecord(record)
    else readRecord = createRecordReader(record.map((name) => name.trim()))
  }
}

/** A record that is cut by the end of a piece waits for the next one. */
async function* readRecordsIn(texts: Texts): AsyncGenerator<string[]> {
  let rest = ''
  let form: ReturnType<typeof findTableForm> | undefined
  for await (const text of texts) {
    rest += text
    const lines = rest.slice(0, 1 + Math.max(rest.lastIndexOf('\n'), rest.lastIndexOf('\r')))
    if (lines.trim() !== '') form ??= findTableForm(lines)
    if (!form) continue
    const { records, end } = readRecords(lines, form, false)
    yield* records
    rest = rest.slice(end)
    form = { ...form, start: 0 }
    if (rest.length > LONGEST_FEATURE) throw tooLong(true)
  }
  yield* readRecords(rest, form ?? findTableForm(rest), true).records
}

/** @param isWhole whether a quote that is not closed is a mistake, and not the end of a piece */
function readRecords(
  text: string,
  form: ReturnType<typeof findTableForm>,
  isWhole: boolean,
): { records: string[][]; end: number } {
  const records: string[][] = []
  let end = form.start
  try {
    for (const row of readCsv(text, form)) {
      records.push(row.cells)
      end = row.end
    }
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error
    if (isWhole || !error.message.endsWith(OPEN_QUOTE)) {
      // Lines are counted from the end of the piece before.
      const rule = error.message.replace(/^on line \d+ /, '')
      throw new ApiError('MALFORMED_BODY', `The body is not valid CSV: ${rule}.`)
    }
  }
  return { records, end }
}

/** Makes the reader of records below a header. @throws {ApiError} MALFORMED_BODY without the columns id and wkt */
function createRecordReader(columns: string[]): (record: string[]) => SentFeature {
  refuseLongNames(columns)
  const names = columns.map((name) => name.toLowerCase())
  const shapeAt = names.findIndex((name) => SHAPE_COLUMNS.includes(name))
  const idAt = names.indexOf('id')
  if (shapeAt === -1 || idAt === -1) {
    const rule = 'The first line must name the columns, id and wkt among them.'
    throw new ApiError('MALFORMED_BODY', rule)
  }
  const twice = columns.find((name, at) => name !== '' && columns.indexOf(name) !== at)
  if (twice) throw new ApiError('MALFORMED_BODY', `The first line names more than one column ${twice}.`)
  if (columns.join() === TABLE_COLUMNS.join()) return readOwnRecord
  return (record) => {
    const others = columns.flatMap((name, at) =>
      at === shapeAt || at === idAt || !record[at] ? [] : [[name || `column ${at + 1}`, record[at]] as const],
    )
    const [long] = others.find(([, cell]) => cell.length > LONGEST_CELL) ?? []
    const value = long === undefined ? Object.fromEntries(others) : ApiError.invalid(long, CELL_RULE)
    return createFeature(record[idAt], { value }, record[shapeAt])
  }
}

function createFeature(id = '', { value, properties }: SentFeature, shape = ''): SentFeature {
  const feature = (geometry: unknown) => ({
    value: { type: 'Feature', id, properties: value, geometry },
    properties,
  })
  // The refusal names its id.
  if (value instanceof ApiError) return feature(value)
  try {
    return feature(readShape(shape))
  } catch (error) {
    if (error instanceof ApiError) return feature(error)
    throw error
  }
}

/** The columns of a collection as a table, which can be sent again. */
export const TABLE_COLUMNS = ['id', 'name', 'lat', 'lng', 'area_ha', 'wkt', 'properties'] as const

/** As JSON in which no spreadsheet sees a formula. */
export function toPropertiesCell(properties: string | null): string {
  return (properties ?? 'null').replaceAll(';', '\\u003b')
}

function readOwnRecord([id = '', , , , , shape, properties = 'null']: string[]): SentFeature {
  const { value } = parseFeature(properties)
  const sent = value instanceof ApiError ? undefined : withoutSpace(properties)
  return createFeature(withoutGuard(id), { value, properties: sent }, shape)
}

/** PostGIS writes the number of the system before the text. */
const SRID = /^\s*SRID\s*=\s*(\d+)\s*;/i

function readShape(cell: string): object {
  // A mark or two for each position, at most.
  if (cell.length - cell.replaceAll(/[,(]/g, '').length > 2 * MAX_VERTICES) throw tooManyVertices()
  const srid = SRID.exec(cell)
  if (srid && srid[1] !== '4326')
    throw invalid('wkt', `has the SRID ${srid[1]}: coordinates are longitude and latitude (4326)`)
  const coordinates = readWkt('wkt', cell.slice(srid?.[0].length ?? 0), 'POLYGON')
  return { type: 'MultiPolygon', coordinates }
}
