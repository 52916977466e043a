import { open, stat } from 'node:fs/promises'
import { basename } from 'node:path'
import { OperatorError } from '#src/errors.ts'
import { messageOf } from '#src/lib/caught.ts'
import { type FeatureFile, MAX_POSITIONS, type RawFeature, type Reading } from './feature.ts'
import { geometryOf } from './geopackage-geometry.ts'
import { chooseLayer } from './layers.ts'
import { openSqliteFile, type SqliteFile } from './sqlite/file.ts'
import { type Row, rowsOf } from './sqlite/tables.ts'
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

/**
 * A layer of a GeoPackage, an SQLite file. It is read row by row by a reader of our own: the libraries that run on
 * any Node have the whole file in memory.
 */
export function geoPackage(path: string, reading: Reading): FeatureFile {
  const name = basename(path)
  return {
    name,
    paths: [path],
    reading: reading.layer === undefined ? [] : ['layer', reading.layer],
    async *features() {
      await refuseUnmerged(path, name)
      const handle = await open(path)
      try {
        yield* featuresOf(name, await openSqliteFile(handle), reading)
      } catch (error) {
        if (error instanceof OperatorError) throw error
        throw new OperatorError(`${name} is not a GeoPackage that can be read: ${messageOf(error)}.`)
      } finally {
        await handle.close()
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

async function* featuresOf(name: string, file: SqliteFile, reading: Reading): AsyncGenerator<RawFeature> {
  const layers = await layersOf(file)
  if (layers.length === 0) throw new OperatorError(`${name} has no layers.`)
  const tables = layers.map(({ table }) => table)
  const table = chooseLayer(name, tables, reading)
  const { column, srsId } = layers.find((layer) => layer.table === table) as Layer
  await refuseOtherSrs(name, file, table, srsId)
  let number = 0
  for await (const { [column]: geometry, ...properties } of rowsOf(file, table, MAX_FEATURE_BYTES)) {
    number++
    if (geometry === undefined) throw new Error(`its table ${table} has no column ${column}`)
    yield {
      number,
      read: file.pagesRead() / file.pageCount,
      properties,
      geometry: Buffer.isBuffer(geometry) ? geometryOf(geometry, number) : null,
    }
  }
  if (number === 0) throw new OperatorError(`${name} has no features.`)
}

async function layersOf(file: SqliteFile): Promise<Layer[]> {
  const layers: Layer[] = []
  for await (const row of rowsOf(file, 'gpkg_geometry_columns', MAX_DESCRIPTION_BYTES)) {
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

async function refuseOtherSrs(name: string, file: SqliteFile, table: string, srsId: number): Promise<void> {
  if (UNKNOWN_SRS.includes(srsId)) return
  for await (const row of rowsOf(file, 'gpkg_spatial_ref_sys', MAX_DESCRIPTION_BYTES)) {
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
