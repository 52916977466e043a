import { cellsOf } from './cells.ts'
import { type Column, columnsOf } from './columns.ts'
import type { SqliteFile } from './file.ts'
import { type Value, valuesOf } from './record.ts'

/** A row by the names of its columns. */
export type Row = Record<string, Value>

/** The table of all tables is on the first page. */
const SCHEMA_PAGE = 1
const SCHEMA_COLUMNS = ['type', 'name', 'tbl_name', 'rootpage', 'sql'].map((name) => ({
  name,
  isRowid: false,
  missing: null,
}))

/** A statement that makes a table: 2,000 columns, the most that there are, take some 100 kB. */
const MAX_SCHEMA_BYTES = 2 ** 20

/**
 * Values of columns that were added after their rows, of a table. Where there are many columns, these take no bytes of the
 * file, and all of the time.
 */
const MAX_MISSING_VALUES = 5_000_000

/**
 * The rows of a table, one after the other, in the order of their ids.
 *
 * @param maxBytes of a row
 * @throws {Error} where there is no such table, or it is damaged
 */
export async function* rowsOf(file: SqliteFile, table: string, maxBytes: number): AsyncGenerator<Row> {
  const { root, columns } = await tableNamed(file, table)
  let missing = 0
  for await (const cell of cellsOf(file, root, maxBytes)) {
    const values = valuesOf(cell.payload, columns.length, file.decode)
    missing += columns.length - values.length
    if (missing > MAX_MISSING_VALUES) {
      throw new Error(
        `the rows of its ${table} are from before most of its ${columns.length} columns: \`ogr2ogr\` writes them anew`,
      )
    }
    yield rowOf(table, cell.rowid, values, columns)
  }
}

async function tableNamed(file: SqliteFile, wanted: string): Promise<{ root: number; columns: Column[] }> {
  for await (const cell of cellsOf(file, SCHEMA_PAGE, MAX_SCHEMA_BYTES)) {
    const values = valuesOf(cell.payload, SCHEMA_COLUMNS.length, file.decode)
    const { type, name, rootpage, sql } = rowOf('sqlite_schema', cell.rowid, values, SCHEMA_COLUMNS)
    if (String(name).toLowerCase() !== wanted.toLowerCase() || (type !== 'table' && type !== 'view')) continue
    // A view has no rows of its own, and a virtual table has them elsewhere.
    if (typeof rootpage !== 'number' || rootpage === 0)
      throw new Error(`its ${wanted} is no table of its own`)
    try {
      return { root: rootpage, columns: columnsOf(String(sql)) }
    } catch (error) {
      throw new Error(`its table ${wanted} cannot be read: ${(error as Error).message}`)
    }
  }
  throw new Error(`it has no table ${wanted}`)
}

function rowOf(table: string, rowid: number, values: Value[], columns: Column[]): Row {
  return Object.fromEntries(
    columns.map(({ name, isRowid, missing }, index) => {
      const value = isRowid ? rowid : index < values.length ? values[index] : missing
      if (value !== undefined) return [name, value]
      throw new Error(
        `its ${table} has rows from before column ${name}, whose default is not read: \`ogr2ogr\` writes it into them`,
      )
    }),
  )
}
