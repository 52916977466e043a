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

export const listExtensions = all(sql<{ name: string; installed: string }>`
  select extname as name, extversion as installed from pg_extension where extname like 'postgis%' order by 1`)

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
