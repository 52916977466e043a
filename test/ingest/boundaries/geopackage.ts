import initSqlJs from 'sql.js'

/** Pages are as large as they can be, so that the rows of a test are on one page. */
const PAGE_BYTES = 65536
const LEAF_HEADER_BYTES = 8

/** The table with the areas of a GeoPackage. */
export interface AreaTable {
  /** What makes it: its table is `areas`, its geometries are in `geom`. */
  sql: string
  /** The statement that the file says has made it, where that is another. */
  said?: string
  /** How many times its page says that it has its first row; once, if left out. */
  times?: number
}

export async function geoPackageOf({ sql, said, times = 1 }: AreaTable): Promise<Buffer> {
  const { Database } = await initSqlJs()
  const database = new Database()
  database.run(`PRAGMA page_size = ${PAGE_BYTES}`)
  database.run('CREATE TABLE gpkg_geometry_columns (table_name TEXT, column_name TEXT, srs_id INTEGER)')
  database.run(`INSERT INTO gpkg_geometry_columns VALUES ('areas', 'geom', 0); ${sql}`)
  const [root] = database.exec("SELECT rootpage FROM sqlite_schema WHERE name = 'areas'")
  if (said) {
    database.run('PRAGMA writable_schema = ON')
    database.run("UPDATE sqlite_schema SET sql = ? WHERE name = 'areas'", [said])
  }
  const bytes = Buffer.from(database.export())
  database.close()
  const page = bytes.subarray((Number(root?.values[0]?.[0]) - 1) * PAGE_BYTES)
  if (times > 1) page.writeUInt16BE(times, 3)
  for (let time = 1; time < times; time++)
    page.copy(page, LEAF_HEADER_BYTES + 2 * time, LEAF_HEADER_BYTES, LEAF_HEADER_BYTES + 2)
  return bytes
}
