import fc from 'fast-check'
import { type KyselyPlugin, sql, type Transaction } from 'kysely'
import { beforeAll, describe, expect, test, vi } from 'vitest'
import { PRODUCTS } from '#schemas/products/index.ts'
import type { Tables } from '#src/data/tables.ts'
import type { AdvisoryRecord } from '#src/history/keep-answer.ts'
import { createUuidMaker } from '#src/lib/uuid.ts'
import { createReleaseWriter } from '#src/lookup/answer-text.ts'
import { makeReleaseMembers } from '#src/lookup/releases.ts'
import { createTestApp } from '#test/setup/app.ts'
import { describeOnServer, testOnServer } from '#test/setup/on-server.ts'
import { openService } from '#test/setup/open-service.ts'
import { PATIENCE } from '#test/setup/patience.ts'
import { newPerson, type Person } from '#test/setup/people.ts'
import { runsOf } from '#test/setup/property-runs.ts'
import { advise, history, outcomesOf, recorderOn, recordOf, whileAway } from './advisories.ts'

const service = openService()

async function kept({ user }: Person) {
  const { rows } = await sql<{ id: string; user_id: string; created_at: Date; request: object }>`
    select * from advisory_history where user_id = ${user.id} order by created_at`.execute(
    service.database.writer,
  )
  return rows
}

describe('a point call', () => {
  test('that has no answer is not kept', async () => {
    const person = await newPerson(service.app)
    expect((await ask(person, { lat: -1, lng: 36.5 })).status).toBe(404)
    expect(await kept(person)).toEqual([])
    expect(await counts(person)).toEqual([])
  })

  test('is answered without an id where the history cannot be written, and counted as lost', async () => {
    const person = await newPerson(service.app)
    const before = outcomesOf(service.app)
    await whileAway(service.database, 'history_item', async () => {
      const response = await ask(person)
      expect(response.status).toBe(200)
      const anonymous = { headers: { authorization: '' } }
      expect(response.text).toBe((await ask(anonymous)).text)
    })
    expect((await ask(person)).body.history_id).toMatch(/^[0-9a-f-]{36}$/)
    const { kept = 0, lost = 0 } = before
    expect(outcomesOf(service.app)).toEqual({ ...before, kept: kept + 1, lost: lost + 1 })
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
    expect(inOrder).toHaveLength(800)
    const times = inOrder.map((row) => row.created_at.getTime())
    expect(times).toEqual(times.toSorted((a, b) => a - b))
    expect(await counts(person)).toEqual([
      { product: 'forage', country_code: 'eth', crop_code: null, advisories: 400 },
      { product: 'yield', country_code: 'eth', crop_code: 'wheat', advisories: 400 },
    ])
    await keep(recordOf(person))
    expect((await counts(person)).at(-1)?.advisories).toBe(401)
  })

  test('keeps the neighbours of what the database refuses, and of those whose account is gone', async () => {
    const [person, leaving] = [await newPerson(service.app), await newPerson(service.app)]
    await service.delete('/user/profile', { by: leaving })
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
    const hasty = await createTestApp({ settings: { STATEMENT_TIMEOUT_MS: '1000' } })
    const maintenance = hasty.cluster.connectForMaintenance()
    const someone = await newPerson(hasty.app)
    const point = () => advise(hasty, someone, 'yield/point')
    const list = () => history(hasty, someone, 'my')
    /** A busy machine may take several attempts. */
    const answered = (attempt: () => Promise<void>) => vi.waitFor(attempt, PATIENCE)
    try {
      await maintenance.writer.transaction().execute(async (trx) => {
        await sql`lock table history_item in access exclusive mode`.execute(trx)
        await answered(async () => {
          for (const answer of await Promise.all(Array.from({ length: 10 }, point))) {
            expect(answer.status).toBe(200)
            expect(answer.body).not.toHaveProperty('history_id')
          }
        })
        const refused = await list()
        expect([refused.status, refused.body.code]).toEqual([503, 'DATABASE_UNAVAILABLE'])
      })
      await answered(async () => {
        const { history_id: id } = (await point()).body
        const { items } = (await list()).body
        expect(items[0].id).toBe(id)
        // Of the ten none has come to be kept.
        expect(items.length).toBeLessThan(10)
      })
    } finally {
      await maintenance.close()
      await hasty.close()
    }
  })
})

/** Of sources that no other test has. */
const COUNTRY = 'xyz'

/** Loses the sources of a country, and gives the number of their subject to another one, if any. */
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
  ['has lost a source, it is stored again', undefined],
  ['has given the number of its subject to another one, it is not mistaken for that', 'zyx'],
])('where the database %s', async (_name, replacement) => {
  const person = await newPerson(service.app)
  const record = recordOf(person, { countryCode: COUNTRY })
  const keep = recorderOn(service.database.writer)
  await keep(record)
  await lose(replacement)
  const ids = await Promise.all([keep(record), keep(record)])
  ids.push(await keep(record))
  const { items } = (await history(service, person, `my?country_code=${COUNTRY}`)).body
  const found = items.map(({ id }: { id: string }) => id)
  expect(ids.filter((id) => !found.includes(id))).toEqual([])
  for (const item of items) expect(item.releases).toEqual(record.releases)
})

test('the number of a source follows from what is in it', async () => {
  const db = service.database.writer
  const numberOf = async (release: string) => {
    const { rows } = await sql<{ id: string }>`
      select template_id::text as id
      from answer_template_of('yield', 'point', 'eth', null, ${[release]}::text[], null)`.execute(db)
    return rows[0]?.id
  }
  const first = await numberOf('a-release')
  const other = await numberOf('another')
  expect(other).not.toBe(first)
  await sql`delete from answer_template where releases in ('{a-release}', '{another}')`.execute(db)
  expect([await numberOf('another'), await numberOf('a-release')]).toEqual([other, first])
})

/** An answer of version 1.2.0, cut where it was filled: a label and a name have what a cut could be mistaken for. */
const PIECES = [
  '{"location":{"name":',
  ',"lat":',
  ',"lng":',
  ',"type":"point"},"yield_data":[{"scenario":"a\\n\u2028","yield_kg_ha":',
  '}]}',
]
const FILLING = ['"Feld\\n, \\"north\\""', '-1e-7', '38.5', '2464']

test('an item of version 1.2.0, which stored the filling of a template, reads byte for byte as it was sent', async () => {
  const person = await newPerson(service.app)
  const db = service.database.writer
  const id = createUuidMaker()()
  await sql`
    insert into history_item (id, user_id, template_id, bytes, subject_id, crop_code, request, answer)
    select ${id}, ${person.user.id}, template_id, 150, subject_id, null, '{"lat": -1e-7,"lng":38.5}', ${FILLING.join('\n')}
    from answer_template_of('yield', 'point', 'eth', 'wheat', '{of-before}', ${PIECES}::text[])`.execute(db)
  const { rows } = await sql<{ answer: string }>`
    select answer::text as answer from advisory_history where id = ${id}`.execute(db)
  const sent = PIECES.map((piece, at) => piece + (FILLING[at] ?? '')).join('')
  expect(rows).toEqual([{ answer: sent }])
  const item = (await history(service, person, id)).body
  expect(item).toMatchObject({ crop: 'wheat', releases: ['of-before'], answer: JSON.parse(sent) })
})

let reader: Person
beforeAll(async () => {
  reader = await newPerson(service.app)
})

/** The request and the answer of an item, as the database has their text. */
async function textsOf(ids: string[]): Promise<Map<string, { request: string; answer: string }>> {
  const { rows } = await sql<{ id: string; request: string; answer: string }>`
    select id, request::text as request, answer::text as answer from advisory_history
    where user_id = ${reader.user.id} and id = any(${ids}::uuid[])`.execute(service.database.writer)
  return new Map(rows.map(({ id, ...texts }) => [id, texts]))
}

const text = fc.string({ unit: 'binary', maxLength: 12 })
const odd = fc.constantFrom('\n', 'a\nb', '\u0000', '\ud800', '\u2028', '"\\', '\u{1f33e}', '{}', 'null')
const label = fc.oneof(text, odd)
const value = fc.oneof(
  fc.constantFrom(Number.NaN, 0, -0, 1e21, 1e-7, 0.1 + 0.2, Number.MAX_VALUE, Number.MIN_VALUE),
  fc.double({ noNaN: true, noDefaultInfinity: true }),
)
const coordinate = (most: number) =>
  fc.oneof(fc.constantFrom(-0, 0, 1e-7), fc.double({ min: -most, max: most, noNaN: true }))
const layer = fc.record({
  input: fc.option(label),
  scenario: fc.option(label),
  condition: fc.option(label),
  decimals: fc.constant(2),
})

const answered = fc.record({
  product: fc.constantFrom(...PRODUCTS.list),
  release: fc.record({
    countryCode: label,
    cropCode: fc.option(label),
    code: label,
    forecastPeriod: fc.option(fc.constantFrom('2026-07-01', '1999-12-01')),
    synthetic: fc.boolean(),
    validUntil: fc.constant(null),
    layers: fc.array(layer, { minLength: 1, maxLength: 6 }),
    companions: fc.constant([]),
    conditions: fc.constant(null),
  }),
  points: fc.array(
    fc.record(
      {
        lat: coordinate(90),
        lng: coordinate(180),
        name: label,
        values: fc.array(value, { minLength: 6, maxLength: 6 }),
      },
      { requiredKeys: ['lat', 'lng', 'values'] },
    ),
    { minLength: 1, maxLength: 5 },
  ),
})

test('what is kept of an answer reads byte for byte as it was sent: any product, release, place, name and value', async () => {
  const keep = recorderOn(service.database.writer)
  const property = fc.asyncProperty(answered, async ({ product, release, points }) => {
    const writer = createReleaseWriter(product, release, makeReleaseMembers(release))
    const sent = points.map(({ values, ...point }) => {
      const known = values.slice(0, release.layers.length)
      if (known.every(Number.isNaN)) known[0] = 7
      return { point, answer: writer.writePoint(point, known) }
    })
    const ids = await Promise.all(
      sent.map(({ point, answer }) => {
        const changes: Partial<AdvisoryRecord> = {
          product: product.code,
          request: point,
          releases: [release.code.replaceAll('\u0000', '')],
        }
        return keep(recordOf(reader, { ...changes, answer }))
      }),
    )
    const kept = await textsOf(ids)
    for (const [index, { point, answer }] of sent.entries()) {
      expect(kept.get(ids[index] as string)).toEqual({ request: JSON.stringify(point), answer })
    }
  })
  await fc.assert(property, { numRuns: runsOf(30) })
})

test.each([
  ['yield/', 'lat=9.5&lng=38.5'],
  ['fertilizer/', 'lat=9.0000000000000018&lng=38.25e0&name=%22Feld%22%20%F0%9F%8C%BE'],
  ['isfm/', 'lat=-2&lng=30&country_code=RWA&crop=%20Potato&name=%5C'],
  ['forage/', 'lat=-1&lng=36.5&country_code=ken'],
  ['', 'lat=9.5&lng=38.5'],
  ['', 'lat=-1&lng=36.5&country_code=ken'],
])('an answer reads in the history as it was sent: %s%s', async (product, query) => {
  const url = `/advisory/${product}point?${query}`
  for (const method of ['POST', 'GET'] as const) {
    const sent = await service.ask(`${method} ${url}`, { by: reader })
    const anonymous = await service.ask(`${method} ${url}`)
    expect([sent.status, anonymous.status]).toEqual([200, 200])
    const { history_id: id } = sent.body
    expect(sent.body).toEqual({ ...anonymous.body, history_id: id })
    const item = await history(service, reader, id)
    expect(item.body.answer).toEqual(anonymous.body)
    // The serializer has an order of its own for the members of all products.
    if (!product) continue
    expect(sent.text).toBe(`${anonymous.text.slice(0, -1)},"history_id":"${id}"}`)
    expect((await textsOf([id])).get(id)?.answer).toBe(anonymous.text)
    expect(item.text).toContain(`"answer":${anonymous.text},`)
  }
})

const POINT = { lat: 9.5, lng: 38.5, name: 'Field, "north"' }

const ask = (person: Pick<Person, 'headers'>, payload: object = POINT) =>
  advise(service, person, 'fertilizer/point', payload)

async function counts({ user }: Person) {
  const { rows } = await sql<{ advisories: number }>`
    select product, country_code, crop_code, advisories from user_usage where user_id = ${user.id}
    order by product`.execute(service.database.writer)
  return rows
}
