import type { AddressInfo } from 'node:net'
import { sql } from 'kysely'
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import type { ServiceStats, SlowCallsAnswer, Stats } from '#schemas/stats.ts'
import { buildApp } from '#src/app.ts'
import type { App } from '#src/http/app.ts'
import { createTestApp, type TestApp } from '#test/setup/app.ts'
import { newPerson, type Person } from '#test/setup/people.ts'

let service: TestApp
let admin: Person
beforeAll(async () => {
  service = await createTestApp()
  admin = await newPerson(service.app)
  await service.database.writer
    .updateTable('app_user')
    .set({ role: 'admin' })
    .where('id', '=', admin.user.id)
    .execute()
})
afterAll(() => service.close())

beforeEach(async () => {
  await service.app.flushRequestCounts()
  await sql`truncate request_count`.execute(service.database.writer)
})

async function serviceStats(query = ''): Promise<ServiceStats> {
  const response = await service.app.inject({ url: `/stats?scope=all${query}`, headers: admin.headers })
  if (response.statusCode !== 200) throw new Error(response.body)
  return response.json<Stats & { service: ServiceStats }>().service
}

const POINT = '/advisory/yield/point?lat=9.5&lng=38.5'
const OUTSIDE = '/advisory/yield/point?lat=-1&lng=36.5'
const ask = (url: string, app: App = service.app) => app.inject({ method: 'POST', url })

const brief = ({ by_operation }: ServiceStats) =>
  by_operation.map(({ operation, requests, errors }) => [operation, requests, errors])

describe('scope=all', () => {
  test('is refused to those who are no admins', async () => {
    const { headers } = await newPerson(service.app)
    const response = await service.app.inject({ url: '/stats?scope=all', headers })
    expect([response.statusCode, response.json()]).toEqual([
      403,
      {
        error: 'scope=all is for callers with the role admin.',
        code: 'FORBIDDEN',
        request_id: expect.any(String),
      },
    ])
  })

  test('counts every request with its outcome, also of unknown paths, preflights and pages', async () => {
    for (const url of [POINT, POINT, OUTSIDE, '/advisory/yield/point', '/nowhere', '/nowhere/else'])
      await ask(url)
    await service.app.inject({ method: 'HEAD', url: '/catalog' })
    await service.app.inject('/catalog')
    await service.app.inject('/openapi.json')
    await service.app.inject('/history/my')
    await service.app.inject({ url: '/history/x', headers: admin.headers })
    await service.app.inject({
      method: 'OPTIONS',
      url: '/catalog',
      headers: { origin: 'https://x.example', 'access-control-request-method': 'GET' },
    })
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
    const before = await service.app.inject({ url: '/stats?scope=all', headers: admin.headers })
    const {
      advisories,
      service: { users },
    } = before.json()
    const [person] = [await newPerson(service.app), await newPerson(service.app)]
    for (const headers of [person.headers, person.headers, {}]) {
      await service.app.inject({ method: 'POST', url: POINT, headers })
    }
    const after = await service.app.inject({ url: '/stats?scope=all', headers: admin.headers })
    expect(after.json().service.users).toEqual({ registered: users.registered + 2, active: users.active + 1 })
    expect(after.json().advisories.total).toBe(advisories.total + 2)
    expect((await serviceStats('&from=2026-01-01&to=2026-01-31')).users).toEqual({
      registered: users.registered + 2,
      active: 0,
    })
  })

  test('counts no advisories of all whose counts another version of the service deletes', async () => {
    const countAll = async () =>
      (await service.app.inject({ url: '/stats?scope=all', headers: admin.headers })).json().advisories.total
    const before = await countAll()
    const { headers, user } = await newPerson(service.app)
    await service.app.inject({ method: 'POST', url: POINT, headers })
    expect(await countAll()).toBe(before + 1)
    await service.database.writer.deleteFrom('user_usage').where('user_id', '=', user.id).execute()
    expect(await countAll()).toBe(before)
  })
})

describe('slow calls', () => {
  test('are told to admins one by one, by their requests, and to nobody else', async () => {
    const { headers } = await newPerson(service.app)
    const refused = await service.app.inject({ url: '/stats/calls', headers })
    expect([refused.statusCode, refused.json().code]).toEqual([403, 'FORBIDDEN'])
    const id = String((await ask('/advisory/yield/points')).headers['x-request-id'])
    const { since, items } = (
      await service.app.inject({ url: '/stats/calls', headers: admin.headers })
    ).json<SlowCallsAnswer>()
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
})

describe('counts', () => {
  test('of several processes add up, and closing one loses nothing', async () => {
    const other = await buildApp(service.testDatabase.config, service.database)
    await Promise.all([ask(POINT), ask(POINT, other), ask(OUTSIDE, other), ask(POINT)])
    expect(brief(await serviceStats())).toEqual([['yieldAtPoint', 2, 0]])
    await other.close()
    expect(
      (await serviceStats()).by_operation.find(({ operation }) => operation === 'yieldAtPoint'),
    ).toMatchObject({
      requests: 4,
      errors: 1,
    })
  })

  test('include the requests that were under way when the service closed', async () => {
    const closing = await buildApp(service.testDatabase.config, service.database)
    let answer = () => {}
    const held = new Promise<void>((resolve) => {
      answer = resolve
    })
    let arrived = () => {}
    const arrival = new Promise<void>((resolve) => {
      arrived = resolve
    })
    closing.get('/slow', { config: { public: true }, schema: { operationId: 'slow' } }, async () => {
      arrived()
      await held
      return {}
    })
    await closing.listen({ host: '127.0.0.1', port: 0 })
    const { port } = closing.server.address() as AddressInfo
    const response = fetch(`http://127.0.0.1:${port}/slow`, { headers: { connection: 'close' } })
    await arrival
    const closed = closing.close()
    answer()
    expect((await response).status).toBe(200)
    await closed
    expect(brief(await serviceStats())).toEqual([['slow', 1, 0]])
  })

  test('wait while they cannot be written, and are written once afterwards', async () => {
    const db = service.database.writer
    await db.schema.alterTable('request_count').renameTo('elsewhere').execute()
    try {
      await ask(POINT)
      await expect(service.app.flushRequestCounts()).rejects.toThrow('request_count')
      await ask(POINT)
      await ask(OUTSIDE)
      await expect(service.app.flushRequestCounts()).rejects.toThrow('request_count')
    } finally {
      await db.schema.alterTable('elsewhere').renameTo('request_count').execute()
    }
    await Promise.all([service.app.flushRequestCounts(), service.app.flushRequestCounts()])
    const counted = await serviceStats()
    expect(brief(counted)).toEqual([['yieldAtPoint', 3, 1]])
  })

  test('belong to the day on which the answer was given', async () => {
    const tomorrow = Date.now() + 86_400_000
    await ask(POINT)
    const clock = vi.spyOn(Date, 'now').mockImplementation(() => tomorrow)
    await ask(POINT).finally(() => clock.mockRestore())
    await ask(POINT)
    const day = (time: number) => new Date(time).toISOString().slice(0, 10)
    await service.app.flushRequestCounts()
    const rows = await service.database.writer
      .selectFrom('request_count')
      .select(['day', 'requests'])
      .where('operation', '=', 'yieldAtPoint')
      .orderBy('day')
      .execute()
    expect(rows.map((row) => row.day)).toEqual(expect.arrayContaining([day(Date.now()), day(tomorrow)]))
    expect(rows.reduce((sum, { requests }) => sum + requests, 0)).toBe(3)
  })
})
