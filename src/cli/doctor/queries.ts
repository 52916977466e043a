import { type Kysely, sql } from 'kysely'
import type { Tables } from '#src/data/tables.ts'

export interface Versions {
  text: string
  number: number
}

export async function findVersions(db: Kysely<Tables>): Promise<Versions> {
  const { rows } = await sql<Versions>`
    select version() as text, current_setting('server_version_num')::integer as number`.execute(db)
  return rows[0] as Versions
}

export interface Extension {
  name: string
  installed: string
  /** The version of the server's files; null without them. */
  available: string | null
}

export async function listExtensions(db: Kysely<Tables>): Promise<Extension[]> {
  const { rows } = await sql<Extension>`
    select extname as name, extversion as installed, default_version as available
    from pg_extension left join pg_available_extensions on name = extname
    where extname like 'postgis%'
    order by extname`.execute(db)
  return rows
}

export interface Places {
  /** Without the connections that are reserved for superusers. */
  places: number
  clients: { application: string; connections: number }[]
}

export async function countConnections(db: Kysely<Tables>): Promise<Places> {
  const { rows: clients } = await sql<Places['clients'][number]>`
    select coalesce(nullif(application_name, ''), 'without a name') as application, count(*) as connections
    from pg_stat_activity
    where datid is not null and coalesce(backend_type, 'client backend') = 'client backend'
    group by 1
    order by 2 desc, 1`.execute(db)
  const { rows } = await sql<{ places: number }>`
    select current_setting('max_connections')::integer
      - current_setting('superuser_reserved_connections')::integer as places`.execute(db)
  return { places: rows[0]?.places as number, clients }
}

export interface OpenTransaction {
  pid: number
  application: string
  idle: boolean
  seconds: number
}

/**
 * Other transactions of this database, the oldest first. Idle ones that only hold an advisory lock (see `lockWork`)
 * are left out: they do not hold back vacuum.
 */
export async function listOpenTransactions(db: Kysely<Tables>, seconds: number): Promise<OpenTransaction[]> {
  const { rows } = await sql<OpenTransaction>`
    select
      pid,
      coalesce(nullif(application_name, ''), 'without a name') as application,
      state like 'idle in transaction%' as idle,
      extract(epoch from clock_timestamp() - xact_start)::float8 as seconds
    from pg_stat_activity
    where datname = current_database()
      and pid <> pg_backend_pid()
      and coalesce(backend_type, 'client backend') = 'client backend'
      and xact_start < clock_timestamp() - make_interval(secs => ${seconds}::float8)
      and not (
        state = 'idle in transaction' and backend_xid is null and backend_xmin is null
        and exists (select from pg_locks where pg_locks.pid = pg_stat_activity.pid and locktype = 'advisory')
      )
    order by xact_start`.execute(db)
  return rows
}

export interface Blocked {
  pid: number
  application: string
  seconds: number
  blockers: { pid: number; application: string; state: string | null }[]
}

export async function listBlocked(db: Kysely<Tables>): Promise<Blocked[]> {
  const { rows } = await sql<Blocked>`
    select
      blocked.pid,
      coalesce(nullif(blocked.application_name, ''), 'without a name') as application,
      coalesce(extract(epoch from clock_timestamp() - blocked.query_start), 0)::float8 as seconds,
      (
        select coalesce(jsonb_agg(jsonb_build_object(
          'pid', pid,
          'application', coalesce(nullif(application_name, ''), 'without a name'),
          'state', state
        ) order by pid), '[]')
        from pg_stat_activity where pid = any (pg_blocking_pids(blocked.pid))
      ) as blockers
    from pg_stat_activity as blocked
    where datname = current_database()
      and wait_event_type = 'Lock'
      and cardinality(pg_blocking_pids(pid)) > 0
    order by query_start`.execute(db)
  return rows
}

export async function findEncryption(
  db: Kysely<Tables>,
): Promise<{ ssl: boolean; version: string | null } | undefined> {
  const { rows } = await sql<{ ssl: boolean; version: string | null }>`
    select ssl, version from pg_stat_ssl where pid = pg_backend_pid()`.execute(db)
  return rows[0]
}

export async function readClock(db: Kysely<Tables>): Promise<number> {
  const { rows } = await sql<{ now: number }>`
    select extract(epoch from clock_timestamp())::float8 * 1000 as now`.execute(db)
  return rows[0]?.now as number
}

/** The position in the write-ahead log. */
export async function findWrittenPosition(db: Kysely<Tables>): Promise<string> {
  const { rows } = await sql<{ position: string }>`select pg_current_wal_lsn()::text as position`.execute(db)
  return rows[0]?.position as string
}

export interface Replay {
  recovering: boolean
  paused: boolean
  /** Bytes of the log to replay. */
  behind: number
  /** Since the last replayed transaction; null before the first. */
  seconds: number | null
}

export async function findReplay(db: Kysely<Tables>, position: string): Promise<Replay> {
  const { rows } = await sql<Replay>`
    select
      pg_is_in_recovery() as recovering,
      case when pg_is_in_recovery() then pg_is_wal_replay_paused() else false end as paused,
      case when pg_is_in_recovery()
        then greatest(0, pg_wal_lsn_diff(${position}::pg_lsn, pg_last_wal_replay_lsn()))
        else 0
      end::float8 as behind,
      extract(epoch from clock_timestamp() - pg_last_xact_replay_timestamp())::float8 as seconds`.execute(db)
  return rows[0] as Replay
}

export interface TableSize {
  name: string
  bytes: number
}

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
  /** Seconds since the last vacuum; null before the first. */
  vacuumed: number | null
}

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

export async function findTransactionAge(db: Kysely<Tables>): Promise<number> {
  const { rows } = await sql<{ age: number }>`
    select age(datfrozenxid) as age from pg_database where datname = current_database()`.execute(db)
  return rows[0]?.age as number
}

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
