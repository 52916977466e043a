import fc from 'fast-check'
import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Stats } from '#schemas/stats.ts'
import { createTestApp, type TestApp } from '#test/setup/app.ts'
import { newPerson, type Person } from '#test/setup/people.ts'
import { advise, rate } from '../advisories.ts'

let service: TestApp
beforeAll(async () => {
  service = await createTestApp()
})
afterAll(() => service.close())

async function stats({ headers }: Person, query = ''): Promise<Stats> {
  const response = await service.app.inject({ url: `/stats${query}`, headers })
  if (response.statusCode !== 200) throw new Error(response.body)
  return response.json()
}

const adviseId = async (person: Person, product: string, payload: object): Promise<string> =>
  (await advise(service, person, `${product}/point`, payload)).json().history_id

const ETHIOPIA = { lat: 9.5, lng: 38.5 }
const KENYA = { lat: -1, lng: 36.5, country_code: 'ken' }
const today = () => new Date().toISOString().slice(0, 10)

describe('the own counts', () => {
  test('have no row for each text that is no crop', async () => {
    const person = await newPerson(service.app)
    for (const crop of ['a text', 'another text']) {
      const { statusCode } = await advise(service, person, 'point', { ...KENYA, crop })
      expect(statusCode).toBe(200)
    }
    const { advisories } = await stats(person)
    expect([advisories.total, advisories.by_crop]).toEqual([2, [{ crop: null, advisories: 2 }]])
  })

  test('are those of the calls just made, and of nobody else', async () => {
    const [person, other] = [await newPerson(service.app), await newPerson(service.app)]
    await adviseId(person, 'yield', ETHIOPIA)
    const deleted = await adviseId(person, 'yield', ETHIOPIA)
    await adviseId(person, 'forage', KENYA)
    await adviseId(person, 'yield', KENYA)
    await adviseId(other, 'isfm', ETHIOPIA)
    await service.app.inject({ method: 'DELETE', url: `/history/${deleted}`, headers: person.headers })
    const day = today()
    expect(await stats(person, `?from=${day}&to=${day}`)).toEqual({
      scope: 'own',
      from: day,
      to: day,
      advisories: {
        total: 3,
        by_product: [
          { product: 'forage', advisories: 1 },
          { product: 'yield', advisories: 2 },
        ],
        by_country: [
          { country_code: 'eth', advisories: 2 },
          { country_code: 'ken', advisories: 1 },
        ],
        by_crop: [
          { crop: 'wheat', advisories: 2 },
          { crop: null, advisories: 1 },
        ],
        by_day: [{ day, advisories: 3 }],
      },
      feedback: { count: 0, average: null },
    })
  })

  test('are empty for somebody who has asked for nothing, on each of the last 30 days', async () => {
    const { from, to, advisories, feedback } = await stats(await newPerson(service.app))
    expect(to).toBe(today())
    expect(Date.parse(to) - Date.parse(from)).toBe(29 * 86_400_000)
    expect(advisories).toMatchObject({ total: 0, by_product: [], by_country: [], by_crop: [] })
    expect(advisories.by_day).toHaveLength(30)
    expect(advisories.by_day.every((day) => day.advisories === 0)).toBe(true)
    expect(feedback).toEqual({ count: 0, average: null })
  })

  test('average the feedback that was given, each item’s once', async () => {
    const person = await newPerson(service.app)
    const ids = await Promise.all([1, 2, 3].map(() => adviseId(person, 'yield', ETHIOPIA)))
    await rate(service, person, ids[0] as string, { rating: 1 })
    await rate(service, person, ids[0] as string, { rating: 5 })
    await rate(service, person, ids[1] as string, { rating: 4 })
    await rate(service, person, ids[2] as string, { rating: 4 })
    expect((await stats(person)).feedback).toEqual({ count: 3, average: 4.33 })
    expect((await stats(person, '?from=2026-01-01&to=2026-01-02')).feedback).toEqual({
      count: 0,
      average: null,
    })
  })

  test('add up to what a plain sum over the days says', async () => {
    const person = await newPerson(service.app)
    const START = Date.UTC(2025, 1, 20)
    const day = (index: number) => new Date(START + index * 86_400_000).toISOString().slice(0, 10)
    const rows = fc.sample(
      fc.record({
        day: fc.integer({ min: 0, max: 20 }),
        product: fc.constantFrom('yield', 'fertilizer', 'forage', 'all'),
        country: fc.constantFrom('eth', 'ken', 'rwa'),
        crop: fc.constantFrom('wheat', 'potato', null),
        n: fc.integer({ min: 1, max: 1_000_000 }),
      }),
      { numRuns: 100, seed: 3 },
    )
    for (const { day: index, product, country, crop, n } of rows) {
      await sql`
        insert into user_usage as usage
        values (${person.user.id}, ${day(index)}::date, ${product}, ${country}, ${crop}, ${n})
        on conflict (user_id, day, product, country_code, crop_code)
          do update set advisories = usage.advisories + excluded.advisories`.execute(service.database.writer)
    }
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: -2, max: 22 }), fc.nat(24), async (first, length) => {
        const last = first + length
        const { advisories } = await stats(person, `?from=${day(first)}&to=${day(last)}`)
        const inside = rows.filter((row) => row.day >= first && row.day <= last)
        const sum = (some: typeof rows) => some.reduce((total, { n }) => total + n, 0)
        const by = (key: 'product' | 'country' | 'crop') =>
          new Map(
            [...new Set(inside.map((row) => row[key]))].map((value) => [
              value,
              sum(inside.filter((row) => row[key] === value)),
            ]),
          )
        expect(advisories.total).toBe(sum(inside))
        expect(new Map(advisories.by_product.map((row) => [row.product, row.advisories]))).toEqual(
          by('product'),
        )
        expect(new Map(advisories.by_country.map((row) => [row.country_code, row.advisories]))).toEqual(
          by('country'),
        )
        expect(new Map(advisories.by_crop.map((row) => [row.crop, row.advisories]))).toEqual(by('crop'))
        expect(advisories.by_day).toEqual(
          Array.from({ length: length + 1 }, (_, index) => ({
            day: day(first + index),
            advisories: sum(inside.filter((row) => row.day === first + index)),
          })),
        )
      }),
      { numRuns: 40 },
    )
  })
})

describe('the days', () => {
  test.each([
    ['?from=2026-02-30', 'from'],
    ['?to=2026-07-01T00:00:00Z', 'to'],
    ['?to=yesterday', 'to'],
    ['?from=2026-07-02&to=2026-07-01', 'from'],
    ['?from=2025-06-30&to=2026-07-01', 'from'],
    ['?from=2999-01-01', 'from'],
    ['?scope=mine', 'scope'],
    ['?from=2026-07-01&from=2026-07-02', 'from'],
  ])('are refused: %s', async (query, field) => {
    const { headers } = await newPerson(service.app)
    const response = await service.app.inject({ url: `/stats${query}`, headers })
    expect(response.statusCode).toBe(400)
    expect(response.json()).toMatchObject({ code: 'INVALID_PARAMETERS', details: [{ field }] })
  })

  test.each([
    ['?from=2025-07-01&to=2026-07-01', 366],
    ['?to=2026-03-01', 30],
    ['?from=0001-01-01&to=0001-01-02', 2],
    ['?from=9999-12-31&to=9999-12-31', 1],
    ['?to=0001-01-01&from=0001-01-01', 1],
    ['?to=0001-01-05', 5],
  ])('are counted: %s', async (query, days) => {
    expect((await stats(await newPerson(service.app), query)).advisories.by_day).toHaveLength(days)
  })
})
