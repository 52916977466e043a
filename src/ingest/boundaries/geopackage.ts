import { readFile, stat } from 'node:fs/promises'
import { basename } from 'node:path'
import { OperatorError } from '#src/errors.ts'
import { messageOf } from '#src/lib/caught.ts'
import { type FeatureFile, MAX_POSITIONS, type RawFeature, type Reading } from './feature.ts'
import { geometryOf } from './geopackage-geometry.ts'
import { chooseLayer } from './layers.ts'
import { openSqlite, type Row, type SqliteFile } from './sqlite.ts'
import { isWgs84Wkt } from './wgs84.ts'

/** A row of the tables that describe the others: texts of some kB. */
const MAX_DESCRIPTION_BYTES = 2 ** 20

/** Positions with their heights and measures, and attributes. */
const MAX_FEATURE_BYTES = 48 * MAX_POSITIONS

/** A table of features may be one of many, of which their names are in memory. */
const MAX_LAYERS = 1000

/** Ids of no CRS: Cartesian and geographic ones that nobody knows. */
const UNKNOWN_SRS = [-1, 0]

/** A layer of a GeoPackage. */
interface Layer {
  table: string
  /** The column with the geometry. */
  column: string
  srsId: number
}

/** SQLite has the whole file in memory; commands stay below 512 MB. */
const MAX_FILE_BYTES = 256 * 2 ** 20

/** For the messages of SQLite about whole files. */
const REASONS: Record<string, string> = {
  'file is not a database': 'it is no SQLite file',
  'database disk image is malformed': 'it is cut off or damaged',
}

/** A layer of a GeoPackage, an SQLite file. */
export function geoPackage(path: string, reading: Reading): FeatureFile {
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
        yield* featuresOf(name, file, reading)
      } catch (error) {
        if (error instanceof OperatorError) throw error
        const reason = REASONS[messageOf(error)] ?? messageOf(error)
        throw new OperatorError(`${name} is not a GeoPackage that can be read: ${reason}.`)
      } finally {
        file?.close()
      }
    },
  }
}

/** What was written last may be in files beside it, as long as a program has it open. */
async function refuseUnmerged(path: string, name: string): Promise<void> {
  for (const ending of ['-wal', '-journal']) {
    const beside = await stat(path + ending).catch(() => undefined)
    if (!beside || beside.size === 0) continue
    throw new OperatorError(
      `${name} is not complete without ${name}${ending}: close the programs that have it open, or copy it with \`ogr2ogr OUT.gpkg ${name}\`.`,
    )
  }
}

async function refuseLarge(path: string, name: string): Promise<void> {
  const { size } = await stat(path)
  if (size <= MAX_FILE_BYTES) return
  throw new OperatorError(
    `${name} has ${Math.ceil(size / 2 ** 20)} MB; GeoPackages of at most 256 MB are read: \`ogr2ogr -t_srs EPSG:4326 areas.geojson ${name} LAYER\` makes a file of any size of one layer.`,
  )
}

function* featuresOf(name: string, file: SqliteFile, reading: Reading): Generator<RawFeature> {
  const layers = layersOf(file)
  if (layers.length === 0) throw new OperatorError(`${name} has no layers.`)
  const tables = layers.map(({ table }) => table)
  const table = chooseLayer(name, tables, reading)
  const { column, srsId } = layers.find((layer) => layer.table === table) as Layer
  refuseOtherSrs(name, file, table, srsId)
  let number = 0
  for (const { row, read } of file.rows(table, MAX_FEATURE_BYTES)) {
    const { [column]: geometry, ...properties } = row
    number++
    if (geometry === undefined) throw new Error(`its table ${table} has no column ${column}`)
    yield {
      number,
      read,
      properties,
      geometry: Buffer.isBuffer(geometry) ? geometryOf(geometry, number) : null,
    }
  }
  if (number === 0) throw new OperatorError(`${name} has no features.`)
}

function layersOf(file: SqliteFile): Layer[] {
  const layers: Layer[] = []
  for (const { row } of file.rows('gpkg_geometry_columns', MAX_DESCRIPTION_BYTES)) {
    if (layers.length === MAX_LAYERS) throw new Error(`it has more than ${MAX_LAYERS} layers`)
    layers.push({
      table: textIn(row, 'table_name'),
      column: textIn(row, 'column_name'),
      srsId: Number(row.srs_id),
    })
  }
  return layers
}

/** Names of tables and columns are short. */
const MAX_NAME_CHARACTERS = 1000

function textIn(row: Row, column: string): string {
  const value = row[column]
  if (typeof value === 'string' && value.length <= MAX_NAME_CHARACTERS) return value
  throw new Error(`its gpkg_geometry_columns has no ${column}`)
}

function refuseOtherSrs(name: string, file: SqliteFile, table: string, srsId: number): void {
  if (UNKNOWN_SRS.includes(srsId)) return
  for (const { row } of file.rows('gpkg_spatial_ref_sys', MAX_DESCRIPTION_BYTES)) {
    if (row.srs_id !== srsId) continue
    const isEpsg = String(row.organization).toUpperCase() === 'EPSG'
    if ((isEpsg && row.organization_coordsys_id === 4326) || isWgs84Wkt(String(row.definition))) return
    const crs = String(row.srs_name).slice(0, 50)
    throw new OperatorError(
      `Layer ${table} of ${name} is in the CRS ${crs}, not in WGS 84: convert it with \`ogr2ogr -t_srs EPSG:4326 OUT.geojson ${name} "${table}"\`.`,
    )
  }
  throw new Error(`its layer ${table} has a CRS that it does not have`)
}
