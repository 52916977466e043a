import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createTestAppWithPerson, newPerson, type TestAppWithPerson } from '#test/setup/people.ts'
import { runsOf } from '#test/setup/property-runs.ts'
import { allPages, history, keepAt, recordOf } from './advisories.ts'

let service: TestAppWithPerson
beforeAll(async () => {
  service = await createTestAppWithPerson()
})
afterAll(() => service.close())

const at = (text: string) => new Date(text)

describe('a page', () => {
  test('has 50 items where no limit is given, and says where the next one begins', async () => {
    const person = await newPerson(service.app)
    const start = Date.UTC(2026, 5, 1)
    const ids = await keepAt(
      service,
      Array.from({ length: 120 }, (_, index) => [recordOf(person), new Date(start + index)]),
    )
    const first = await history(service, person, 'my')
    expect(first.json().items.map(({ id }: { id: string }) => id)).toEqual(ids.slice(70).reverse())
    const link = /^<(.*)>; rel="next"$/.exec(first.headers.link as string)?.[1] as string
    expect(link).toBe(`/history/my?cursor=${first.json().next_cursor}`)
    const second = await service.app.inject({ url: `${link}&limit=70`, headers: person.headers })
    expect(second.json().items.map(({ id }: { id: string }) => id)).toEqual(ids.slice(0, 70).reverse())
    expect([second.json().next_cursor, second.headers.link]).toEqual([null, undefined])
  })

  test('ends early where its items are large, and the next one goes on', async () => {
    const person = await newPerson(service.app)
    const large = { text: 'x'.repeat(3_000_000) }
    const ids = await keepAt(
      service,
      Array.from({ length: 5 }, (_, index) => [
        recordOf(person, { request: large }),
        new Date(Date.UTC(2026, 5, 1) + index),
      ]),
    )
    expect((await history(service, person, 'my')).json().items).toHaveLength(3)
    expect((await allPages(service, person)).map(({ id }) => id)).toEqual(ids.toReversed())
  })

  test.each([
    ['limit=0', 'limit'],
    ['limit=101', 'limit'],
    ['limit=x', 'limit'],
    ['product=maize', 'product'],
    ['kind=area', 'kind'],
    ['all=yes', 'all'],
    ['all=true', 'all'],
    ['from=yesterday', 'from'],
    ['from=2026-02-30', 'from'],
    ['from=2026-07-01T24:00:00Z', 'from'],
    ['from=2026-07-01T10:00:00', 'from'],
    ['to=2026-13-01', 'to'],
    ['to=2026-07-01T10:00:00%2099', 'to'],
    ['from=2026-07-02&to=2026-07-01', 'from'],
    ['from=2026-07-02T00:00:00Z&to=2026-07-01', 'from'],
    ['from=2026-07-01T10:00:00Z&to=2026-07-01T10:00:00%2B01:00', 'from'],
    ['cursor=x', 'cursor'],
    ['limit=5&limit=5', 'limit'],
  ])('is refused for %s', async (query, field) => {
    const response = await history(service, service.person, `my?${query}`)
    expect(response.statusCode).toBe(400)
    expect(response.json()).toMatchObject({ code: 'INVALID_PARAMETERS', details: [{ field }] })
  })

  test.each(['from=0001-01-01T00:00:00%2B14:00', 'to=9999-12-31', 'from=1969-01-01&to=1969-12-31'])(
    'may be asked for of any years: %s',
    async (query) => {
      expect((await history(service, service.person, `my?${query}`)).statusCode).toBe(200)
    },
  )
})

describe('a cursor', () => {
  test('leads through every item once, whatever is kept meanwhile', async () => {
    const person = await newPerson(service.app)
    const time = at('2026-07-01T10:00:00.123Z')
    // Several at one moment: the ids decide between them.
    const ids = await keepAt(
      service,
      Array.from({ length: 41 }, (_, index) => [
        recordOf(person),
        new Date(time.getTime() + Math.floor(index / 8)),
      ]),
    )
    const seen = await allPages(service, person, { limit: '7' }, () =>
      keepAt(service, [[recordOf(person), at('2026-07-02T10:00:00Z')]]),
    )
    expect(seen.map(({ id }) => id).toSorted()).toEqual(ids.toSorted())
    expect(await allPages(service, person)).toHaveLength(41 + 6)
  })

  test('is refused where it is damaged, or of a list with other filters', async () => {
    const person = await newPerson(service.app)
    await keepAt(
      service,
      Array.from({ length: 3 }, () => [recordOf(person), new Date()]),
    )
    const ask = (query: string) => history(service, person, `my?${query}`)
    const { next_cursor: cursor } = (await ask('limit=1&product=yield')).json()
    expect((await ask(`limit=2&product=yield&cursor=${cursor}`)).json().items).toHaveLength(2)
    const refused = [
      `cursor=${cursor}`,
      `product=forage&cursor=${cursor}`,
      `product=yield&country_code=eth&cursor=${cursor}`,
      `product=yield&kind=point&cursor=${cursor}`,
      `product=yield&from=2026-01-01&cursor=${cursor}`,
      `product=yield&cursor=${cursor.slice(0, -1)}`,
      `product=yield&cursor=${cursor}A`,
      `product=yield&cursor=${cursor.slice(0, 4)}A${cursor.slice(5)}`,
      `product=yield&cursor=${Buffer.from('9999999999999999 x').toString('base64url')}`,
    ]
    for (const query of refused) {
      const response = await ask(query)
      expect([response.statusCode, response.json().details?.[0].field], query).toEqual([400, 'cursor'])
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
  const DAY = 86_400_000
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
          const begin = from && (from.asDay ? Date.parse(day(from.time)) : from.time)
          const end = to && (to.asDay ? Date.parse(day(to.time)) + DAY : to.time)
          fc.pre(begin === undefined || end === undefined || begin < end)
          const expected = given
            .filter(
              (one) =>
                (product === undefined || one.product === product) &&
                (country === undefined || one.country === country) &&
                (kind === undefined || one.kind === kind) &&
                (begin === undefined || one.time >= begin) &&
                (end === undefined || one.time < end),
            )
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
      { numRuns: runsOf(60) },
    )
  })
})
