import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import pg from 'pg'
import { pathOf } from '#src/storage/store.ts'
import { decodeHeader } from '#src/tiles/decode-granule.ts'
import { say } from '../bench.ts'
import type { RowBytes, ScalingResults } from './results.ts'
import type { LoadedDatabase, Stage } from './stage.ts'

/** So many rows of each kind are made: enough that pages which are not full do not count. */
const ROWS = 20_000

/** As a registration, a login, a key, a day with advice and a load into files leave them. */
const FILL = [
  `insert into app_user (email, email_key, password_hash, name)
  select place || '@example.org', place || '@example.org',
    '$argon2id$v=19$m=19456,t=2,p=1$' || repeat('s', 22) || '$' || repeat('h', 43), 'Farmer ' || place
  from generate_series(1, ${ROWS}) as place`,
  `insert into session (user_id, expires_at) select id, now() + interval '30 days' from app_user`,
  `insert into refresh_token (hash, session_id, expires_at)
  select sha256(id::text::bytea), id, expires_at from session`,
  `insert into api_key (user_id, name, hint, hash)
  select id, 'Server', 'agro_12345678', sha256(id::text::bytea) from app_user`,
  'create table granule_copy (like granule including all)',
  `insert into granule_copy (coverage_id, granule_row, granule_column, name, header_bytes, bytes)
  select 1, place / 500, place % 500, encode(sha256(place::text::bytea), 'hex'), 4000, 4000000
  from generate_series(1, ${ROWS}) as place`,
  `insert into user_usage (user_id, day, product, country_code, crop_code, advisories)
  select id, current_date, 'fertilizer', 'eth', 'wheat', 3 from app_user`,
]

const TABLES = {
  account: 'app_user',
  session: 'session',
  refreshToken: 'refresh_token',
  key: 'api_key',
  usageDay: 'user_usage',
  granule: 'granule_copy',
} as const

/** What rows about accounts and files take on disk, with their indexes. */
export async function measureRows({ server }: Stage): Promise<RowBytes> {
  say('rows')
  const client = new pg.Client(await server.createDatabase('rows', 'empty'))
  await client.connect()
  try {
    const before = await bytesOfTables(client)
    for (const statement of FILL) await client.query(statement)
    await client.query('vacuum (analyze)')
    const after = await bytesOfTables(client)
    const each = Object.entries(TABLES).map(([name, table]) => [
      name,
      ((after[table] as number) - (before[table] ?? 0)) / ROWS,
    ])
    return Object.fromEntries(each)
  } finally {
    await client.end()
  }
}

async function bytesOfTables(client: pg.Client): Promise<Record<string, number>> {
  const { rows } = await client.query(
    `select name, pg_total_relation_size(to_regclass(name))::float8 as bytes
    from unnest($1::text[]) as name where to_regclass(name) is not null`,
    [Object.values(TABLES)],
  )
  return Object.fromEntries(rows.map(({ name, bytes }) => [name, bytes]))
}

/** So many are held at the same time: the heap grows by megabytes then. */
const HEADERS = 2000

/** What the header of a granule takes in memory, and in its file. */
export async function measureHeader(
  { server }: Stage,
  { url, tileStore }: LoadedDatabase,
  layers: number,
): Promise<ScalingResults['header']> {
  const [{ name, length }] = (await server.execute(
    url,
    'select name, header_bytes as length from granule order by header_bytes desc limit 1',
  )) as [{ name: string; length: number }]
  const file = join(fileURLToPath(tileStore), pathOf(`${name}.tif`))
  const header = readFileSync(file).subarray(0, length)
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as () => void
  collect()
  const before = process.memoryUsage().heapUsed
  const held = Array.from({ length: HEADERS }, () => decodeHeader(header))
  collect()
  const heapBytes = (process.memoryUsage().heapUsed - before) / held.length
  return { layers, heapBytes, fileBytes: length }
}
