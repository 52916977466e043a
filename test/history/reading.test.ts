import { type Kysely, sql, type Transaction } from 'kysely'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { inTransaction } from '#src/data/sql.ts'
import type { Tables } from '#src/data/tables.ts'
import { deleteItems, type HistoryFilter, listHistory } from '#src/history/queries.ts'
import { deleteOldest } from '#src/history/recording-queries.ts'
import { createTestAppWithPerson, type TestAppWithPerson } from '#test/setup/people.ts'

// Runs on a server alone: the plans of PostgreSQL are the same on both databases.

const ITEMS = 20_000
const OTHERS = 4000

let service: TestAppWithPerson
let db: Kysely<Tables>
/** One account has ten thousand times as many items as the others, as far as anybody can tell before looking. */
beforeAll(async () => {
  service = await createTestAppWithPerson()
  db = service.database.writer
  const insert = (users: ReturnType<typeof sql>, items: number) => sql`
    insert into history_item (id, user_id, subject_id, template_id, request, answer, bytes)
    select
      uuid_at(timestamptz '2026-01-01Z' + n * interval '1 minute'), ${users}, subject_id, template_id, '{}',
      '{"location":{"name":"x","lat":0,"lng":0,"type":"point"}}', 60
    from (values (0, 'polygon', 'ken'), (1, 'point', 'gha')) as asked (remainder, kind, country_code)
    cross join lateral answer_template_of('forage', kind, country_code, null, '{}', null)
    join generate_series(1, ${items}::integer) as n on n % 2 = remainder`
  await insert(sql`${service.person.user.id}::uuid`, ITEMS).execute(db)
  await insert(sql`gen_random_uuid()`, OTHERS).execute(db)
  await sql`
    insert into history_size (user_id, items, bytes)
    values (${service.person.user.id}, ${ITEMS}, ${60 * ITEMS})`.execute(db)
  await sql`analyze history_item`.execute(db)
})
afterAll(() => service.close())

const FIRST_ID = '00000000-0000-0000-0000-000000000000'
const NOTHING = { items: 1, bytes: 1, full: 'oldest' } as const

/** Ends a transaction whose work is not to last. */
class TakenBack extends Error {
  constructor(left: number) {
    super(`${left} items were left`)
  }
}

/** How many rows of histories have been read in a transaction, those that were left out included. */
async function rowsReadIn(trx: Transaction<Tables>): Promise<number> {
  const { rows } = await sql<{ read: number }>`
    select sum(seq_tup_read + idx_tup_fetch)::integer as read from pg_stat_xact_user_tables
    where relname like 'history_item%'`.execute(trx)
  return rows[0]?.read as number
}

const MONTH = { from: '2026-01-05T00:00:00.000Z', to: '2026-02-01T00:00:00.000Z' }

test.each<[string, Partial<HistoryFilter>]>([
  ['all items', {}],
  ['a product', { product: 'forage' }],
  ['a country', { countryCode: 'ken' }],
  ['a kind', { kind: 'polygon' }],
  ['some weeks', MONTH],
  ['all filters', { ...MONTH, product: 'forage', countryCode: 'gha', kind: 'point' }],
])('a page of %s reads as much deep in a history as at its beginning', async (_what, chosen) => {
  const limit = 100
  const filter = {
    userId: service.person.user.id,
    product: null,
    kind: null,
    countryCode: null,
    from: null,
    to: null,
    after: null,
    limit,
    bytes: 1e9,
    ...chosen,
  }
  await inTransaction(db, async (trx) => {
    let after: HistoryFilter['after'] = null
    for (let page = 0; page < 60; page++) {
      const before = await rowsReadIn(trx)
      const rows = await listHistory(trx, { ...filter, after })
      expect(rows).toHaveLength(limit)
      // A page and one more are found for each subject, and the page is read.
      expect((await rowsReadIn(trx)) - before).toBeLessThanOrEqual(3 * (limit + 1))
      const last = rows.at(-1) as (typeof rows)[number]
      after = last.id
    }
  })
})

const PIECE = 500

test.each<[string, (trx: Transaction<Tables>, userId: string) => Promise<unknown>]>([
  ['the oldest items of a full history', (trx, userId) => deleteOldest(trx, userId, NOTHING, PIECE)],
  ['the items of an account that is gone', (trx, userId) => deleteItems(trx, userId, FIRST_ID, PIECE)],
])('a piece of %s is found and deleted without reading others', async (_what, remove) => {
  await inTransaction(db, async (trx) => {
    const { id } = service.person.user
    const before = await rowsReadIn(trx)
    await remove(trx, id)
    expect((await rowsReadIn(trx)) - before).toBe(2 * PIECE)
    const { rows } = await sql`select from history_item where user_id = ${id}`.execute(trx)
    throw new TakenBack(rows.length)
  }).catch((error) => expect(error).toEqual(new TakenBack(ITEMS - PIECE)))
})
