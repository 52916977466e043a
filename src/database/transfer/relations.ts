import { type Kysely, sql } from 'kysely'
import { isOurs, isWhole } from '../rights.ts'
import type { Tables } from '../tables.ts'

/** A table as it is exported: as a whole, whatever partitions it may have. */
export interface Relation {
  name: string
  /** In the order in which a row as text has them. */
  columns: string[]
  /** Those of them that are computed from the others, and cannot be written. */
  generated: string[]
}

/** Says itself what a database has of the schema: each makes its own. */
const APPLIED_SCRIPTS: keyof Tables = 'applied_script'

/** What is exported, asked of the schema itself: a new table cannot be forgotten. */
export async function listRelations(db: Kysely<Tables>): Promise<Relation[]> {
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

/** The bytes that tables take, by their names. */
export async function listSizes(db: Kysely<Tables>, relations: Relation[]): Promise<Map<string, number>> {
  const { rows } = await sql<{ name: string; bytes: number }>`
    select
      name,
      coalesce(
        (select sum(pg_table_size(relid)) from pg_partition_tree(name::regclass)),
        pg_table_size(name::regclass)
      )::float8 as bytes
    from unnest(${relations.map(({ name }) => name)}::text[]) as relation (name)`.execute(db)
  return new Map(rows.map(({ name, bytes }) => [name, bytes]))
}

/** Where a sequence stands. */
export interface SequenceState {
  name: string
  /** As text: it may be larger than what a number holds exactly. */
  value: string
  called: boolean
}

export async function readSequences(db: Kysely<Tables>): Promise<SequenceState[]> {
  const { rows: names } = await sql<{ name: string }>`
    select relname as name from pg_class
    where relkind = 'S' and relnamespace = current_schema()::regnamespace and ${isOurs('pg_class')}
    order by relname`.execute(db)
  const states: SequenceState[] = []
  for (const { name } of names) {
    const { rows } = await sql<SequenceState>`
      select ${name} as name, last_value::text as value, is_called as called from ${sql.table(name)}`.execute(
      db,
    )
    states.push(...rows)
  }
  return states
}

export async function setSequence(db: Kysely<Tables>, { name, value, called }: SequenceState): Promise<void> {
  await sql`select setval(quote_ident(${name})::regclass, ${value}::bigint, ${called})`.execute(db)
}

/** A foreign key, and how it is made. */
export interface ForeignKey {
  table: string
  name: string
  definition: string
}

/** Foreign keys of the tables; those that partitions inherit go and come with them. */
export async function listForeignKeys(db: Kysely<Tables>): Promise<ForeignKey[]> {
  const { rows } = await sql<ForeignKey>`
    select relname as "table", conname as name, pg_get_constraintdef(pg_constraint.oid) as definition
    from pg_constraint
    join pg_class on pg_class.oid = conrelid
    where contype = 'f' and conparentid = 0 and relnamespace = current_schema()::regnamespace
      and ${isOurs('pg_class')}
    order by relname, conname`.execute(db)
  return rows
}

/** Rows are written as text in the same way wherever they are read: times, doubles and bytes. */
export async function settleText(db: Kysely<Tables>): Promise<void> {
  await sql`
    select
      set_config('timezone', 'UTC', true),
      set_config('datestyle', 'ISO, YMD', true),
      set_config('intervalstyle', 'iso_8601', true),
      set_config('extra_float_digits', '1', true),
      set_config('bytea_output', 'hex', true)`.execute(db)
}
