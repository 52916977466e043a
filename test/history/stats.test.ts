import { EventEmitter, once } from 'node:events'
import type { AddressInfo } from 'node:net'
import fc from 'fast-check'
import { sql } from 'kysely'
import { beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import type { ServiceStats, SlowCallsAnswer, Stats } from '#schemas/stats.ts'
import { buildApp } from '#src/app.ts'
import type { App } from '#src/http/app.ts'
import type { Caller } from '#test/setup/calls.ts'
import { call } from '#test/setup/calls.ts'
import { openService } from '#test/setup/open-service.ts'
import { makeAdmin, newPerson, type Person } from '#test/setup/people.ts'
import { advise, rate, whileAway } from './advisories.ts'

let admin: Person
const service = openService()
beforeAll(async () => {
  admin = await newPerson(service.app)
  await makeAdmin({ ...service, person: admin })
})

beforeEach(async () => {
  await service.app.flushRequestCounts()
  await sql`truncate request_count`.execute(service.database.writer)
})

const POINT = '/advisory/yield/point?lat=9.5&lng=38.5'
const OUTSIDE = '/advisory/yield/point?lat=-1&lng=36.5'

describe('scope=all', () => {
  test('and slow calls are refused to those who are no admins', async () => {
    const { headers } = await newPerson(service.app)
    const { status, body } = await get('/stats?scope=all', { headers })
    const error = 'scope=all is for callers with the role admin.'
    expect([status, body]).toEqual([403, { error, code: 'FORBIDDEN' }])
    expect((await get('/stats/calls', { headers })).status).toBe(403)
  })

  test('counts every request with its outcome, also of unknown paths, preflights and pages', async () => {
    for (const url of [POINT, POINT, OUTSIDE, '/advisory/yield/point', '/nowhere', '/nowhere/else'])
      await ask(url)
    for (const url of ['/catalog', '/openapi.json', '/history/my']) await get(url)
    await get('/history/x', admin)
    await service.head('/catalog')
    const headers = { origin: 'https://x.example', 'access-control-request-method': 'GET' }
    await service.options('/catalog', { headers })
    const counted = await serviceStats()
    expect(brief(counted)).toEqual([
      ['documentation', 1, 0],
      ['getCatalog', 2, 0],
      ['getHistoryItem', 1, 1],
      ['listHistory', 1, 1],
      ['preflight', 1, 0],
      ['unknownPath', 2, 2],
      ['yieldAtPoint', 4, 2],
    ])
    expect(counted).toMatchObject({ requests: 12, errors: 6 })
    expect(counted.by_error).toEqual([
      { status: 404, code: 'NOT_FOUND', requests: 3 },
      { status: 400, code: 'INVALID_PARAMETERS', requests: 1 },
      { status: 401, code: 'UNAUTHORIZED', requests: 1 },
      { status: 404, code: 'OUTSIDE_COUNTRY', requests: 1 },
    ])
    expect(counted.by_day).toHaveLength(30)
    expect(counted.by_day.at(-1)).toMatchObject({ requests: 12, errors: 6 })
    expect(counted.by_day.at(0)).toEqual({
      day: expect.any(String),
      requests: 0,
      errors: 0,
      latency: { p50: null, p95: null, p99: null, max: null },
    })
  })

  test('tells how long requests took', async () => {
    for (let index = 0; index < 20; index++) await ask(POINT)
    const { latency, by_operation } = await serviceStats()
    const { p50, p95, p99, max } = latency as { p50: number; p95: number; p99: number; max: number }
    expect(p50).toBeGreaterThan(0)
    expect(p95).toBeGreaterThanOrEqual(p50)
    expect(p99).toBeGreaterThanOrEqual(p95)
    expect(max).toBeGreaterThanOrEqual(p99)
    expect(by_operation.find(({ operation }) => operation === 'yieldAtPoint')?.latency).toEqual(latency)
  })

  test('counts people, and the advisories of all of them', async () => {
    const before = await allStats()
    const { users } = before.service
    const [person] = [await newPerson(service.app), await newPerson(service.app)] as const
    for (const by of [person, person, undefined]) await service.post(POINT, { by })
    const after = await allStats()
    expect(after.service.users).toEqual({ registered: users.registered + 2, active: users.active + 1 })
    expect(after.advisories.total).toBe(before.advisories.total + 2)
    const none = { registered: users.registered + 2, active: 0 }
    expect((await serviceStats('&from=2026-01-01&to=2026-01-31')).users).toEqual(none)
    // Another version of the service deletes the counts of an account.
    await service.database.writer.deleteFrom('user_usage').where('user_id', '=', person.user.id).execute()
    expect((await allStats()).advisories.total).toBe(before.advisories.total)
  })
})

test('slow calls are told to admins one by one, by their requests', async () => {
  const id = String((await ask('/advisory/yield/points')).headers['x-request-id'])
  const { since, items }: SlowCallsAnswer = (await get('/stats/calls', admin)).body
  expect(Date.parse(since)).toBeLessThan(Date.now())
  const slowness = items.map(({ milliseconds }) => milliseconds)
  expect(slowness).toEqual(slowness.toSorted((a, b) => b - a))
  expect(items.find(({ request_id }) => request_id === id)).toEqual({
    milliseconds: expect.any(Number),
    operation: 'yieldAtPoints',
    status: 400,
    code: 'INVALID_PARAMETERS',
    ended_at: expect.any(String),
    request_id: id,
  })
})

describe('counts', () => {
  test('of several processes add up, and closing one loses nothing, not even a request that was under way', async () => {
    const other = await buildApp(service.testDatabase.config, service.database)
    const gate = new EventEmitter()
    const answering = once(gate, 'answer')
    other.get('/slow', { config: { public: true }, schema: { operationId: 'slow' } }, async () => {
      gate.emit('asked')
      await answering
      return {}
    })
    await other.listen({ host: '127.0.0.1', port: 0 })
    const { port } = other.server.address() as AddressInfo
    await Promise.all([ask(POINT), ask(POINT, other), ask(OUTSIDE, other), ask(POINT)])
    expect(brief(await serviceStats())).toEqual([['yieldAtPoint', 2, 0]])
    const asked = once(gate, 'asked')
    const response = fetch(`http://127.0.0.1:${port}/slow`, { headers: { connection: 'close' } })
    await asked
    const closed = other.close()
    gate.emit('answer')
    expect((await response).status).toBe(200)
    await closed
    expect(brief(await serviceStats())).toEqual([
      ['getStats', 1, 0],
      ['slow', 1, 0],
      ['yieldAtPoint', 4, 1],
    ])
  })

  test('wait while they cannot be written, and are written once afterwards', async () => {
    await whileAway(service.database, 'request_count', async () => {
      for (const urls of [[POINT], [POINT, OUTSIDE]]) {
        for (const url of urls) await ask(url)
        await expect(service.app.flushRequestCounts()).rejects.toThrow('request_count')
      }
    })
    await Promise.all([service.app.flushRequestCounts(), service.app.flushRequestCounts()])
    expect(brief(await serviceStats())).toEqual([['yieldAtPoint', 3, 1]])
  })

  test('belong to the day on which the answer was given', async () => {
    const tomorrow = Date.now() + 86_400_000
    await ask(POINT)
    const clock = vi.spyOn(Date, 'now').mockImplementation(() => tomorrow)
    await ask(POINT).finally(() => clock.mockRestore())
    await ask(POINT)
    const day = (time: number) => new Date(time).toISOString().slice(0, 10)
    await service.app.flushRequestCounts()
    const { rows } = await sql<{ day: string; requests: number }>`
      select day::text, requests from request_count where operation = 'yieldAtPoint'`.execute(
      service.database.writer,
    )
    expect(new Set(rows.map((row) => row.day))).toEqual(new Set([day(Date.now()), day(tomorrow)]))
    expect(rows.reduce((sum, { requests }) => sum + Number(requests), 0)).toBe(3)
  })
})

async function stats(person: Person, query = ''): Promise<Stats> {
  const { status, text, body } = await get(`/stats${query}`, person)
  if (status !== 200) throw new Error(text)
  return body
}

const adviseId = async (person: Person, product: string, payload: object): Promise<string> =>
  (await advise(service, person, `${product}/point`, payload)).body.history_id

const ETHIOPIA = { lat: 9.5, lng: 38.5 }
const KENYA = { lat: -1, lng: 36.5, country_code: 'ken' }
const today = () => new Date().toISOString().slice(0, 10)

describe('the own counts', () => {
  test('are those of the calls just made, and of nobody else', async () => {
    const [person, other] = [await newPerson(service.app), await newPerson(service.app)]
    const [, deleted] = [await adviseId(person, 'yield', ETHIOPIA), await adviseId(person, 'yield', ETHIOPIA)]
    await adviseId(person, 'forage', KENYA)
    await adviseId(person, 'yield', KENYA)
    // A text that is no crop has no row of its own.
    expect((await advise(service, person, 'point', { ...KENYA, crop: 'a text' })).status).toBe(200)
    await adviseId(other, 'isfm', ETHIOPIA)
    await service.delete(`/history/${deleted}`, { by: person })
    const day = today()
    expect(await stats(person, `?from=${day}&to=${day}`)).toEqual({
      scope: 'own',
      from: day,
      to: day,
      advisories: {
        total: 4,
        by_product: [
          { product: 'all', advisories: 1 },
          { product: 'forage', advisories: 1 },
          { product: 'yield', advisories: 2 },
        ],
        by_country: [
          { country_code: 'eth', advisories: 2 },
          { country_code: 'ken', advisories: 2 },
        ],
        by_crop: [
          { crop: 'wheat', advisories: 2 },
          { crop: null, advisories: 2 },
        ],
        by_day: [{ day, advisories: 4 }],
      },
      feedback: { count: 0, average: null },
    })
  })

  test('average the feedback that was given, each item’s once', async () => {
    const person = await newPerson(service.app)
    const ids = await Promise.all([1, 2, 3].map(() => adviseId(person, 'yield', ETHIOPIA)))
    for (const [index, id] of [ids[0], ...ids].entries())
      await rate(service, person, id as string, { rating: [1, 5, 4, 4][index] })
    expect((await stats(person)).feedback).toEqual({ count: 3, average: 4.33 })
    const { feedback } = await stats(person, '?from=2026-01-01&to=2026-01-02')
    expect(feedback).toEqual({ count: 0, average: null })
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
          Object.fromEntries(
            inside.map((row) => [row[key], sum(inside.filter((one) => one[key] === row[key]))]),
          )
        expect(advisories.total).toBe(sum(inside))
        const { by_product, by_country, by_crop } = advisories
        expect([
          Object.fromEntries(by_product.map((row) => [row.product, row.advisories])),
          Object.fromEntries(by_country.map((row) => [row.country_code, row.advisories])),
          Object.fromEntries(by_crop.map((row) => [row.crop, row.advisories])),
        ]).toEqual([by('product'), by('country'), by('crop')])
        expect(advisories.by_day).toEqual(
          Array.from({ length: length + 1 }, (_, index) => ({
            day: day(first + index),
            advisories: sum(inside.filter((row) => row.day === first + index)),
          })),
        )
      }),
      { numRuns: 15 },
    )
  })
})

describe('the days', () => {
  test.each([
    ['?to=2026-07-01T00:00:00Z', 'to'],
    ['?from=2026-07-02&to=2026-07-01', 'from'],
    ['?from=2025-06-30&to=2026-07-01', 'from'],
    ['?from=2999-01-01', 'from'],
    ['?from=2026-07-01&from=2026-07-02', 'from'],
  ])('are refused: %s', async (query, field) => {
    const { status, body } = await get(`/stats${query}`, admin)
    expect(status).toBe(400)
    expect(body).toMatchObject({ code: 'INVALID_PARAMETERS', details: [{ field }] })
  })

  test.each([
    ['?from=2025-07-01&to=2026-07-01', 366],
    ['?to=2026-03-01', 30],
    ['', 30],
    ['?from=9999-12-31&to=9999-12-31', 1],
    ['?to=0001-01-05', 5],
  ])('are counted: %s', async (query, days) => {
    const { to, advisories } = await stats(admin, query)
    expect(advisories.by_day).toHaveLength(days)
    expect(to).toBe(/to=([\d-]+)/.exec(query)?.[1] ?? today())
  })
})

const get = (url: string, by?: Caller) => service.get(url, { by })

const allStats = async (query = '') => (await get(`/stats?scope=all${query}`, admin)).body

const serviceStats = async (query = ''): Promise<ServiceStats> => (await allStats(query)).service

const ask = (url: string, app: App = service.app) => call(app, `POST ${url}`)

const brief = ({ by_operation }: ServiceStats) =>
  by_operation.map(({ operation, requests, errors }) => [operation, requests, errors])
