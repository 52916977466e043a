import { type RawBuilder, sql } from 'kysely'
import { isOurs, isWhole } from '#src/data/rights.ts'
import type { Db, Tables, Trx } from '#src/data/tables.ts'
import { OperatorError } from '#src/errors.ts'

/* Rows of any table as text, from one database into another. */

/** A table with all of its partitions. */
export interface Relation {
  name: string
  /** In the order of a row as text. */
  columns: string[]
  /** Computed columns, which cannot be written. */
  generated: string[]
}

/** Each database makes its own. */
const APPLIED_SCRIPTS: keyof Tables = 'applied_script'

/** From the schema itself: a new table cannot be forgotten. */
export async function listRelations(db: Db): Promise<Relation[]> {
  const { rows } = await sql<Relation>`
    select
      relname as name,
      array_agg(attname::text order by attnum) as columns,
      coalesce(array_agg(attname::text order by attnum) filter (where attgenerated <> ''), '{}') as generated
    from pg_class
    join pg_attribute on attrelid = pg_class.oid
    where relkind in ('r', 'p') and ${isWhole}
      and relnamespace = current_schema()::regnamespace and ${isOurs('pg_class')}
      and relname <> ${APPLIED_SCRIPTS}
      and attnum > 0 and not attisdropped
    group by relname
    order by relname`.execute(db)
  return rows
}

/** Fixes the text of times, doubles and bytes. */
export async function settleText(db: Db): Promise<void> {
  await sql`
    select
      set_config('timezone', 'UTC', true),
      set_config('datestyle', 'ISO, YMD', true),
      set_config('intervalstyle', 'iso_8601', true),
      set_config('extra_float_digits', '1', true),
      set_config('bytea_output', 'hex', true)`.execute(db)
}

/** Reads rows as text, as of one moment; others may write meanwhile. */
export async function readAsOfNow<Result>(db: Db, work: (trx: Trx) => Promise<Result>): Promise<Result> {
  const transaction = db.transaction().setIsolationLevel('repeatable read').setAccessMode('read only')
  return transaction.execute(async (trx) => {
    await settleText(trx)
    return work(trx)
  })
}

/** Characters of the rows that are read at once, about. */
export const PORTION = 1024 * 1024
const FIRST_ROWS = 8
const MOST_ROWS = 1000

/**
 * Yields the rows of a table as text. Their number at once goes by the longest one so far, such as the outline of a country.
 * The embedded database would hold all of a COPY in memory.
 */
export async function* readRows(
  trx: Trx,
  name: string,
  where: RawBuilder<unknown> = sql`true`,
): AsyncGenerator<string> {
  await sql`
    declare exported no scroll cursor for
    select entry::text as text from ${sql.table(name)} as entry where ${where}`.execute(trx)
  let most = FIRST_ROWS
  let longest = 1
  for (;;) {
    const { rows } = await sql<{ text: string }>`fetch forward ${sql.lit(most)} from exported`.execute(trx)
    for (const { text } of rows) {
      longest = Math.max(longest, text.length)
      yield text
    }
    if (rows.length < most) break
    most = Math.min(2 * most, MOST_ROWS, Math.max(1, Math.floor(PORTION / longest)))
  }
  await sql`close exported`.execute(trx)
}

/** Writes rows in portions; gives their number. */
export async function inPortions(
  all: AsyncIterable<string>,
  write: (rows: string[]) => Promise<void>,
): Promise<number> {
  let [rows, size, count]: [string[], number, number] = [[], 0, 0]
  for await (const row of all) {
    rows.push(row)
    size += row.length
    count++
    if (size < PORTION) continue
    await write(rows)
    ;[rows, size] = [[], 0]
  }
  if (rows.length > 0) await write(rows)
  return count
}

/** @throws {OperatorError} where the columns differ */
export function sameRelation(
  ours: Relation | undefined,
  { name, columns }: Omit<Relation, 'generated'>,
): Relation {
  if (ours && ours.columns.join() === columns.join()) return ours
  throw new OperatorError(
    `The table ${name} is not here as it is there: one of both was changed by hand, or is of another version.`,
  )
}

/** The database takes the text of a row apart by its own rules. */
export async function insert(
  trx: Trx,
  { name, columns, generated }: Relation,
  rows: string[],
): Promise<void> {
  const written = sql.join(
    columns.filter((column) => !generated.includes(column)).map((column) => sql.ref(column)),
  )
  await sql`
    insert into ${sql.table(name)} (${written}) overriding system value
    select ${written} from unnest(${rows}::${sql.table(name)}[])`.execute(trx)
}
