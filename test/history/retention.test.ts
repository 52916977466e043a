import { type Kysely, sql } from 'kysely'
import { beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import { buildApp } from '#src/app.ts'
import { isLockNotAvailable } from '#src/data/failures.ts'
import type { Tables } from '#src/data/tables.ts'
import { deleteOldest } from '#src/history/recording-queries.ts'
import { dropMonthPiece, findRetention } from '#src/history/retention-queries.ts'
import { DAY_MS } from '#src/lib/dates.ts'
import { openService } from '#test/setup/open-service.ts'
import { PATIENCE } from '#test/setup/patience.ts'
import { newPerson, type Person } from '#test/setup/people.ts'
import * as advisories from './advisories.ts'
import { allPages, history, keepAt, recorderOn, recordOf } from './advisories.ts'

/** How many months are kept before this one. */
const KEPT = 2

/** More than is counted away in one piece. */
const MANY = 2100

let db: Kysely<Tables>
const service = openService({ template: 'empty' })
beforeAll(async () => {
  db = service.database.writer
})

/** A moment in the month so many before this one. */
function monthsAgo(months: number): Date {
  const now = new Date()
  return new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - months, 1, 12))
}

/** What the months are called that histories have. */
async function partitions(): Promise<string[]> {
  const { rows } = await sql<{ partition: string }>`
    select partition from history_months() order by ends`.execute(db)
  return rows.map(({ partition }) => partition)
}

/** A database that has been there for five months. */
beforeEach(async () => {
  for (const partition of await partitions()) await sql`drop table ${sql.table(partition)}`.execute(db)
  const { rows } = await sql<{ id: string }>`
    select uuid_at(date_trunc('month', ${monthsAgo(4)}::timestamptz, 'UTC')) as id`.execute(db)
  await sql`
    create table history_item_earlier partition of history_item
    for values from (minvalue) to (${sql.lit(rows[0]?.id)})`.execute(db)
  await sql`select create_history_months(now() + interval '3 months')`.execute(db)
})

describe('HISTORY_MONTHS', () => {
  test('has months that are over dropped whole, with their feedback, and leaves all else', async () => {
    const [person, other] = [await newPerson(service.app), await newPerson(service.app)]
    const times = [9, 4, 3, KEPT, 1, 0].map((months): Date => monthsAgo(months))
    const ids = await keepAt(
      service,
      times.map((time) => [recordOf(person), time]),
    )
    const [ofOther] = await keepAt(service, [[recordOf(other), monthsAgo(3)]])
    await multiply(ofOther as string)
    const older = await keepAt(service, [
      [recordOf(person), monthsAgo(7)],
      [recordOf(person), monthsAgo(1)],
    ])
    for (const id of [ids[0], ids[3], ...older]) expect((await rate(person, id as string)).status).toBe(200)
    for (const id of [ids[1], ids[3]]) {
      await service.post(`/history/${id}/share`, { by: person })
    }
    const stats = `GET /stats?from=${monthsAgo(10).toISOString().slice(0, 10)}`
    const statistics = async () => (await service.ask(stats, { by: person })).body.advisories
    const before = await statistics()
    expect(before.total).toBe(ids.length + older.length)
    const cursors = await cursorsOf(person)

    await runWith(KEPT)
    expect(await statusesOf(person, ids)).toEqual([404, 404, 404, 200, 200, 200])
    expect(await statusesOf(person, older)).toEqual([404, 200])
    expect(await sharedBy(person)).toEqual([{ history_id: ids[3] }])
    const { items } = (await history(service, person, 'my')).body
    expect(items).toHaveLength(4)
    await expectLeft(person, 4, 2)
    await expectLeft(other, 0, 0)
    expect(await statistics()).toEqual(before)
    // Those of the months kept, of this one and of three to come, and one for what is older than all.
    expect(await partitions()).toHaveLength(KEPT + 1 + 3 + 1)

    for (const [place, cursor] of cursors.entries()) {
      const page = await history(service, person, `my?limit=1&cursor=${encodeURIComponent(cursor)}`)
      const next = items.slice(place + 1, place + 2)
      expect(page.body).toMatchObject({ items: next })
    }
    // What is older than all months has a place, for a clock that is behind and for an import.
    const [late] = await keepAt(service, [[recordOf(other), monthsAgo(20)]])
    expect(await statusesOf(other, [late as string])).toEqual([200])
    await runWith(KEPT)
    expect(await statusesOf(other, [late as string])).toEqual([404])
    expect(await stateOf(other)).toMatchObject({ countedItems: 0, countedBytes: 0 })
  })

  test('leaves all where it is not set', async () => {
    const person = await newPerson(service.app)
    const ids = await keepAt(service, [[recordOf(person), monthsAgo(9)]])
    await runWith(undefined, 1200)
    expect(await dropMonthPiece(db, undefined)).toBe(false)
    expect(await statusesOf(person, ids)).toEqual([200])
  })

  test('goes on with a month whose removal has begun, whatever is set by then', async () => {
    const person = await newPerson(service.app)
    const [old, young] = (await keepAt(service, [
      [recordOf(person), monthsAgo(5)],
      [recordOf(person), monthsAgo(0)],
    ])) as [string, string]
    await multiply(old)
    await rate(person, old)
    expect(await dropMonthPiece(db, KEPT)).toBe(true)
    expect(await statusesOf(person, [old, young])).toEqual([404, 200])
    expect((await rate(person, old)).status).toBe(404)
    expect(await stateOf(person)).toMatchObject({ items: 1, countedItems: MANY + 2 })
    // What is still counted must not cost what is left.
    const quota = { items: 10, bytes: 1e9, full: 'oldest' } as const
    expect(await deleteOldest(db, person.user.id, quota, 500)).toBe(0)
    expect(await dropMonthPiece(db, undefined)).toBe(true)
    expect(await stateOf(person)).toMatchObject({ countedItems: MANY + 2 - 2000 })
    await runWith(undefined, 1200)
    await expectLeft(person, 1, 0)
    expect(await statusesOf(person, [young])).toEqual([200])
  })

  // The embedded database has one session.
  describe.skipIf(process.env.TEST_DATABASE_KIND === 'embedded')('beside others', () => {
    test('gives way to who holds a lock, while items are kept, and to another process that is at it', async () => {
      const person = await newPerson(service.app)
      const [old] = await keepAt(service, [[recordOf(person), monthsAgo(5)]])
      const keep = recorderOn(db)
      await db.transaction().execute(async (trx) => {
        await sql`select from history_item`.execute(trx)
        const dropped = dropMonthPiece(db, KEPT).catch((error) => error)
        await keep(recordOf(person))
        expect(isLockNotAvailable(await dropped)).toBe(true)
      })
      await db.transaction().execute(async (trx) => {
        await sql`select pg_advisory_xact_lock(7239448)`.execute(trx)
        expect(await dropMonthPiece(db, KEPT)).toBe(false)
      })
      expect(await statusesOf(person, [old as string])).toEqual([200])
      await runWith(KEPT)
      expect(await statusesOf(person, [old as string])).toEqual([404])
    })

    test('waits for a vacuum of a month while its items are read and kept', async () => {
      const person = await newPerson(service.app)
      const [old] = (await keepAt(service, [[recordOf(person), monthsAgo(5)]])) as [string]
      const [month] = (await partitions()) as [string]
      const outcome = await db.transaction().execute(async (vacuum) => {
        await sql`lock table ${sql.table(month)} in share update exclusive mode`.execute(vacuum)
        let dropped: Promise<unknown> | undefined
        const isAwaited = async () => {
          // A slow machine may have it give up before anybody looks: it would be tried again.
          dropped ??= dropMonthPiece(db, KEPT)
            .catch((error) => error)
            .then((result) => {
              dropped = undefined
              return result
            })
          const { rows } = await sql`
            select mode from pg_locks join pg_database on pg_database.oid = database
            where datname = current_database() and not granted`.execute(vacuum)
          expect(rows).toEqual([{ mode: 'ShareUpdateExclusiveLock' }])
        }
        await vi.waitFor(isAwaited, PATIENCE)
        const awaited = dropped
        expect(await statusesOf(person, [old])).toEqual([200])
        expect((await rate(person, old)).status).toBe(200)
        await keepAt(service, [[recordOf(person), monthsAgo(5)]])
        return { awaited }
      })
      // On a slow machine the vacuum has taken longer than it is waited for.
      const dropped = await outcome.awaited
      expect(dropped === true || isLockNotAvailable(dropped)).toBe(true)
      await runWith(KEPT)
      expect(await statusesOf(person, [old])).toEqual([404])
    })
  })
})

async function cursorsOf(person: Person): Promise<string[]> {
  const cursors: string[] = []
  await allPages(service, person, { limit: '1' }, async (cursor) => void (cursor && cursors.push(cursor)))
  return cursors
}

describe('an item of a month that nobody has made', () => {
  test('is kept where that comes within a year', async () => {
    const person = await newPerson(service.app)
    const time = Date.now() + 300 * DAY_MS
    const id = await recorderOn(db, () => time)(recordOf(person))
    const { items } = (await history(service, person, 'my')).body
    expect(items).toMatchObject([{ id, created_at: new Date(time).toISOString() }])
  })

  test('is refused where it is of a clock that is wrong, and its neighbours are kept', async () => {
    const person = await newPerson(service.app)
    const before = await partitions()
    const wrong = Date.parse('2100-01-31T00:00:00Z')
    const times = [Date.now(), Date.now(), wrong, Date.now()]
    const keep = recorderOn(db, () => times.shift() as number)
    const results = await Promise.allSettled(Array.from({ length: 4 }, () => keep(recordOf(person))))
    expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled', 'rejected', 'fulfilled'])
    expect(results[2]).toMatchObject({
      reason: {
        message:
          'there are months of histories for a year to come at most, and none for 2100-01: the clock is wrong here or there',
      },
    })
    expect((await history(service, person, 'my')).body.items).toHaveLength(3)
    expect(await partitions()).toEqual(before)
  })
})

const rate = (person: Person, id: string) => advisories.rate(service, person, id, { rating: 2 })

/** The items whose shares count towards what an account may share. */
async function sharedBy({ user }: Person): Promise<unknown[]> {
  const { rows } = await sql`select history_id from history_share where user_id = ${user.id}`.execute(db)
  return rows
}

/** Has many copies of an item in its month, with as many ratings. */
async function multiply(id: string): Promise<void> {
  await sql`
    with copy as (
      insert into history_item (id, user_id, template_id, bytes, subject_id, crop_code, request, answer)
      select
        (left(id::text, 18) || right(gen_random_uuid()::text, 18))::uuid,
        user_id, template_id, bytes, subject_id, crop_code, request, answer
      from history_item, generate_series(1, ${MANY})
      where id = ${id}
      returning id, user_id, bytes
    )
    update history_size as size set items = size.items + copies.items, bytes = size.bytes + copies.bytes
    from (select user_id, count(*) as items, sum(bytes) as bytes from copy group by user_id) as copies
    where copies.user_id = size.user_id`.execute(db)
  await sql`
    insert into advisory_feedback (history_id, user_id, rating)
    select id, user_id, 1 from history_item where left(id::text, 18) = left(${id}, 18) and id <> ${id}`.execute(
    db,
  )
}

/** What a history has, what is counted of it, and how many ratings there are. */
async function stateOf({ user }: Person) {
  const { rows } = await sql<Record<string, number>>`
    select
      (select count(*) from advisory_history where user_id = ${user.id}) as items,
      (select coalesce(sum(bytes), 0) from advisory_history where user_id = ${user.id}) as bytes,
      (select items from history_size where user_id = ${user.id}) as "countedItems",
      (select bytes from history_size where user_id = ${user.id}) as "countedBytes",
      (select count(*) from advisory_feedback where user_id = ${user.id}) as ratings`.execute(db)
  return rows[0] as Record<string, number>
}

/** That so many items are left, all of which are counted, and so many ratings. */
async function expectLeft(person: Person, items: number, ratings: number): Promise<void> {
  const { bytes, ...state } = await stateOf(person)
  expect(state).toEqual({ items, countedItems: items, countedBytes: bytes, ratings })
}

async function statusesOf(person: Person, ids: string[]): Promise<number[]> {
  const answers = await Promise.all(ids.map((id) => history(service, person, id)))
  return answers.map(({ status }) => status)
}

/** Has a process run with a setting until nothing is left that is too old. */
async function runWith(HISTORY_MONTHS: number | undefined, left = KEPT): Promise<void> {
  const config = { ...service.testDatabase.config, HISTORY_MONTHS }
  const app = await buildApp(config, service.database)
  try {
    await app.listen({ port: 0, host: '127.0.0.1' })
    // It gives way to autovacuum, and would try again after a minute.
    const isDone = async () => {
      app.jobs.wake('remove-old-items')
      expect(await findRetention(db, left)).toEqual({ going: false, old: false })
    }
    await vi.waitFor(isDone, { ...PATIENCE, interval: 200 })
  } finally {
    await app.close()
  }
}
