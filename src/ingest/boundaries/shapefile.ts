import { isAscii, isUtf8 } from 'node:buffer'
import { createReadStream } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { basename, dirname, extname, join } from 'node:path'
import type { Readable } from 'node:stream'
import { OperatorError } from '#src/errors.ts'
import { decodeFile } from '#src/ingest/other-formats.ts'
import { formatError } from '#src/lib/promises.ts'
import {
  decodeField,
  type Encoding,
  encodingNamed,
  encodingOfPage,
  findDriverPage,
  UTF_8,
  withoutCutCharacter,
} from '#src/lib/text.ts'
import { measureBounds } from '#src/raster/rings.ts'
import { convertAreas, shownName, stemOf } from '../other-formats.ts'
import {
  type FeatureFile,
  type FeatureReading,
  isWgs84Wkt,
  MAX_POSITIONS,
  type Noted,
  type RawFeature,
  readNumber,
} from './feature.ts'

type Decode = (bytes: Buffer) => string

const DBF_CUT_OFF = 'its .dbf is cut off'
const DBF_HEADER_BYTES = 32
const FIELD_BYTES = 32
const TERMINATOR = 0x0d

/** In the first byte of a record. dBASE and ArcView keep such records until the file is packed. */
const DELETED = 0x2a

/** Undefined for records that are marked as deleted. */
export async function* readRecords(
  file: ByteReader,
  decode: Decode,
): AsyncGenerator<Record<string, unknown> | undefined> {
  const { count, recordBytes, fields } = await readHeader(file, decode)
  for (let record = 0; record < count; record++) {
    const bytes = await exactly(file, recordBytes, DBF_CUT_OFF)
    if (bytes[0] === DELETED) {
      yield undefined
      continue
    }
    const cells = splitCells(bytes, fields)
    yield Object.fromEntries(
      fields.map(({ name, type }, index) => [name, typed(readCell(cells[index] as Buffer, decode), type)]),
    )
  }
}

async function surveyTexts(file: ByteReader): Promise<{ texts: Texts; languageDriver: number }> {
  const { count, recordBytes, fields, languageDriver } = await readHeader(file, (bytes) =>
    bytes.toString('latin1'),
  )
  let texts: Texts = 'ASCII'
  for (let record = 0; record < count; record++) {
    const bytes = await exactly(file, recordBytes, DBF_CUT_OFF)
    if (bytes[0] === DELETED || isAscii(bytes)) continue
    const cells = splitCells(bytes, fields).map(withoutCutCharacter)
    if (!cells.every((cell) => isUtf8(cell))) return { texts: 'other', languageDriver }
    if (!cells.every((cell) => isAscii(cell))) texts = 'UTF-8'
    else if (texts === 'ASCII') texts = 'cut'
  }
  return { texts, languageDriver }
}

async function readHeader(file: ByteReader, decode: Decode) {
  const header = await exactly(file, DBF_HEADER_BYTES, DBF_CUT_OFF)
  const headerBytes = header.readUInt16LE(8)
  const recordBytes = header.readUInt16LE(10)
  const fields = fieldsIn(
    await exactly(file, Math.max(0, headerBytes - DBF_HEADER_BYTES), DBF_CUT_OFF),
    decode,
  )
  if (recordBytes < fields.reduce((sum, { length }) => sum + length, 1)) {
    throw new Error(`its .dbf has records of ${recordBytes} bytes, which its fields do not fit into`)
  }
  return { count: header.readUInt32LE(4), recordBytes, fields, languageDriver: header.readUInt8(29) }
}

function fieldsIn(bytes: Buffer, decode: Decode) {
  const fields: { name: string; type: string; length: number }[] = []
  for (let at = 0; at + FIELD_BYTES <= bytes.length && bytes[at] !== TERMINATOR; at += FIELD_BYTES) {
    const name = bytes.subarray(at, at + 11)
    const end = name.indexOf(0)
    fields.push({
      name: readCell(end < 0 ? name : name.subarray(0, end), decode),
      type: String.fromCharCode(bytes.readUInt8(at + 11)),
      length: bytes.readUInt8(at + 16),
    })
  }
  return fields
}

function splitCells(record: Buffer, fields: { length: number }[]): Buffer[] {
  let at = 1
  return fields.map(({ length }) => {
    at += length
    return record.subarray(at - length, at)
  })
}

/** Texts are padded with blanks or NUL. */
function readCell(bytes: Buffer, decode: Decode): string {
  return decode(bytes).replaceAll('\0', '').trim()
}

function typed(text: string, type: string): unknown {
  if (type === 'N' || type === 'F') return readNumber(text)
  if (type === 'L') return /^[yt]$/i.test(text)
  return text
}

/** Buffers no more than the caller asks for. */
export class ByteReader {
  readonly #chunks: AsyncIterator<Buffer>
  #rest: Buffer = Buffer.alloc(0)

  constructor(stream: Readable) {
    // An early failure is reported to the reader.
    stream.on('error', () => {})
    this.#chunks = stream[Symbol.asyncIterator]()
  }

  async read(length: number): Promise<Buffer> {
    const parts: Buffer[] = []
    let missing = length
    while (missing > 0) {
      if (this.#rest.length === 0) {
        const { value, done } = await this.#chunks.next()
        if (done) break
        this.#rest = value
      }
      const part = this.#rest.subarray(0, missing)
      this.#rest = this.#rest.subarray(part.length)
      missing -= part.length
      parts.push(part)
    }
    return parts.length === 1 ? (parts[0] as Buffer) : Buffer.concat(parts)
  }

  async close(): Promise<void> {
    await this.#chunks.return?.()
  }
}

/** .cpg names the encoding, .prj the CRS. */
const PARTS = ['shp', 'dbf', 'prj', 'cpg'] as const

type OpenPart = (file: string) => Promise<Readable>

export async function shapefile(path: string, reading: FeatureReading): Promise<FeatureFile> {
  const stem = basename(path, extname(path))
  const siblings = (await readdir(dirname(path))).filter((name) => findPart(name) && stemOf(name) === stem)
  const paths = siblings.sort().map((name) => join(dirname(path), name))
  return {
    name: basename(path),
    paths,
    reading: shapefileReading(reading),
    features: (noted) =>
      shapefileFeatures(path, paths, async (file) => createReadStream(file), reading, noted),
  }
}

/** Older versions guessed encodings differently: their files may be loaded again. */
export function shapefileReading({ encoding }: FeatureReading): string[] {
  return ['encoding', encoding?.name ?? 'by label']
}

export function findPart(name: string) {
  return PARTS.find((part) => name.toLowerCase().endsWith(`.${part}`))
}

/** Memory holds one feature, whatever the size of the files. */
export async function* shapefileFeatures(
  path: string,
  files: string[],
  openPart: OpenPart,
  reading: FeatureReading,
  noted: Noted,
): AsyncGenerator<RawFeature> {
  const name = shownName(path)
  const [shp, dbf, prj, cpg] = PARTS.map((part) => files.findLast((file) => findPart(file) === part))
  if (!shp || !dbf) {
    throw new OperatorError(`${name} is not complete: its .${shp ? 'dbf' : 'shp'} is missing.`)
  }
  const readers: ByteReader[] = []
  const open = async (part: string) => {
    const reader = new ByteReader(await openPart(part))
    readers.push(reader)
    return reader
  }
  try {
    const crs = prj ? (await readSmallText(await open(prj), prj, noted)).trim() : ''
    if (crs === '') noted(`${name} has no CRS (.prj): its coordinates are taken for degrees of WGS 84.`)
    else refuseOtherCrs(path, crs)
    const label = cpg && (await readSmallText(await open(cpg), cpg, noted))
    const survey = await surveyTexts(await open(dbf))
    const { encoding, note } = chooseEncoding(name, survey, label, reading.encoding)
    if (note) noted(note)
    const isMisread = survey.texts === 'UTF-8' && encoding !== UTF_8
    const remedy = isMisread ? 'Give --encoding utf-8, or write UTF-8 into its .cpg.' : undefined
    const decode: Decode = (bytes) => decodeField(bytes, encoding)
    const pairs = sideBySide(path, readShapes(await open(shp)), readRecords(await open(dbf), decode), noted)
    for await (const feature of pairs) yield { ...feature, remedy }
  } catch (error) {
    if (error instanceof OperatorError) throw error
    const reason = formatError(error)
    if (reason === CUT_OFF) throw new OperatorError(`${name} is cut off: ${CUT_OFF}.`, { code: 'CUT_OFF' })
    throw new OperatorError(`${name} is not a shapefile that can be read: ${reason}.`)
  } finally {
    for (const reader of readers) await reader.close()
  }
}

async function* sideBySide(
  path: string,
  shapes: ReturnType<typeof readShapes>,
  records: AsyncGenerator<Record<string, unknown> | undefined>,
  noted: Noted,
): AsyncGenerator<RawFeature> {
  const name = shownName(path)
  let deleted = 0
  const saying = () => (deleted === 1 ? 'One record is' : `${deleted} records are`)
  for (let number = 1; ; number++) {
    const [found, record] = [await shapes.next(), await records.next()]
    if (!record.done && record.value === undefined) {
      // Deleted records at the end need no shapes.
      deleted++
      continue
    }
    if (found.done && record.done) {
      if (number === deleted + 1) throw new OperatorError(`${name} has no features.`)
      if (deleted > 0) noted(`${saying()} marked as deleted in the .dbf of ${name}, and left out.`)
      return
    }
    if (found.done || record.done) {
      const [more, fewer] = found.done ? ['records', 'shapes'] : ['shapes', 'records']
      const marked = deleted > 0 ? `; ${deleted} of them marked as deleted` : ''
      throw new OperatorError(
        `${name} does not fit its .dbf: there are ${number - 1} ${fewer} and more ${more}${marked}.`,
      )
    }
    const { shape, read } = found.value
    const properties = record.value as Record<string, unknown>
    yield { file: name, path, number, read, geometry: shape, properties }
  }
}

/**
 * The contents of all texts of a file. Cut: all bytes beyond ASCII may be characters of UTF-8 that their fields cut
 * off, or single bytes of another encoding.
 */
type Texts = 'ASCII' | 'UTF-8' | 'cut' | 'other'

const EXAMPLES = 'utf-8, windows-1252 or 850'

export function givenEncoding(label: string): Encoding {
  const encoding = encodingNamed(label.trim())
  if (encoding) return encoding
  throw new OperatorError(`--encoding must be an encoding that is known, such as ${EXAMPLES}, not ${label}.`)
}

export function refuseEncoding(name: string, { encoding }: { encoding?: Encoding }): void {
  if (encoding === undefined) return
  throw new OperatorError(`${name} says what its texts are in: --encoding is for shapefiles.`)
}

/**
 * The given encoding, else the label's, else UTF-8 for surely valid texts, else Windows-1252. For ASCII no label
 * matters.
 *
 * @param cpg the text of the .cpg; it overrides the label of the .dbf
 * @returns a note about guesses and contradictions
 */
function chooseEncoding(
  name: string,
  { texts, languageDriver }: { texts: Texts; languageDriver: number },
  cpg = '',
  given?: Encoding,
): { encoding: Encoding; note?: string } {
  if (texts === 'ASCII') return { encoding: UTF_8 }
  const label = readLabel(cpg.trim(), languageDriver)
  if (!label && !given) {
    if (texts === 'UTF-8') return { encoding: UTF_8 }
    const note = `${name} does not say what its texts are in, and they are not UTF-8: they are read as Windows-1252. If names look damaged, give --encoding.`
    return { encoding: encodingNamed('windows-1252') as Encoding, note }
  }
  const encoding = given ?? label?.encoding
  if (!encoding) {
    const others = /^utf-?16/i.test(String(label?.says))
      ? 'make it anew in UTF-8'
      : `give --encoding, such as ${EXAMPLES}`
    const way = texts === 'UTF-8' ? 'give --encoding utf-8' : others
    throw new OperatorError(
      `${name} says in its ${label?.where} that its texts are in ${label?.says}, which is not read: ${way}.`,
    )
  }
  if (encoding === UTF_8 && texts === 'other') {
    const says = given ? 'not valid as UTF-8' : `not UTF-8, as its ${label?.where} says`
    throw new OperatorError(`The texts of ${name} are ${says}: give --encoding, such as windows-1252 or 850.`)
  }
  if (given || encoding === UTF_8 || texts !== 'UTF-8') return { encoding }
  return {
    encoding,
    note: `${name} says in its ${label?.where} that its texts are in ${encoding.name}, but they are valid as UTF-8: if names look damaged, give --encoding utf-8.`,
  }
}

/** No code page, and that of the machine that made the file. */
const SILENT_DRIVERS = [0, 0x57]

function readLabel(cpg: string, driver: number) {
  if (cpg !== '') return { where: '.cpg', says: cpg.slice(0, 50), encoding: encodingNamed(cpg) }
  if (SILENT_DRIVERS.includes(driver)) return undefined
  const page = findDriverPage(driver)
  const says = page === undefined ? `language driver ${driver}` : `code page ${page}`
  return { where: '.dbf', says, encoding: encodingOfPage(page) }
}

/** A .prj or .cpg has a few lines. */
const MAX_TEXT_BYTES = 64 * 1024

async function readSmallText(file: ByteReader, name: string, noted: Noted): Promise<string> {
  return decodeFile(await file.read(MAX_TEXT_BYTES), { source: basename(name) }, noted)
}

function refuseOtherCrs(path: string, wkt: string): void {
  if (isWgs84Wkt(wkt)) return
  const crs = /^\s*\w+\s*\[\s*"([^"]*)"/.exec(wkt)?.[1] ?? wkt.slice(0, 50)
  throw new OperatorError(
    `${shownName(path)} is in the CRS ${crs}, not in WGS 84: convert it with ${convertAreas(path)}.`,
  )
}

const CUT_OFF = 'it is shorter than its header says'

async function exactly(file: ByteReader, length: number, refusal: string): Promise<Buffer> {
  const bytes = await file.read(length)
  if (bytes.length < length) throw new Error(refusal)
  return bytes
}

type Position = [x: number, y: number]

const HEADER_BYTES = 100
const FILE_CODE = 9994
/** Its length in 16-bit words. */
const LENGTH_OFFSET = 24
const RECORD_HEADER_BYTES = 8

/** Positions with heights and measures, and half as much for ring offsets. */
const MAX_RECORD_BYTES = 48 * MAX_POSITIONS

const POLYGONS = [5, 15, 25]
const OTHER_TYPES: [name: string, types: number[]][] = [
  ['Point', [1, 11, 21]],
  ['LineString', [3, 13, 23]],
  ['MultiPoint', [8, 18, 28]],
  ['MultiPatch', [31]],
]

/**
 * ESRI Shapefile Technical Description, 1998.
 *
 * @yields GeoJSON; null for an empty record; of other types than polygons, only the type
 * @throws {Error} for a damaged or short file
 */
export async function* readShapes(file: ByteReader): AsyncGenerator<{ shape: object | null; read: number }> {
  const header = await exactly(file, HEADER_BYTES, CUT_OFF)
  if (header.readInt32BE(0) !== FILE_CODE) throw new Error('it does not begin as a .shp file does')
  const bytes = header.readInt32BE(LENGTH_OFFSET) * 2
  let left = bytes - HEADER_BYTES
  for (let number = 1; left > 0; number++) {
    const length = (await exactly(file, RECORD_HEADER_BYTES, CUT_OFF)).readInt32BE(4) * 2
    if (length < 0) throw new Error(`shape ${number} has less than no bytes`)
    if (length > MAX_RECORD_BYTES) {
      throw new Error(`shape ${number} has ${length} bytes; at most ${MAX_RECORD_BYTES} are read`)
    }
    left -= RECORD_HEADER_BYTES + length
    yield { shape: readGeometry(await exactly(file, length, CUT_OFF), number), read: 1 - left / bytes }
  }
}

const COUNTS_OFFSET = 36
const PARTS_OFFSET = 44
const PART_BYTES = 4
const POSITION_BYTES = 16

function readGeometry(record: Buffer, number: number): object | null {
  const type = record.length < 4 ? 0 : record.readInt32LE(0)
  if (type === 0) return null
  if (!POLYGONS.includes(type)) {
    const [other] = OTHER_TYPES.find(([, types]) => types.includes(type)) ?? []
    if (other) return { type: other }
    throw new Error(`shape ${number} is of type ${type}, which there is not`)
  }
  const damaged = new Error(`shape ${number} is damaged`)
  if (record.length < PARTS_OFFSET) throw damaged
  const parts = record.readInt32LE(COUNTS_OFFSET)
  const positions = record.readInt32LE(COUNTS_OFFSET + 4)
  const start = PARTS_OFFSET + parts * PART_BYTES
  if (parts < 0 || positions < 0 || parts > positions || start + positions * POSITION_BYTES > record.length)
    throw damaged
  if (positions > MAX_POSITIONS) {
    throw new Error(`shape ${number} has ${positions} positions; at most ${MAX_POSITIONS} are read`)
  }
  const starts = Array.from({ length: parts }, (_, part) =>
    record.readInt32LE(PARTS_OFFSET + part * PART_BYTES),
  )
  const ends = [...starts.slice(1), positions]
  // Each position has one ring: otherwise few bytes could declare millions of rings.
  if (starts.some((from, ring) => from < 0 || from > (ends[ring] as number))) throw damaged
  const rings = starts
    .map((from, ring) => readRing(record, start + from * POSITION_BYTES, (ends[ring] as number) - from))
    .filter((ring) => ring.length > 0)
  return assemblePolygons(rings)
}

function readRing(record: Buffer, start: number, count: number): Position[] {
  return Array.from({ length: count }, (_, index): Position => {
    const at = start + index * POSITION_BYTES
    return [record.readDoubleLE(at), record.readDoubleLE(at + 8)]
  })
}

/**
 * Outer rings run clockwise, holes against it. A hole belongs to the smallest ring around it. A hole without one means
 * reversed rings, or no hole.
 */
function assemblePolygons(positions: Position[][]): object | null {
  const rings = positions.map(measureRing)
  const polygons = assembled(rings, true) ?? assembled(rings, false) ?? rings.map((ring) => [ring.positions])
  if (polygons.length === 0) return null
  return polygons.length === 1
    ? { type: 'Polygon', coordinates: polygons[0] }
    : { type: 'MultiPolygon', coordinates: polygons }
}

type Ring = ReturnType<typeof measureRing>

/** @returns undefined if a hole lies in no ring */
function assembled(rings: Ring[], outersClockwise: boolean): Position[][][] | undefined {
  const outers = rings.filter((ring) => ring.clockwise === outersClockwise)
  const polygons = new Map(outers.map((outer) => [outer, [outer.positions]]))
  for (const hole of rings) {
    if (hole.clockwise === outersClockwise) continue
    let around: Ring | undefined
    for (const outer of outers) {
      if (contains(outer, hole) && (!around || contains(around, outer))) around = outer
    }
    if (!around) return undefined
    polygons.get(around)?.push(hole.positions)
  }
  return [...polygons.values()]
}

function contains({ bounds: outer }: Ring, { bounds: inner }: Ring): boolean {
  return outer[0] <= inner[0] && outer[1] <= inner[1] && outer[2] >= inner[2] && outer[3] >= inner[3]
}

function measureRing(positions: Position[]) {
  // Twice the area, by the trapezes between sides and the x axis.
  let area = 0
  let [beforeX, beforeY] = positions[0] as Position
  for (const [x, y] of positions) {
    area += (x - beforeX) * (y + beforeY)
    beforeX = x
    beforeY = y
  }
  return { positions, clockwise: area > 0, bounds: measureBounds([positions.flat()]) }
}
