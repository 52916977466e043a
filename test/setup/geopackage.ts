/** Pages are as large as they can be, so that a table of a test is one page. */
const PAGE_BYTES = 65536
const FILE_HEADER_BYTES = 100
const LEAF = 0x0d
const LEAF_HEADER_BYTES = 8

type Value = null | number | string | Buffer

/** The table with the areas of a GeoPackage. Nothing of it has to be right. */
export interface AreaTable {
  /** The statement that made it; its table is `areas`, its geometries are in `geom`. */
  sql: string
  /** Rows as they are stored. */
  rows: Buffer[]
  /** How many times the page says that it has each of them; once, if left out. */
  times?: number
}

/** A GeoPackage of one layer of WGS 84, byte by byte (https://www.sqlite.org/fileformat2.html). */
export function geoPackageOf({ sql, rows, times = 1 }: AreaTable): Buffer {
  const layers =
    'CREATE TABLE gpkg_geometry_columns (table_name TEXT, column_name TEXT, srs_id INTEGER, PRIMARY KEY (table_name, column_name))'
  const further: Buffer[] = []
  const pages = [
    [
      rowOf(['table', 'gpkg_geometry_columns', 'gpkg_geometry_columns', 2, layers]),
      rowOf(['table', 'areas', 'areas', 3, sql]),
    ],
    [rowOf(['areas', 'geom', 0])],
    rows,
  ].map((stored, index) =>
    leafOf(stored, index === 0 ? FILE_HEADER_BYTES : 0, index === 2 ? times : 1, further),
  )
  const header = pages[0] as Buffer
  header.write('SQLite format 3\0', 'latin1')
  // A size that does not fit into the two bytes for it.
  header.writeUInt16BE(1, 16)
  header.writeUInt32BE(1, 56)
  return Buffer.concat([...pages, ...further])
}

/** A row of some values: their types first, then their bytes. */
export function rowOf(values: Value[]): Buffer {
  const [types, bodies] = [values.map(typeOf), values.map(bytesOf)]
  const length = types.reduce((sum, type) => sum + type.length, 0)
  // A length of one byte counts itself.
  const header = length < 127 ? varint(length + 1) : varint(length + 2)
  return Buffer.concat([header, ...types, ...bodies])
}

/** A whole number below 2^32, seven bits a byte. */
export function varint(value: number): Buffer {
  const bytes = [value % 128]
  for (let rest = Math.floor(value / 128); rest > 0; rest = Math.floor(rest / 128))
    bytes.unshift((rest % 128) + 128)
  return Buffer.from(bytes)
}

function typeOf(value: Value): Buffer {
  if (value === null) return varint(0)
  if (typeof value === 'number') return varint(4)
  return varint(2 * bytesOf(value).length + (typeof value === 'string' ? 13 : 12))
}

function bytesOf(value: Value): Buffer {
  if (value === null) return Buffer.alloc(0)
  if (typeof value !== 'number') return Buffer.from(value as string)
  const bytes = Buffer.alloc(4)
  bytes.writeInt32BE(value)
  return bytes
}

/** A page of rows; what of them has no room goes to further pages. */
function leafOf(rows: Buffer[], start: number, times: number, further: Buffer[]): Buffer {
  const page = Buffer.alloc(PAGE_BYTES)
  page.writeUInt8(LEAF, start)
  page.writeUInt16BE(rows.length * times, start + 3)
  let end = PAGE_BYTES
  for (const [index, row] of rows.entries()) {
    const local = localBytes(row.length)
    const cell = [varint(row.length), varint(index + 1), row.subarray(0, local)]
    if (local < row.length) cell.push(overflowOf(row.subarray(local), further))
    const bytes = Buffer.concat(cell)
    end -= bytes.copy(page, end - bytes.length)
    for (let time = 0; time < times; time++) {
      page.writeUInt16BE(end, start + LEAF_HEADER_BYTES + 2 * (index * times + time))
    }
  }
  return page
}

function localBytes(length: number): number {
  if (length <= PAGE_BYTES - 35) return length
  const least = Math.floor(((PAGE_BYTES - 12) * 32) / 255) - 23
  const fitting = least + ((length - least) % (PAGE_BYTES - 4))
  return fitting <= PAGE_BYTES - 35 ? fitting : least
}

/** Writes further pages, each of which names the next; returns the number of the first. */
function overflowOf(rest: Buffer, further: Buffer[]): Buffer {
  const first = further.length + 4
  for (let at = 0; at < rest.length; at += PAGE_BYTES - 4) {
    const page = Buffer.alloc(PAGE_BYTES)
    rest.copy(page, 4, at, at + PAGE_BYTES - 4)
    if (at + PAGE_BYTES - 4 < rest.length) page.writeUInt32BE(further.length + 5)
    further.push(page)
  }
  const number = Buffer.alloc(4)
  number.writeUInt32BE(first)
  return number
}
