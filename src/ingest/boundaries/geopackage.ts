import { readFile, stat } from 'node:fs/promises'
import { basename } from 'node:path'
import type { Database } from 'sql.js'
import initSqlJs from 'sql.js'
import { OperatorError } from '#src/errors.ts'
import { formatError } from '#src/lib/promises.ts'
import { convertAreas, quoted as quotedWord } from '../other-formats.ts'
import {
  chooseLayer,
  type FeatureFile,
  type FeatureReading,
  isWgs84Wkt,
  MAX_POSITIONS,
  type RawFeature,
} from './feature.ts'

type Position = [x: number, y: number]

const MAGIC = 'GP'
const HEADER_BYTES = 8
/** By the envelope code of the flags. */
const ENVELOPE_BYTES = [0, 32, 48, 48, 64]

/** Types of well-known binary, by their numbers: ISO 13249-3. */
const TYPES =
  'Geometry Point LineString Polygon MultiPoint MultiLineString MultiPolygon GeometryCollection CircularString CompoundCurve CurvePolygon MultiCurve MultiSurface Curve Surface PolyhedralSurface TIN Triangle'.split(
    ' ',
  )

/** Real files nest no collections. */
const MAX_DEPTH = 8

const DAMAGED = 'its geometry is damaged'

/**
 * A GeoPackage header, then well-known binary.
 *
 * @param number of the feature, for messages
 */
function readPackedGeometry(bytes: Buffer, number: number): object {
  try {
    if (bytes.toString('latin1', 0, 2) !== MAGIC) throw new Error(DAMAGED)
    const flags = bytes.readUInt8(3)
    const isExtended = (flags & 0x20) !== 0
    const envelopeBytes = ENVELOPE_BYTES[(flags >> 1) & 0x07]
    if (isExtended || envelopeBytes === undefined)
      throw new Error('its geometry is of a kind that is not read')
    return readGeometry(bytes.subarray(HEADER_BYTES + envelopeBytes))
  } catch (error) {
    // A number beyond the end.
    const reason = error instanceof RangeError ? DAMAGED : (error as Error).message
    throw new Error(`feature ${number}: ${reason}`)
  }
}

/** GeoJSON of well-known binary; of other types than polygons, only the type. */
function readGeometry(bytes: Buffer): object {
  let at = 0
  let littleEndian = true
  // Counts rings too: millions of rings may have no positions.
  let left = MAX_POSITIONS

  function uint32(): number {
    at += 4
    return littleEndian ? bytes.readUInt32LE(at - 4) : bytes.readUInt32BE(at - 4)
  }

  function double(): number {
    at += 8
    return littleEndian ? bytes.readDoubleLE(at - 8) : bytes.readDoubleBE(at - 8)
  }

  function parts<Part>(read: () => Part, bytesOfPart = 0): Part[] {
    const count = uint32()
    if (count * bytesOfPart > bytes.length - at) throw new Error(DAMAGED)
    left -= count
    if (left < 0) throw new Error(`it has more than ${MAX_POSITIONS} positions and rings`)
    const found: Part[] = []
    for (let part = 0; part < count; part++) found.push(read())
    return found
  }

  function position(numbers: number): Position {
    const found: Position = [double(), double()]
    at += 8 * (numbers - 2)
    return found
  }

  /** ISO and PostGIS flags; each part states its byte order. */
  function geometry(depth: number): { type: string; coordinates?: unknown } {
    if (depth > MAX_DEPTH) throw new Error(DAMAGED)
    littleEndian = bytes.readUInt8(at++) === 1
    const code = uint32()
    const flagged = code >>> 28
    if ((flagged & 0x2) !== 0) uint32()
    const base = code & 0x0fff_ffff
    const [type, dimensions] = [TYPES[base % 1000], Math.floor(base / 1000)]
    const more = dimensions === 0 ? ((flagged >> 3) & 1) + ((flagged >> 2) & 1) : dimensions === 3 ? 2 : 1
    if (dimensions > 3 || type === undefined) throw new Error(DAMAGED)
    const inner = () => parts(() => geometry(depth + 1))
    if (type === 'Polygon') {
      const numbers = 2 + more
      return { type, coordinates: parts(() => parts(() => position(numbers), 8 * numbers)) }
    }
    if (type === 'GeometryCollection') return { type, geometries: inner() } as { type: string }
    if (type === 'MultiPolygon') {
      const polygons = inner()
      if (polygons.some((polygon) => polygon.type !== 'Polygon')) throw new Error(DAMAGED)
      return { type, coordinates: polygons.map(({ coordinates }) => coordinates) }
    }
    // The length of other types is unknown, so later parts cannot be read.
    if (depth > 0) throw new Error(`its geometry has a ${type} in it`)
    return { type }
  }

  return geometry(0)
}

/** Describing tables hold texts of some kB. */
const MAX_DESCRIPTION_BYTES = 2 ** 20

/** Positions with heights and measures, and attributes. */
const MAX_FEATURE_BYTES = 48 * MAX_POSITIONS

const MAX_LAYERS = 1000

/** Undefined Cartesian and geographic systems. */
const UNKNOWN_SRS = [-1, 0]

interface Layer {
  table: string
  column: string
  srsId: number
}

/** SQLite holds the whole file; commands stay below 512 MB. */
const MAX_FILE_BYTES = 256 * 2 ** 20

const REASONS: Record<string, string> = {
  'file is not a database': 'it is no SQLite file',
  'database disk image is malformed': 'it is cut off or damaged',
}

export function geoPackage(path: string, reading: FeatureReading): FeatureFile {
  const name = basename(path)
  return {
    name,
    paths: [path],
    reading: reading.layer === undefined ? [] : ['layer', reading.layer],
    async *features() {
      await refuseUnmerged(path, name)
      await refuseLarge(path, name)
      let file: SqliteFile | undefined
      try {
        file = await openSqlite(await readFile(path))
        yield* readFeatures(path, file, reading)
      } catch (error) {
        if (error instanceof OperatorError) throw error
        const reason = REASONS[formatError(error)] ?? formatError(error)
        throw new OperatorError(`${name} is not a GeoPackage that can be read: ${reason}.`)
      } finally {
        file?.close()
      }
    },
  }
}

/** An open program may keep the last writes in files beside it. */
async function refuseUnmerged(path: string, name: string): Promise<void> {
  for (const ending of ['-wal', '-journal']) {
    const beside = await stat(path + ending).catch(() => undefined)
    if (!beside || beside.size === 0) continue
    throw new OperatorError(
      `${name} is not complete without ${name}${ending}: close the programs that have it open, or copy it with \`ogr2ogr OUT.gpkg ${quotedWord(path)}\`.`,
    )
  }
}

async function refuseLarge(path: string, name: string): Promise<void> {
  const { size } = await stat(path)
  if (size <= MAX_FILE_BYTES) return
  throw new OperatorError(
    `${name} has ${Math.ceil(size / 2 ** 20)} MB; GeoPackages of at most 256 MB are read: \`ogr2ogr -t_srs EPSG:4326 areas.geojson ${quotedWord(path)} LAYER\` makes a file of any size of one layer.`,
  )
}

function* readFeatures(path: string, file: SqliteFile, reading: FeatureReading): Generator<RawFeature> {
  const name = basename(path)
  const layers = listLayers(file)
  if (layers.length === 0) throw new OperatorError(`${name} has no layers.`)
  const tables = layers.map(({ table }) => table)
  const table = chooseLayer(name, tables, reading)
  const { column, srsId } = layers.find((layer) => layer.table === table) as Layer
  refuseOtherSrs(path, file, table, srsId)
  let number = 0
  for (const { row, read } of file.rows(table, MAX_FEATURE_BYTES)) {
    const { [column]: geometry, ...properties } = row
    number++
    if (geometry === undefined) throw new Error(`its table ${table} has no column ${column}`)
    yield {
      file: name,
      path,
      number,
      read,
      properties,
      geometry: Buffer.isBuffer(geometry) ? readPackedGeometry(geometry, number) : null,
    }
  }
  if (number === 0) throw new OperatorError(`${name} has no features.`)
}

function listLayers(file: SqliteFile): Layer[] {
  const layers: Layer[] = []
  for (const { row } of file.rows('gpkg_geometry_columns', MAX_DESCRIPTION_BYTES)) {
    if (layers.length === MAX_LAYERS) throw new Error(`it has more than ${MAX_LAYERS} layers`)
    layers.push({
      table: readName(row, 'table_name'),
      column: readName(row, 'column_name'),
      srsId: Number(row.srs_id),
    })
  }
  return layers
}

const MAX_NAME_CHARACTERS = 1000

function readName(row: Row, column: string): string {
  const value = row[column]
  if (typeof value === 'string' && value.length <= MAX_NAME_CHARACTERS) return value
  throw new Error(`its gpkg_geometry_columns has no ${column}`)
}

function refuseOtherSrs(path: string, file: SqliteFile, table: string, srsId: number): void {
  if (UNKNOWN_SRS.includes(srsId)) return
  for (const { row } of file.rows('gpkg_spatial_ref_sys', MAX_DESCRIPTION_BYTES)) {
    if (row.srs_id !== srsId) continue
    const isEpsg = String(row.organization).toUpperCase() === 'EPSG'
    if ((isEpsg && row.organization_coordsys_id === 4326) || isWgs84Wkt(String(row.definition))) return
    const crs = String(row.srs_name).slice(0, 50)
    throw new OperatorError(
      `Layer ${table} of ${basename(path)} is in the CRS ${crs}, not in WGS 84: convert it with ${convertAreas(path, undefined, table)}.`,
    )
  }
  throw new Error(`its layer ${table} has a CRS that it does not have`)
}

type Row = Record<string, null | number | string | Buffer>

type SqliteFile = Awaited<ReturnType<typeof openSqlite>>

/** Columns that are newer than the rows take time, and no bytes. */
const MAX_MISSING_VALUES = 5_000_000

/** Versions of the format for writers and readers: 2 would need a log beside the file. */
const VERSIONS = [18, 19]

/** SQLite's replacement for bytes that are no text. */
const NO_TEXT = '\uFFFD'

async function openSqlite(bytes: Buffer) {
  for (const version of VERSIONS) if (bytes[version] === 2) bytes[version] = 1
  const { Database } = await initSqlJs()
  const database = new Database(bytes)
  return {
    /**
     * In the order of row ids.
     *
     * @param maxBytes of a row
     */
    *rows(table: string, maxBytes: number): Generator<{ row: Row; read: number }> {
      // Foreign files get no expression computed.
      database.run('PRAGMA trusted_schema = OFF; PRAGMA ignore_check_constraints = ON')
      const columns = listColumns(database, table)
      const count = measured(database, table, columns, maxBytes)
      if (count * columns.length > bytes.length + MAX_MISSING_VALUES) {
        throw new Error(
          `the rows of its ${table} are from before most of its ${columns.length} columns: \`ogr2ogr\` writes them anew`,
        )
      }
      const valid = new Set<string>()
      let number = 0
      for (const row of query(database, `SELECT * FROM ${quoted(table)} ORDER BY rowid`)) {
        for (const [column, value] of Object.entries(row)) {
          if (typeof value !== 'string' || !value.includes(NO_TEXT) || valid.has(column)) continue
          refuseNoText(database, table, column)
          valid.add(column)
        }
        yield { row, read: ++number / count }
      }
    },
    close: () => database.close(),
  }
}

/** Views, virtual tables and computed columns would run SQL of the file. */
function listColumns(database: Database, table: string): string[] {
  const sql = 'SELECT type, rootpage FROM sqlite_schema WHERE name = ? COLLATE NOCASE'
  const [entry] = query(database, sql, [table])
  if (!entry) throw new Error(`it has no table ${table}`)
  if (entry.type !== 'table' || entry.rootpage === 0) throw new Error(`its ${table} is no table of its own`)
  const columns = [...query(database, 'SELECT name, hidden FROM pragma_table_xinfo(?)', [table])]
  if (columns.some(({ hidden }) => hidden !== 0)) throw new Error(`the columns of its ${table} are computed`)
  return columns.map(({ name }) => String(name))
}

function measured(database: Database, table: string, columns: string[], maxBytes: number): number {
  // A damaged file fails after the first row.
  const [check] = [...query(database, `PRAGMA quick_check(${quoted(table)})`)]
  if (check?.quick_check !== 'ok') {
    throw new Error(`its table ${table} is damaged (${String(check?.quick_check).split('\n').at(-1)})`)
  }
  const [counted] = query(database, `SELECT count(*) AS count FROM ${quoted(table)}`)
  const lengths = columns.map((column) => `max(octet_length(${quoted(column)}))`)
  const [longest = {}] = query(database, `SELECT ${lengths} FROM ${quoted(table)}`)
  const bytes = Object.values(longest).reduce<number>((sum, length) => sum + Number(length), 0)
  if (bytes > maxBytes) {
    throw new Error(`its ${table} has values of ${bytes} bytes in a row; at most ${maxBytes} are read`)
  }
  return Number(counted?.count)
}

/** Texts may hold the replacement character itself. */
function refuseNoText(database: Database, table: string, column: string): void {
  const [pragma] = query(database, 'PRAGMA encoding')
  const decoder = new TextDecoder(String(pragma?.encoding), { fatal: true })
  const texts = `SELECT CAST(${quoted(column)} AS BLOB) AS bytes FROM ${quoted(table)} WHERE typeof(${quoted(column)}) = 'text'`
  for (const { bytes } of query(database, texts)) decoder.decode(bytes as Buffer)
}

/** The library's types lack this option. */
type GetAsObject = (
  parameters: null,
  options: { useBigInt: true },
) => Record<string, null | number | bigint | string | Uint8Array>

function* query(database: Database, sql: string, parameters: string[] = []): Generator<Row> {
  const statement = database.prepare(sql, parameters)
  try {
    while (statement.step()) {
      const row = (statement.getAsObject as unknown as GetAsObject).call(statement, null, { useBigInt: true })
      yield Object.fromEntries(Object.entries(row).map(([name, value]) => [name, readValue(value)]))
    }
  } finally {
    statement.free()
  }
}

function readValue(value: ReturnType<GetAsObject>[string]): Row[string] {
  if (value instanceof Uint8Array) return Buffer.from(value.buffer, value.byteOffset, value.length)
  if (typeof value !== 'bigint') return value
  return Number.isSafeInteger(Number(value)) ? Number(value) : String(value)
}

function quoted(name: string): string {
  return `"${name.replaceAll('"', '""')}"`
}
