import { type Kysely, sql } from 'kysely'
import type { Tables } from '#src/database/tables.ts'

export interface TableSize {
  name: string
  bytes: number
}

/** What a database takes on disk, and the tables that take most of it, with their indexes. */
export async function findSizes(db: Kysely<Tables>): Promise<{ bytes: number; tables: TableSize[] }> {
  const { rows: tables } = await sql<TableSize>`
    select relname::text as name, pg_total_relation_size(oid)::float8 as bytes
    from pg_class
    where relnamespace = current_schema()::regnamespace and relkind = 'r'
    order by 2 desc, 1
    limit 5`.execute(db)
  const { rows } = await sql<{ bytes: number }>`
    select pg_database_size(current_database())::float8 as bytes`.execute(db)
  return { bytes: rows[0]?.bytes as number, tables }
}

export interface Bloat {
  name: string
  live: number
  dead: number
  /** Seconds since it was cleaned up, by hand or by itself; null where it never was. */
  vacuumed: number | null
}

/** Tables with at least so many dead rows, and more than a part of the living ones. */
export async function listBloat(db: Kysely<Tables>, dead: number, part: number): Promise<Bloat[]> {
  const { rows } = await sql<Bloat>`
    select
      relname::text as name,
      n_live_tup as live,
      n_dead_tup as dead,
      extract(epoch from clock_timestamp() - greatest(last_vacuum, last_autovacuum))::float8 as vacuumed
    from pg_stat_user_tables
    where n_dead_tup >= ${dead}::bigint and n_dead_tup > n_live_tup * ${part}::float8
    order by n_dead_tup desc`.execute(db)
  return rows
}

/** How many transactions old the oldest rows are that nothing has frozen yet. */
export async function findTransactionAge(db: Kysely<Tables>): Promise<number> {
  const { rows } = await sql<{ age: number }>`
    select age(datfrozenxid) as age from pg_database where datname = current_database()`.execute(db)
  return rows[0]?.age as number
}

/**
 * What the rasters of releases take, in the database or in files, by the ids of the releases.
 *
 * @param releaseId of the one that is asked about; all of them where it is left out
 */
export async function listReleaseSizes(db: Kysely<Tables>, releaseId?: number): Promise<Map<number, number>> {
  const { rows } = await sql<{ id: number; bytes: number }>`
    select release_id as id, sum(bytes)::float8 as bytes
    from (
      select coverage_id, pg_column_size(rast) as bytes from raster_tile
      union all
      select coverage_id, bytes from granule
    ) as stored
    join coverage on coverage.id = coverage_id
    ${releaseId === undefined ? sql`` : sql`where release_id = ${releaseId}`}
    group by release_id`.execute(db)
  return new Map(rows.map(({ id, bytes }) => [id, bytes]))
}
