import fc from 'fast-check'
import { type Kysely, type RawBuilder, sql, type Transaction } from 'kysely'
import { beforeAll, describe, expect, test } from 'vitest'
import { inTransaction } from '#src/data/sql.ts'
import type { Tables } from '#src/data/tables.ts'
import type { AdvisoryRecord } from '#src/history/keep-answer.ts'
import { deleteItems, type HistoryFilter, listHistory } from '#src/history/queries.ts'
import { deleteOldest } from '#src/history/recording-queries.ts'
import { describeOnServer } from '#test/setup/on-server.ts'
import { openService } from '#test/setup/open-service.ts'
import { newPerson } from '#test/setup/people.ts'
import { runsOf } from '#test/setup/property-runs.ts'
import { allPages, history, keepAt, recordOf } from './advisories.ts'

const service = openService()

const DAY = 86_400_000

describe('a page', () => {
  test('has 50 items where no limit is given, and says where the next one begins', async () => {
    const person = await newPerson(service.app)
    const start = Date.UTC(2026, 5, 1)
    const ids = await keepMany(120, recordOf(person), (index) => start + index)
    const first = await history(service, person, 'my')
    expect(first.body.items.map(({ id }: { id: string }) => id)).toEqual(ids.slice(70).reverse())
    const link = /^<(.*)>; rel="next"$/.exec(first.headers.link as string)?.[1] as string
    expect(link).toBe(`/history/my?cursor=${first.body.next_cursor}`)
    const second = await service.get(`${link}&limit=70`, { by: person })
    expect(second.body.items.map(({ id }: { id: string }) => id)).toEqual(ids.slice(0, 70).reverse())
    expect([second.body.next_cursor, second.headers.link]).toEqual([null, undefined])
  })

  test('ends early where its items are large, and the next one goes on', async () => {
    const person = await newPerson(service.app)
    const large = recordOf(person, { request: { text: 'x'.repeat(3_000_000) } })
    const ids = await keepMany(5, large, (index) => Date.UTC(2026, 5, 1) + index)
    expect((await history(service, person, 'my')).body.items).toHaveLength(3)
    expect((await allPages(service, person)).map(({ id }) => id)).toEqual(ids.toReversed())
  })

  test.each([
    ['limit=101', 'limit'],
    ['limit=5&limit=5', 'limit'],
    ['all=true', 'all'],
    ['from=2026-02-30', 'from'],
    ['from=2026-07-01T10:00:00', 'from'],
    ['from=2026-07-02&to=2026-07-01', 'from'],
    ['from=2026-07-01T10:00:00Z&to=2026-07-01T10:00:00%2B01:00', 'from'],
    ['cursor=x', 'cursor'],
  ])('is refused for %s', async (query, field) => {
    const response = await history(service, service.person, `my?${query}`)
    expect(response.status).toBe(400)
    expect(response.body).toMatchObject({ code: 'INVALID_PARAMETERS', details: [{ field }] })
  })

  test('may be asked for of any years', async () => {
    for (const query of ['from=0001-01-01T00:00:00%2B14:00', 'to=9999-12-31']) {
      expect((await history(service, service.person, `my?${query}`)).status).toBe(200)
    }
  })
})

describe('a cursor', () => {
  test('leads through every item once, whatever is kept meanwhile', async () => {
    const person = await newPerson(service.app)
    const time = Date.parse('2026-07-01T10:00:00.123Z')
    // Several at one moment: the ids decide between them.
    const ids = await keepMany(41, recordOf(person), (index) => time + Math.floor(index / 8))
    const seen = await allPages(service, person, { limit: '7' }, () =>
      keepMany(1, recordOf(person), () => time + DAY),
    )
    expect(seen.map(({ id }) => id).toSorted()).toEqual(ids.toSorted())
    expect(await allPages(service, person)).toHaveLength(41 + 6)
  })

  test('is refused where it is damaged, or of a list with other filters', async () => {
    const person = await newPerson(service.app)
    await keepMany(3, recordOf(person), Date.now)
    const ask = (query: string) => history(service, person, `my?${query}`)
    const { next_cursor: cursor } = (await ask('limit=1&product=yield')).body
    expect((await ask(`limit=2&product=yield&cursor=${cursor}`)).body.items).toHaveLength(2)
    const refused = [
      `cursor=${cursor}`,
      `product=forage&cursor=${cursor}`,
      `product=yield&country_code=eth&cursor=${cursor}`,
      `product=yield&kind=point&cursor=${cursor}`,
      `product=yield&from=2026-01-01&cursor=${cursor}`,
      `product=yield&cursor=${cursor.slice(0, -1)}`,
      `product=yield&cursor=${cursor.slice(0, 4)}A${cursor.slice(5)}`,
      `product=yield&cursor=${Buffer.from('9999999999999999 x').toString('base64url')}`,
    ]
    for (const query of refused) {
      const response = await ask(query)
      expect([response.status, response.body.details?.[0].field], query).toEqual([400, 'cursor'])
    }
  })
})

describe('filters', () => {
  interface Given {
    product: 'yield' | 'forage' | 'all'
    country: 'eth' | 'ken'
    kind: 'point' | 'polygon'
    time: number
  }
  let given: (Given & { id: string })[]
  const START = Date.UTC(2026, 6, 1)
  // Beginnings and ends of days come often: that is where the filters may go wrong.
  const time = fc
    .tuple(fc.integer({ min: 0, max: 4 }), fc.constantFrom(0, 1, DAY / 2, DAY - 1))
    .map(([day, rest]) => START + day * DAY + rest)

  beforeAll(async () => {
    const some = fc.sample(
      fc.record({
        product: fc.constantFrom('yield', 'forage', 'all'),
        country: fc.constantFrom('eth', 'ken'),
        kind: fc.constantFrom('point', 'polygon'),
        time,
      }) as fc.Arbitrary<Given>,
      { numRuns: 120, seed: 7 },
    )
    const ids = await keepAt(
      service,
      some.map(({ product, country, kind, time }) => [
        recordOf(service.person, { product, countryCode: country, kind }),
        new Date(time),
      ]),
    )
    given = some.map((one, index) => ({ ...one, id: ids[index] as string }))
    await keepAt(service, [[recordOf(await newPerson(service.app)), new Date(START)]])
  })

  const day = (time: number) => new Date(time).toISOString().slice(0, 10)
  const moment = (time: number) => new Date(time).toISOString()
  /** A bound, as a date or a date and time, and the time at which it begins to hold or no longer holds. */
  const bound = fc.option(fc.record({ time, asDay: fc.boolean() }), { nil: undefined })

  test('let through what a simple comparison lets through, on pages of any size', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.record({
          product: fc.constantFrom(undefined, 'yield', 'forage', 'all', 'isfm'),
          country: fc.constantFrom(undefined, 'eth', 'ken', 'gha'),
          kind: fc.constantFrom(undefined, 'point', 'polygon'),
          from: bound,
          to: bound,
          limit: fc.integer({ min: 1, max: 100 }),
        }),
        async ({ product, country, kind, from, to, limit }) => {
          const begin = from ? (from.asDay ? Date.parse(day(from.time)) : from.time) : -Infinity
          const end = to ? (to.asDay ? Date.parse(day(to.time)) + DAY : to.time) : Infinity
          fc.pre(begin < end)
          const isAny = (wanted: string | undefined, has: string) => wanted === undefined || wanted === has
          const expected = given
            .filter((one) => isAny(product, one.product) && isAny(country, one.country))
            .filter((one) => isAny(kind, one.kind) && one.time >= begin && one.time < end)
            .sort((a, b) => b.time - a.time || (a.id < b.id ? 1 : -1))
          const items = await allPages(service, service.person, {
            limit: String(limit),
            ...(product && { product }),
            ...(kind && { kind }),
            ...(country && { country_code: country.toUpperCase() }),
            ...(from && { from: from.asDay ? day(from.time) : moment(from.time) }),
            ...(to && { to: to.asDay ? day(to.time) : moment(to.time) }),
          })
          expect(items.map(({ id }) => id)).toEqual(expected.map(({ id }) => id))
        },
      ),
      { numRuns: runsOf(30) },
    )
  })
})

// The plans of PostgreSQL are the same on both databases.
describeOnServer('in a history of ten thousand items', () => {
  const ITEMS = 10_000
  const OTHERS = 1000
  const RATED = 2000
  let db: Kysely<Tables>
  let userId: string
  /** One account has ten thousand times as many items as the others, as far as anybody can tell before looking. */
  beforeAll(async () => {
    db = service.database.writer
    userId = (await newPerson(service.app)).user.id
    const insert = (
      users: RawBuilder<unknown>,
      items: number,
      step: string,
      releases: RawBuilder<unknown>,
    ) => sql`
      insert into history_item (id, user_id, subject_id, template_id, request, answer, bytes)
      select
        uuid_at(timestamptz '2026-01-01Z' + n * ${step}::interval), ${users}, subject_id, template_id, '{}',
        '{"location":{"name":"x","lat":0,"lng":0,"type":"point"}}', 60
      from generate_series(1, ${items}::integer) as n
      join (values (0, 'polygon', 'ken'), (1, 'point', 'gha')) as asked (remainder, kind, country_code)
        on n % 2 = remainder
      cross join lateral answer_template_of('forage', kind, country_code, null, ${releases}, null)`
    await insert(sql`${userId}::uuid`, ITEMS, '2 minutes', sql`'{}'`).execute(db)
    // In each month, of other releases: a planner that expects an item in each may read all ratings and templates for it.
    await insert(sql`gen_random_uuid()`, OTHERS, '8 hours', sql`array['r' || n]`).execute(db)
    await sql`
      insert into history_size (user_id, items, bytes)
      values (${userId}, ${ITEMS}, ${60 * ITEMS})`.execute(db)
    // Subjects that the account has no items of.
    await sql`
      select from unnest(array['yield', 'isfm', 'all']) as product
      cross join lateral answer_template_of(product, 'point', 'gha', null, '{}', null)`.execute(db)
    await sql`select create_history_months(now() + interval '11 months')`.execute(db)
    // Enough that an index has the few of a page, and few enough that a scan seems cheap.
    await sql`
      insert into advisory_feedback (history_id, user_id, rating, observed)
      select id, user_id, 4, '{}' from history_item where user_id = ${userId} order by id limit ${RATED}`.execute(
      db,
    )
    await sql`analyze`.execute(db)
  })

  const FIRST_ID = '00000000-0000-0000-0000-000000000000'
  const NOTHING = { items: 1, bytes: 1, full: 'oldest' } as const

  /** Ends a transaction whose work is not to last. */
  class TakenBack extends Error {
    constructor(count: number) {
      super(`${count} items`)
    }
  }

  const ITEMS_OF_MONTHS = '^history_item'
  /** What items are joined to. */
  const OTHER_TABLES = '^(advisory_feedback|answer_template)$'

  /** How many rows of tables have been read in a transaction, those that were left out included. */
  async function rowsReadIn(trx: Transaction<Tables>, tables = ITEMS_OF_MONTHS): Promise<number> {
    const { rows } = await sql<{ read: number }>`
      select sum(seq_tup_read + idx_tup_fetch)::integer as read from pg_stat_xact_user_tables
      where relname ~ ${tables}`.execute(trx)
    return rows[0]?.read as number
  }

  const MONTH = { from: '2026-01-05T00:00:00.000Z', to: '2026-02-01T00:00:00.000Z' }

  test.each<[string, Partial<HistoryFilter>]>([
    ['all items', {}],
    ['a country', { countryCode: 'gha' }],
    ['some weeks', MONTH],
    ['all filters', { ...MONTH, product: 'forage', countryCode: 'gha', kind: 'point' }],
  ])('a page of %s reads as much deep in a history as at its beginning', async (_what, chosen) => {
    const limit = 100
    const anything = { product: null, kind: null, countryCode: null, from: null, to: null }
    const filter = { userId, ...anything, limit, bytes: 1e9, ...chosen }
    // As after some pages, and where accounts have a single item each in the eyes of the planner; and as at first.
    for (const mode of ['force_generic_plan', 'force_custom_plan']) {
      await inTransaction(db, async (trx) => {
        await sql`select set_config('plan_cache_mode', ${mode}, true)`.execute(trx)
        let after: HistoryFilter['after'] = null
        for (let page = 0; page < 20; page++) {
          const before = await rowsReadIn(trx)
          const othersBefore = await rowsReadIn(trx, OTHER_TABLES)
          const rows = await listHistory(trx, { ...filter, after })
          expect(rows).toHaveLength(limit)
          // A page and one more are found for each subject, and the page is read.
          expect((await rowsReadIn(trx)) - before).toBeLessThanOrEqual(3 * (limit + 1))
          expect((await rowsReadIn(trx, OTHER_TABLES)) - othersBefore).toBeLessThanOrEqual(2 * limit)
          const last = rows.at(-1) as (typeof rows)[number]
          after = last.id
        }
      })
    }
  })

  const PIECE = 500

  test.each<[string, (trx: Transaction<Tables>, userId: string) => Promise<unknown>]>([
    ['the oldest items of a full history', (trx, userId) => deleteOldest(trx, userId, NOTHING, PIECE)],
    ['the items of an account that is gone', (trx, userId) => deleteItems(trx, userId, FIRST_ID, PIECE)],
  ])('a piece of %s is found and deleted without reading others', async (_what, remove) => {
    await inTransaction(db, async (trx) => {
      const before = await rowsReadIn(trx)
      await remove(trx, userId)
      // Months of other tests, of a few items, are read whole.
      expect((await rowsReadIn(trx)) - before).toBeLessThanOrEqual(2 * PIECE + 200)
      const { rows } = await sql`select from history_item where user_id = ${userId}`.execute(trx)
      throw new TakenBack(rows.length)
    }).catch((error) => expect(error).toEqual(new TakenBack(ITEMS - PIECE)))
  })

  const PLANS = ['force_generic_plan', 'force_custom_plan']

  test.each(PLANS)(
    'ratings find their items without reading others, in a month that had few: %s',
    async (mode) => {
      const FEW = 10
      const MANY = 5000
      await inTransaction(db, async (trx) => {
        await sql`select set_config('plan_cache_mode', ${mode}, true)`.execute(trx)
        await countPagesOfRatings(trx, FEW)
        await sql`analyze history_item`.execute(trx)
        await countPagesOfRatings(trx, FEW)
        expect((await countPagesOfRatings(trx, MANY)) / MANY).toBeLessThan(30)
        throw new TakenBack(MANY)
      }).catch((error) => expect(error).toEqual(new TakenBack(MANY)))
    },
  )

  /** Adds items to a month to come, and counts the pages of the database that are read to rate them. */
  async function countPagesOfRatings(trx: Transaction<Tables>, items: number): Promise<number> {
    const { rows: added } = await sql<{ id: string }>`
      insert into history_item (id, user_id, subject_id, template_id, request, answer, bytes)
      select
        (left(uuid_at(date_trunc('month', now()) + interval '2 months')::text, 18)
          || right(gen_random_uuid()::text, 18))::uuid,
        user_id, subject_id, template_id, request, answer, bytes
      from generate_series(1, ${items}::integer)
      cross join (select * from history_item where user_id = ${userId} limit 1) as one
      returning id`.execute(trx)
    const ids = added.map(({ id }) => id)
    const { rows } = await sql<{ 'QUERY PLAN': [{ Plan: Record<string, number> }] }>`
      explain (analyze, buffers, format json)
      insert into advisory_feedback (history_id, user_id, rating) select unnest(${ids}::uuid[]), ${userId}, 4`.execute(
      trx,
    )
    const { Plan: plan = {} } = rows[0]?.['QUERY PLAN'][0] ?? {}
    return (plan['Shared Hit Blocks'] as number) + (plan['Shared Read Blocks'] as number)
  }
})

/** Keeps an advisory so many times, as if it had been given at the time of each. */
const keepMany = (count: number, record: AdvisoryRecord, timeOf: (index: number) => number) =>
  keepAt(
    service,
    Array.from({ length: count }, (_, index) => [record, new Date(timeOf(index))]),
  )
