import { type Kysely, type RawBuilder, sql } from 'kysely'
import type { Tables } from '#src/data/tables.ts'

const all =
  <Row>(query: RawBuilder<Row>) =>
  async (db: Kysely<Tables>): Promise<Row[]> =>
    (await query.execute(db)).rows

const one =
  <Row>(query: RawBuilder<Row>) =>
  async (db: Kysely<Tables>): Promise<Row> =>
    (await query.execute(db)).rows[0] as Row

export const findVersions = one(sql<{ text: string; number: number }>`
  select version() as text, current_setting('server_version_num')::integer as number`)

/** `available` is the version of the server's files. */
export const listExtensions = all(sql<{ name: string; installed: string; available: string | null }>`
  select extname as name, extversion as installed, default_version as available
  from pg_extension left join pg_available_extensions on name = extname
  where extname like 'postgis%'
  order by extname`)

interface Connections {
  /** Without those reserved for superusers. */
  places: number
  clients: { application: string; connections: number }[]
}

export const countConnections = one(sql<Connections>`
  select
    current_setting('max_connections')::integer
      - current_setting('superuser_reserved_connections')::integer as places,
    json_agg(json_build_object('application', application, 'connections', connections)) as clients
  from (
    select coalesce(nullif(application_name, ''), 'without a name') as application, count(*) as connections
    from pg_stat_activity
    where datid is not null and coalesce(backend_type, 'client backend') = 'client backend'
    group by 1
    order by 2 desc, 1
  ) as client`)

export const findEncryption = one(sql<{ ssl: boolean; version: string | null } | undefined>`
  select ssl, version from pg_stat_ssl where pid = pg_backend_pid()`)

export const readClock = one(sql<{ now: number }>`
  select extract(epoch from clock_timestamp())::float8 * 1000 as now`)

/** The position in the write-ahead log. */
export const findWritten = one(sql<{ position: string }>`select pg_current_wal_lsn()::text as position`)

export interface Replay {
  recovering: boolean
  paused: boolean
  /** Bytes of the log to replay. */
  behind: number
  /** Since the last replayed transaction; null before the first. */
  seconds: number | null
}

export const findReplay = (position: string) =>
  one(sql<Replay>`
    select
      pg_is_in_recovery() as recovering,
      case when pg_is_in_recovery() then pg_is_wal_replay_paused() else false end as paused,
      case when pg_is_in_recovery()
        then greatest(0, pg_wal_lsn_diff(${position}::pg_lsn, pg_last_wal_replay_lsn()))
        else 0
      end::float8 as behind,
      extract(epoch from clock_timestamp() - pg_last_xact_replay_timestamp())::float8 as seconds`)

export const findSizes = one(sql<{ bytes: number; tables: { name: string; bytes: number }[] }>`
  select
    pg_database_size(current_database())::float8 as bytes,
    coalesce(json_agg(json_build_object('name', name, 'bytes', bytes)), '[]') as tables
  from (
    select relname::text as name, pg_total_relation_size(oid)::float8 as bytes
    from pg_class
    where relnamespace = current_schema()::regnamespace and relkind = 'r'
    order by 2 desc, 1
    limit 5
  ) as large`)

/** Bytes of the rasters of releases, in the database or in files, by id. */
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
