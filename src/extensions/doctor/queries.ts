import { type RawBuilder, sql } from 'kysely'
import type { Db } from '#src/data/tables.ts'

const all =
  <Row>(query: RawBuilder<Row>) =>
  async (db: Db): Promise<Row[]> =>
    (await query.execute(db)).rows

const one =
  <Row>(query: RawBuilder<Row>) =>
  async (db: Db): Promise<Row> =>
    (await query.execute(db)).rows[0] as Row

export const findVersions = one(sql<{ text: string; number: number }>`
  select version() as text, current_setting('server_version_num')::integer as number`)

export const listExtensions = all(sql<{ name: string; installed: string }>`
  select extname as name, extversion as installed from pg_extension where extname like 'postgis%' order by 1`)

interface Connections {
  /** Without those reserved for superusers. */
  most: number
  clients: { application: string; connections: number }[]
}

export const countConnections = one(sql<Connections>`
  select
    current_setting('max_connections')::integer
      - current_setting('superuser_reserved_connections')::integer as most,
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

interface Changes {
  /** What new transactions are by default. */
  readOnly: boolean
  recovering: boolean
}

export const findChanges = one(sql<Changes>`
  select
    current_setting('default_transaction_read_only')::boolean as "readOnly",
    pg_is_in_recovery() as recovering`)

/** The tablespaces of the schema's tables. */
export const listTablespaces = all(sql<{ name: string }>`
  select distinct spcname as name
  from pg_class
  join pg_database on datname = current_database()
  join pg_tablespace on pg_tablespace.oid = coalesce(nullif(reltablespace, 0), dattablespace)
  where relkind = 'r' and relnamespace = current_schema()::regnamespace
  order by name`)

/** Fills a megabyte of a table that goes with the transaction. @throws SQLSTATE 53100 where it has no room */
export async function fillTemporarily(db: Db, tablespace: string): Promise<void> {
  await sql`
    create temporary table filling (text text) on commit drop tablespace ${sql.id(tablespace)}`.execute(db)
  // Longer texts would be compressed.
  await sql`insert into filling select repeat('x', 1900) from generate_series(1, 550)`.execute(db)
}

interface Clocks {
  now: Date
  /** The last publication; null without one. */
  published: Date | null
}

export const findClocks = one(sql<Clocks>`
  select clock_timestamp() as now, (select max(published_at) from publication) as published`)

interface CoordinateSystems {
  present: number
  /** Of grids, and not there. */
  missing: number[]
}

export const findCoordinateSystems = one(sql<CoordinateSystems>`
  select
    (select count(*)::integer from spatial_ref_sys) as present,
    array(
      select distinct srid from coverage
      where not exists (select from spatial_ref_sys where spatial_ref_sys.srid = coverage.srid)
      order by srid
    ) as missing`)

/** A larger grid is counted so far: an index has the tiles, and this many take milliseconds. */
const MOST_TILES = 10_000

/**
 * Complete releases with grids whose tiles are in the database and are fewer than their pixels with values fill.
 * A grid that has lost some of several thousand may have enough.
 */
export const listLackingTiles = all(sql<{ code: string; found: number; needed: number }>`
  select code, found::integer, needed::integer
  from (
    select
      release.code,
      coverage.id,
      least(${MOST_TILES}, ceil(max(layer.valid_count)::numeric / coverage.tile_size ^ 2)) as needed
    from release
    join coverage on coverage.release_id = release.id
    join layer on layer.coverage_id = coverage.id
    where release.status = 'ready' and release.tile_store = 'postgis'
    group by release.code, coverage.id, coverage.tile_size
  ) as grid
  cross join lateral (
    select count(*) as found
    from (select from raster_tile where coverage_id = grid.id limit ${MOST_TILES}) as tile
  ) as counted
  where found < needed
  order by code, grid.id`)

export const countReleasesByStore = all(sql<{ store: string; releases: number }>`
  select tile_store as store, count(*)::integer as releases
  from release
  where status = 'ready'
  group by tile_store
  order by tile_store`)
