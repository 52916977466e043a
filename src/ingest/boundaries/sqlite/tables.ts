import { type Cell, cellsOf } from './cells.ts'
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
 * The rows of a table, one after the other, in the order of their ids.
 *
 * @param maxBytes of a row
 * @throws {Error} where there is no such table, or it is damaged
 */
export async function* rowsOf(file: SqliteFile, table: string, maxBytes: number): AsyncGenerator<Row> {
  const { root, columns } = await tableNamed(file, table)
  for await (const cell of cellsOf(file, root, maxBytes)) yield rowOf(file, table, cell, columns)
}

async function tableNamed(file: SqliteFile, wanted: string): Promise<{ root: number; columns: Column[] }> {
  for await (const cell of cellsOf(file, SCHEMA_PAGE, MAX_SCHEMA_BYTES)) {
    const { type, name, rootpage, sql } = rowOf(file, 'sqlite_schema', cell, SCHEMA_COLUMNS)
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

function rowOf(file: SqliteFile, table: string, { rowid, payload }: Cell, columns: Column[]): Row {
  const values = valuesOf(payload, columns.length, file.decode)
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
