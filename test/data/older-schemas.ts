import { randomUUID } from 'node:crypto'
import { hashPassword } from '#src/accounts/credentials.ts'
import { newToken, tokenHash } from '#src/accounts/token-queries.ts'
import { openCluster } from '#src/data/client.ts'
import type { Cluster, Database } from '#src/data/database.ts'
import { KEY_PREFIX } from '#src/http/plugins/authentication.ts'
import { createTestDatabase, type TestDatabase } from '#test/setup/database.ts'
import { SINCE_0041 } from '#test/setup/older-scripts.ts'
import { PASSWORD } from '#test/setup/people.ts'
import { databaseUrl, executeOnServer } from '#test/setup/server.ts'

const SINCE_0020 = [
  'answer_template_of',
  'answer_written',
  'create_history_months',
  'detach_history_month',
  'drop_history_month',
  'feedback_has_item',
  'history_months',
  'keep_history_items',
  'uuid_at',
  'uuid_time',
  'write_alone',
  'write_as_before',
  ...SINCE_0041,
]
/** What keeps a table in step that came later than all of them. */
const SINCE_0036 = ['change_noted', 'release_periods_in_step']

/** The last migration of each version that has landed, and the functions that came after it; none had plausible ranges. */
export const LANDED: [last: number, later: string[]][] = [
  [
    11,
    [
      'account_removal_begins',
      'account_removal_ends',
      'audit_record_stays',
      'delete_old_audit_records',
      'history_size_in_step',
      ...SINCE_0020,
      ...SINCE_0036,
    ],
  ],
  [17, [...SINCE_0020, ...SINCE_0036]],
  [40, SINCE_0041],
]

/** Tables that are gone, or have rows of moved items. */
export const CHANGED = [
  ...['advisory_history_json', 'answer_template', 'history_subject', 'tile_use'],
  // An item of yesterday is of an earlier month on the first of one.
  'history_item_earlier',
]

/** Somebody of whom a version has kept something. */
export const USER = { id: randomUUID(), email: 'amina@example.org' }
export const HISTORY = randomUUID()
export const KEY = KEY_PREFIX + newToken()
export const REFRESH_TOKEN = newToken()
export const ANSWER = '{"location": {"name":"Point","lat":9.5,"lng":38.5,"type":"point"},  "as_it": 1.50}'

/** Rows in the columns that each version has had since 1.0.0, as these versions write them. */
export async function fill({ pool }: Database): Promise<void> {
  const session = randomUUID()
  const statements: [text: string, values: unknown[]][] = [
    [
      `insert into app_user (id, email, email_key, password_hash, name) values ($1, $2, $2, $3, 'Amina Bekele')`,
      [USER.id, USER.email, await hashPassword(PASSWORD)],
    ],
    [
      `insert into session (id, user_id, created_at, expires_at) values ($1, $2, now() - interval '2 days', now() + interval '20 days')`,
      [session, USER.id],
    ],
    [
      `insert into refresh_token (hash, session_id, expires_at) values ($1, $2, now() + interval '20 days')`,
      [tokenHash(REFRESH_TOKEN), session],
    ],
    [
      `insert into api_key (user_id, name, hint, hash, scopes) values ($1, 'a key', $2, $3, '{history}')`,
      [USER.id, KEY.slice(0, 8), tokenHash(KEY)],
    ],
    [
      `insert into advisory_history (id, user_id, created_at, kind, product, country_code, crop_code, releases, request, answer, bytes)
       values ($1, $2, now() - interval '1 day', 'point', 'yield', 'eth', 'wheat', '{yield-eth-wheat-2026-01-v1}', '{"lat":9.5}', $3, 100)`,
      [HISTORY, USER.id, ANSWER],
    ],
    [
      `insert into advisory_feedback (history_id, user_id, rating, comment, observed) values ($1, $2, 4, 'good', '{"yield_kg_ha": 3100.5}')`,
      [HISTORY, USER.id],
    ],
    [
      `insert into user_usage (user_id, day, product, country_code, crop_code, advisories) values ($1, current_date, 'yield', 'eth', 'wheat', 1)`,
      [USER.id],
    ],
    [
      `with added as (
         insert into release (code, product, country_code, crop_code, forecast_period, version, source, licence, checksum, status)
         values ('yield-eth-wheat-2026-01-v1', 'yield', 'eth', 'wheat', '2026-01-01', 1, 'A test', 'CC0-1.0', 'a', 'ready')
         returning *
       ), published as (
         insert into publication (product, country_code, crop_code, forecast_period, release_id)
         select product, country_code, crop_code, forecast_period, id from added
       ), covering as (
         insert into coverage (release_id, srid, origin_x, origin_y, pixel_width, pixel_height, width, height, tile_size, west, south, east, north)
         select id, 4326, 38, 10, 1, -1, 1, 1, 16, 38, 9, 39, 10 from added
         returning *
       ), lying as (
         insert into layer (release_id, ordinal, coverage_id, band, scenario, unit, scale, "offset", decimals, pixel_type, valid_count)
         select release_id, 1, id, 1, 'Normal', 'kg/ha', 1, 0, 2, '32BF', 1 from covering
       )
       insert into raster_tile (coverage_id, tile_row, tile_column, rast)
       select id, 0, 0, st_addband(st_makeemptyraster(1, 1, 38, 10, 1, -1, 0, 0, 4326), '32BF', 2464.25, -9999) from covering`,
      [],
    ],
  ]
  for (const [text, values] of statements) await pool.query(text, values)
}

type Rows = Record<string, Record<string, unknown>[]>

export async function rowsOf({ pool }: Database): Promise<Rows> {
  const { rows: tables } = await pool.query(`
    select relname as name from pg_class
    where relkind in ('r', 'v') and relnamespace = 'public'::regnamespace
      and relname not in ('applied_script', 'spatial_ref_sys')
      and not exists (select from pg_depend where objid = pg_class.oid and deptype = 'e')`)
  const all: Rows = {}
  for (const { name } of tables) {
    const { rows } = await pool.query(
      `select to_jsonb(entry) as "row" from ${name} as entry order by entry::text`,
    )
    all[name] = rows.map(({ row }) => row)
  }
  return all
}

/** What later rows have in the columns of those before. */
export function inColumnsOf(before: Rows, after: Rows): Rows {
  const kept = Object.entries(before).map(([table, rows]) => {
    const columns = Object.keys(rows[0] ?? {})
    const cut = (row: Record<string, unknown>) => Object.fromEntries(columns.map((name) => [name, row[name]]))
    return [table, after[table]?.map(cut)] as const
  })
  return Object.fromEntries(kept) as Rows
}

/** A database of a server that nothing was migrated in. */
export async function withNewDatabase(work: (testDatabase: TestDatabase, cluster: Cluster) => Promise<void>) {
  const testDatabase = await createTestDatabase('empty')
  const url = testDatabase.config.DATABASE_URL as string
  const name = `${new URL(url).pathname.slice(1)}_old`
  await executeOnServer(url, `create database ${name}`)
  const config = { ...testDatabase.config, DATABASE_URL: databaseUrl(url, name) }
  const cluster = await openCluster(config)
  try {
    await work({ ...testDatabase, config }, cluster)
  } finally {
    await cluster.close()
    await executeOnServer(url, `drop database ${name} with (force)`)
    await testDatabase.drop()
  }
}
