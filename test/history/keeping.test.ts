import { type KyselyPlugin, sql, type Transaction } from 'kysely'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Tables } from '#src/data/tables.ts'
import { createTestApp, type TestApp } from '#test/setup/app.ts'
import { describeOnServer, testOnServer } from '#test/setup/on-server.ts'
import { newPerson, type Person } from '#test/setup/people.ts'
import { advise, history, recorderOn, recordOf } from './advisories.ts'

let service: TestApp
beforeAll(async () => {
  service = await createTestApp()
})
afterAll(() => service.close())

const POINT = { lat: 9.5, lng: 38.5, name: 'Field, "north"' }

const ask = (person: Pick<Person, 'headers'>, payload: object = POINT) =>
  advise(service, person, 'fertilizer/point', payload)

function kept(person: Person) {
  return service.database.writer
    .selectFrom('advisory_history')
    .selectAll()
    .where('user_id', '=', person.user.id)
    .orderBy('created_at')
    .execute()
}

function counts(person: Person) {
  return service.database.writer
    .selectFrom('user_usage')
    .select(['product', 'country_code', 'crop_code', 'advisories'])
    .where('user_id', '=', person.user.id)
    .orderBy('product')
    .execute()
}

describe('a point call', () => {
  test('that has no answer is not kept', async () => {
    const person = await newPerson(service.app)
    expect((await ask(person, { lat: -1, lng: 36.5 })).statusCode).toBe(404)
    expect(await kept(person)).toEqual([])
    expect(await counts(person)).toEqual([])
  })

  test('is answered without an id where the history cannot be written', async () => {
    const person = await newPerson(service.app)
    const db = service.database.writer
    await db.schema.alterTable('history_item').renameTo('elsewhere').execute()
    try {
      const response = await ask(person)
      expect(response.statusCode).toBe(200)
      const anonymous = { headers: { authorization: '' } }
      expect(response.body).toBe((await ask(anonymous)).body)
    } finally {
      await db.schema.alterTable('elsewhere').renameTo('history_item').execute()
    }
    expect((await ask(person)).json().history_id).toMatch(/^[0-9a-f-]{36}$/)
  })
})

describe('the keeper', () => {
  test('keeps many at once in few statements, counts each, and gives each its own id', async () => {
    const person = await newPerson(service.app)
    const others = await newPerson(service.app)
    let statements = 0
    const asked = Array.from({ length: 1200 }, (_, index) =>
      recordOf(index % 3 === 0 ? others : person, {
        request: { index },
        product: index % 2 === 0 ? 'yield' : 'forage',
        cropCode: index % 2 === 0 ? 'wheat' : null,
      }),
    )
    // Counted here and not on the pool, which the service itself uses, too.
    const counting: KyselyPlugin = {
      transformQuery: ({ node }) => node,
      async transformResult({ result }) {
        statements++
        return result
      },
    }
    const keep = recorderOn(service.database.writer.withPlugin(counting))
    const ids = await Promise.all(asked.map((one) => keep(one)))
    // Two of them for the templates.
    expect(statements).toBeLessThanOrEqual(6)
    expect(new Set(ids).size).toBe(1200)
    const rows = [...(await kept(person)), ...(await kept(others))]
    expect(rows).toHaveLength(1200)
    for (const row of rows) {
      const { index } = row.request as { index: number }
      expect(row.id).toBe(ids[index])
      expect(row.user_id).toBe(asked[index]?.userId)
    }
    // What is recorded in one tick of the clock, a millisecond on the embedded database, is in no order.
    const indexOf = ({ request }: { request: object }) => (request as { index: number }).index
    const inOrder = (await kept(person)).toSorted((a, b) => indexOf(a) - indexOf(b))
    expect(inOrder.map(indexOf)).toEqual(
      asked.flatMap(({ userId }, index) => (userId === person.user.id ? [index] : [])),
    )
    const times = inOrder.map((row) => row.created_at.getTime())
    expect(times).toEqual(times.toSorted((a, b) => a - b))
    expect(await counts(person)).toEqual([
      { product: 'forage', country_code: 'eth', crop_code: null, advisories: 400 },
      { product: 'yield', country_code: 'eth', crop_code: 'wheat', advisories: 400 },
    ])
    await keep(recordOf(person))
    expect((await counts(person)).at(-1)?.advisories).toBe(401)
  })

  test('keeps the bytes of request and answer, whatever is in them', async () => {
    const person = await newPerson(service.app)
    const asked = recordOf(person, {
      releases: ['yield-eth-wheat-2026-07-v1', 'yield-eth-wheat-2026-07-v2'],
      request: { b: 1, a: '\\ "{}", \u{1f33e}' },
      answer: { z: [0.1, -0, 1e-7], a: null },
    })
    await recorderOn(service.database.writer)(asked)
    const [row] = await kept(person)
    expect(JSON.stringify(row?.request)).toBe(JSON.stringify(asked.request))
    expect(JSON.stringify(row?.answer)).toBe(JSON.stringify(asked.answer))
    expect(row?.releases).toEqual(asked.releases)
    expect(row?.bytes).toBe(Buffer.byteLength(JSON.stringify(asked.request) + JSON.stringify(asked.answer)))
  })

  test('keeps the neighbours of what the database refuses, and of those whose account is gone', async () => {
    const [person, leaving] = [await newPerson(service.app), await newPerson(service.app)]
    await service.app.inject({ method: 'DELETE', url: '/user/profile', headers: leaving.headers })
    const keep = recorderOn(service.database.writer)
    const results = await Promise.allSettled([
      keep(recordOf(person)),
      ...Array.from({ length: 20 }, (_, index) => {
        if (index === 3) return keep(recordOf(leaving))
        return keep(recordOf(person, index === 7 || index === 8 ? { kind: 'plane' as 'point' } : {}))
      }),
    ])
    const failed = results.flatMap((result, index) =>
      result.status === 'rejected' ? [[index, result.reason.code]] : [],
    )
    expect(failed).toEqual([
      [4, 'UNAUTHORIZED'],
      [8, '23514'],
      [9, '23514'],
    ])
    expect(await kept(person)).toHaveLength(18)
    expect(await counts(person)).toEqual([
      { product: 'yield', country_code: 'eth', crop_code: 'wheat', advisories: 18 },
    ])
  })

  // Who waits is the same on both databases.
  testOnServer('turns away what would make too many wait, and goes on', async () => {
    const person = await newPerson(service.app)
    const keep = recorderOn(service.database.writer)
    const large = recordOf(person, { request: { text: 'x'.repeat(8_000_000) } })
    const results = await Promise.allSettled(Array.from({ length: 10 }, () => keep(large)))
    const refused = results.filter(
      (result) => result.status === 'rejected' && result.reason.code === 'OVERLOADED',
    )
    expect(refused.length).toBeGreaterThanOrEqual(1)
    expect(await kept(person)).toHaveLength(10 - refused.length)
    await keep(recordOf(person))
  })
})

/** The embedded database has no second session to lock an account. */
describeOnServer('while an account is locked', () => {
  /** Has something kept for it and for others, does something in the session that has locked it, and ends that. */
  async function keepBeside(work: (trx: Transaction<Tables>, id: string, kept: Promise<unknown>) => unknown) {
    const [person, locked] = [await newPerson(service.app), await newPerson(service.app)]
    const keep = recorderOn(service.database.writer)
    let ofLocked: Promise<string | null> | undefined
    await service.database.writer.transaction().execute(async (trx) => {
      await trx.selectFrom('app_user').select('id').where('id', '=', locked.user.id).forUpdate().execute()
      const first = keep(recordOf(person))
      ofLocked = keep(recordOf(locked))
      ofLocked.catch(() => {})
      // These go out together, and the others wait for nothing.
      await Promise.all([first, keep(recordOf(person))])
      await work(trx, locked.user.id, ofLocked)
    })
    expect(await kept(person)).toHaveLength(2)
    const [result] = await Promise.allSettled([ofLocked as Promise<string | null>])
    return { result, ids: (await kept(locked)).map(({ id }) => id) }
  }

  test('an advisory is kept where that ends in time', async () => {
    const { result, ids } = await keepBeside(() => {})
    expect(result).toEqual({ status: 'fulfilled', value: ids[0] })
    expect(ids).toHaveLength(1)
  })

  test('one is refused where it stays so, and the account is not said to be gone', async () => {
    const { result, ids } = await keepBeside((_trx, _id, kept) => kept.catch(() => {}))
    expect(result).toMatchObject({ status: 'rejected', reason: { code: 'DATABASE_UNAVAILABLE' } })
    expect(ids).toEqual([])
  })

  test('one is refused as it is where there is no account in the end', async () => {
    const { result } = await keepBeside((trx, id) =>
      trx.deleteFrom('app_user').where('id', '=', id).execute(),
    )
    expect(result).toMatchObject({ status: 'rejected', reason: { code: 'UNAUTHORIZED' } })
  })
})

describeOnServer('while the history does not answer', () => {
  test('a point call is answered without an id all the same, and the history is a 503', async () => {
    const hasty = await createTestApp({ settings: { STATEMENT_TIMEOUT_MS: '2000' } })
    const maintenance = hasty.cluster.connectForMaintenance()
    const someone = await newPerson(hasty.app)
    const point = () => advise(hasty, someone, 'yield/point')
    const list = () => history(hasty, someone, 'my')
    try {
      await maintenance.writer.transaction().execute(async (trx) => {
        await sql`lock table history_item in access exclusive mode`.execute(trx)
        const answers = await Promise.all(Array.from({ length: 10 }, point))
        for (const answer of answers) {
          expect(answer.statusCode).toBe(200)
          expect(answer.json()).not.toHaveProperty('history_id')
        }
        const refused = await list()
        expect([refused.statusCode, refused.json().code]).toEqual([503, 'DATABASE_UNAVAILABLE'])
      })
      const { history_id: id } = (await point()).json()
      const { items } = (await list()).json()
      expect(items.map((item: { id: string }) => item.id)).toEqual([id])
    } finally {
      await maintenance.close()
      await hasty.close()
    }
  })
})

/** Of templates that nobody else has. */
const COUNTRY = 'xyz'

/** Loses the templates of a country, and gives the number of their subject to another one, if any. */
async function lose(replacement?: string): Promise<void> {
  const db = service.database.writer
  const { rows } = await sql<{ id: number }>`
    select id from history_subject where country_code = ${COUNTRY}`.execute(db)
  const id = rows[0]?.id
  await sql`delete from answer_template where subject_id = ${id}`.execute(db)
  if (!replacement) return
  await sql`delete from history_subject where id = ${id}`.execute(db)
  await sql`
    insert into history_subject (id, product, kind, country_code) overriding system value
    values (${id}, 'yield', 'point', ${replacement})`.execute(db)
}

test.each([
  ['has lost a template, it is stored again', undefined],
  ['has given the number of its subject to another one, it is not mistaken for that', 'zyx'],
])('where the database %s', async (_name, replacement) => {
  const person = await newPerson(service.app)
  const record = recordOf(person, { countryCode: COUNTRY })
  const keep = recorderOn(service.database.writer)
  await keep(record)
  await lose(replacement)
  const ids = await Promise.all([keep(record), keep(record)])
  ids.push(await keep(record))
  const { items } = (await history(service, person, `my?country_code=${COUNTRY}`)).json()
  const found = items.map(({ id }: { id: string }) => id)
  expect(ids.filter((id) => !found.includes(id))).toEqual([])
  for (const item of items) expect(item.releases).toEqual(record.releases)
})

test('the id of a template follows from what is in it', async () => {
  const db = service.database.writer
  const idOf = async (pieces: string) =>
    (
      await sql<{ id: string }>`
        select template_id::text as id
        from answer_template_of('yield', 'point', 'eth', 'wheat', '{a-release}', ${[pieces, '}']}::text[])`.execute(
        db,
      )
    ).rows[0]?.id
  const first = await idOf('{"a":')
  const other = await idOf('{"b":')
  expect(other).not.toBe(first)
  await sql`delete from answer_template where releases = '{a-release}'`.execute(db)
  expect([await idOf('{"b":'), await idOf('{"a":')]).toEqual([other, first])
})
