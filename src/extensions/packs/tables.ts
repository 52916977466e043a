import { ByteWriter, ParquetWriter, schemaFromColumnData } from 'hyparquet-writer'
import { csvRow } from '#src/http/formats.ts'
import type { Pause } from '#src/lib/limiter.ts'
import type { Bounds } from '#src/raster/rings.ts'
import type { PackedArea } from './content.ts'
import { type PackTable, POSITION_COLUMNS, type TableCell, type TableSeries } from './rows.ts'

/** The formats of the table of a pack. */

/** CSV in UTF-8, a piece for each slice of rows. */
export async function* writeCsv({ columns, slices }: PackTable): AsyncGenerator<Buffer> {
  yield Buffer.from(csvRow(columns.map(({ name }) => name)))
  for await (const rows of slices) yield Buffer.from(rows.map(csvRow).join(''))
}

/** Cells of a row group. A column of it takes some milliseconds; the end of the file says some words of each, in one go. */
const CELLS_A_GROUP = 400_000

const GEOMETRY = 'geometry'

/** Well-known binary of a point: byte order, type, x and y. */
const POINT_BYTES = 21
const LITTLE_ENDIAN = 1
const POINT = 1

function encodePoint(longitude: number, latitude: number): Uint8Array {
  const bytes = Buffer.alloc(POINT_BYTES)
  bytes.writeUInt8(LITTLE_ENDIAN, 0)
  bytes.writeUInt32LE(POINT, 1)
  bytes.writeDoubleLE(longitude, 5)
  bytes.writeDoubleLE(latitude, 13)
  return bytes
}

/** The columns of rows as the package takes them, one by one; every one may have nulls, except geometries. */
function* columnData({ columns }: Pick<PackTable, 'columns'>, rows: readonly TableCell[][]) {
  const { latitude, longitude } = POSITION_COLUMNS
  for (const [at, { name, isText }] of columns.entries()) {
    const type = isText ? ('STRING' as const) : ('DOUBLE' as const)
    yield { name, type, data: rows.map((row) => row[at] as TableCell), nullable: true }
  }
  yield {
    name: GEOMETRY,
    type: 'BYTE_ARRAY' as const,
    data: rows.map((row) => encodePoint(row[longitude] as number, row[latitude] as number)),
    nullable: false,
    // The least bytes of points say nothing about places.
    statistics: false,
  }
}

type RowGroup = ParquetWriter['row_groups'][number]

/** Writes a row group as the package does, but with a pause before each column: to the package, each is a group. */
async function writeGroup(
  parquet: ParquetWriter,
  columns: ReturnType<typeof columnData>,
  rows: number,
  pause: Pause,
): Promise<void> {
  const before = parquet.row_groups.length
  for (const column of columns) {
    await pause()
    parquet.write({ columnData: [column], rowGroupSize: rows })
  }
  const [group, ...others] = parquet.row_groups.splice(before) as [RowGroup, ...RowGroup[]]
  for (const { columns, num_rows, total_byte_size, total_compressed_size = 0n } of others) {
    group.columns.push(...columns)
    group.total_byte_size += total_byte_size
    group.total_compressed_size = (group.total_compressed_size ?? 0n) + total_compressed_size
    parquet.num_rows -= num_rows
  }
  parquet.row_groups.push(group)
}

/** GeoParquet 1.1.0: https://geoparquet.org/releases/v1.1.0. Without a `crs` it is OGC:CRS84. */
function describeGeometry(bbox: Bounds | null) {
  const column = { encoding: 'WKB', geometry_types: ['Point'], ...(bbox && { bbox }) }
  return { version: '1.1.0', primary_column: GEOMETRY, columns: { [GEOMETRY]: column } }
}

/** What the file says of itself beside its rows. */
function describeSources({ countryCode, level, code, name }: PackedArea, series: readonly TableSeries[]) {
  return {
    area: { country_code: countryCode, level, code, name },
    releases: series.map(({ release: { code: release, product, cropCode, synthetic, source, licence } }) => ({
      ...{ release, product, crop: cropCode, synthetic, source, licence },
    })),
  }
}

/** Rows gathered from slices to groups. */
async function* groupRows({ columns, slices }: PackTable): AsyncGenerator<TableCell[][]> {
  const most = Math.ceil(CELLS_A_GROUP / columns.length)
  let group: TableCell[][] = []
  for await (const rows of slices) {
    group.push(...rows)
    for (; group.length >= most; group = group.slice(most)) yield group.slice(0, most)
  }
  if (group.length > 0) yield group
}

function includePoints(bbox: Bounds | null, rows: readonly TableCell[][]): Bounds | null {
  let [west, south, east, north] = bbox ?? [Infinity, Infinity, -Infinity, -Infinity]
  for (const row of rows) {
    const [x, y] = [row[POSITION_COLUMNS.longitude] as number, row[POSITION_COLUMNS.latitude] as number]
    ;[west, south] = [Math.min(west, x), Math.min(south, y)]
    ;[east, north] = [Math.max(east, x), Math.max(north, y)]
  }
  return west <= east ? [west, south, east, north] : null
}

/** GeoParquet with the places of rows as points, a piece for each group of rows. */
export async function* writeParquet(
  area: PackedArea,
  table: PackTable,
  pause: Pause,
): AsyncGenerator<Uint8Array> {
  const writer = new ByteWriter()
  const schema = schemaFromColumnData({ columnData: [...columnData(table, [])] })
  const parquet = new ParquetWriter({ writer, schema, createdBy: 'agro-advisory' })
  const takeBytes = () => {
    const bytes = writer.getBytes().slice()
    writer.index = 0
    return bytes
  }
  let bbox: Bounds | null = null
  for await (const rows of groupRows(table)) {
    bbox = includePoints(bbox, rows)
    await writeGroup(parquet, columnData(table, rows), rows.length, pause)
    yield takeBytes()
  }
  parquet.kvMetadata = [
    { key: 'geo', value: JSON.stringify(describeGeometry(bbox)) },
    { key: 'agro', value: JSON.stringify(describeSources(area, table.series)) },
  ]
  await parquet.finish()
  yield takeBytes()
}
