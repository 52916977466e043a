import { sql } from 'kysely'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test, vi } from 'vitest'
import { cleanUp } from '#src/accounts/index.ts'
import { buildApp } from '#src/app.ts'
import { DAY_MS, formatDay } from '#src/lib/dates.ts'
import { createTestApp, type TestApp } from '#test/setup/app.ts'
import { newPerson, type Person } from '#test/setup/people.ts'

let service: TestApp
let person: Person
let made: { id: string; key: string }
beforeAll(async () => {
  service = await createTestApp()
})
afterAll(() => service.close())

beforeEach(async () => {
  person = await newPerson(service.app)
  made = await newKey()
})
afterEach(() => {
  vi.restoreAllMocks()
  vi.useRealTimers()
})

async function newKey(app = service.app): Promise<{ id: string; key: string }> {
  const payload = { name: 'x' }
  return (await app.inject({ method: 'POST', url: '/auth/keys', headers: person.headers, payload })).json()
}

/** Asks so often with the key, for something that it may not do or that anybody may. */
async function use(times: number, url = '/stats', app = service.app): Promise<void> {
  const headers = { authorization: `Bearer ${made.key}` }
  for (let count = 0; count < times; count++) await app.inject({ url, headers })
}

async function usage(app = service.app): Promise<unknown> {
  const response = await app.inject({ url: '/auth/keys', headers: person.headers })
  return response.json().items.find(({ id }: { id: string }) => id === made.id).usage
}

function today(): string {
  return formatDay(Date.now())
}

/** So many days later, for this process. */
function passDays(days: number): void {
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + days * DAY_MS })
}

test('every request with a key counts for its day: refused ones and open ones, too', async () => {
  expect(await usage()).toEqual([])
  await use(2)
  await use(1, '/user/profile')
  await use(1, '/advisory/yield/point?lat=9.5&lng=38.5')
  expect(await usage()).toEqual([{ day: today(), requests: 4 }])
  await use(1)
  expect(await usage()).toEqual([{ day: today(), requests: 5 }])
})

test('what is counted is that of one key, and of no login', async () => {
  const other = await newKey()
  await use(2)
  await service.app.inject({ url: '/stats', headers: person.headers })
  expect(await usage()).toEqual([{ day: today(), requests: 2 }])
  made = other
  expect(await usage()).toEqual([])
})

test('several processes add up, and one that stops loses nothing', async () => {
  const other = await buildApp(service.testDatabase.config, service.database)
  await use(2)
  await use(3, '/stats', other)
  await other.close()
  expect(await usage()).toEqual([{ day: today(), requests: 5 }])
})

test('nothing is written for a request: what is counted waits for the others', async () => {
  await use(1)
  await usage()
  const queries = vi.spyOn(service.database.pool, 'connect')
  await use(5, '/user/profile')
  expect(queries).not.toHaveBeenCalled()
  await service.app.flushKeyUsage()
  expect(queries).toHaveBeenCalledTimes(1)
  await service.app.flushKeyUsage()
  expect(queries).toHaveBeenCalledTimes(1)
})

test('while the database is away the counts wait', async () => {
  await use(1)
  await usage()
  const away = vi.spyOn(service.database.pool, 'connect').mockImplementation(() => {
    throw Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' })
  })
  await use(2, '/user/profile')
  await expect(service.app.flushKeyUsage()).rejects.toThrow('ECONNREFUSED')
  away.mockRestore()
  await use(1, '/user/profile')
  expect(await usage()).toEqual([{ day: today(), requests: 4 }])
})

test('a key that is deleted while its counts wait does not hold up those of others', async () => {
  const other = made
  made = await newKey()
  await use(1)
  await service.app.inject({ method: 'DELETE', url: `/auth/keys/${made.id}`, headers: person.headers })
  made = other
  await use(1)
  expect(await usage()).toEqual([{ day: today(), requests: 1 }])
})

test('days are those of UTC; 30 of them are shown, in order, and after 90 they are forgotten', async () => {
  const first = today()
  await use(1)
  passDays(1)
  await use(2)
  vi.useRealTimers()
  const next = formatDay(Date.now() + DAY_MS)
  expect(await usage()).toEqual([
    { day: first, requests: 1 },
    { day: next, requests: 2 },
  ])

  const shiftTo = (age: number) =>
    sql`
      update api_key_usage set day = (now() at time zone 'UTC')::date - ${age}::integer
      where key_id = ${made.id} and day = ${first}`.execute(service.database.writer)
  await shiftTo(29)
  expect(await usage()).toHaveLength(2)
  await sql`
    update api_key_usage set day = day - 1
    where key_id = ${made.id} and day < ${first}`.execute(service.database.writer)
  expect(await usage()).toEqual([{ day: next, requests: 2 }])

  const kept = async () =>
    (
      await service.database.writer
        .selectFrom('api_key_usage')
        .select('requests')
        .where('key_id', '=', made.id)
        .orderBy('day')
        .execute()
    ).map(({ requests }) => requests)
  expect(await kept()).toEqual([1, 2])
  await sql`
    update api_key_usage set day = (now() at time zone 'UTC')::date - 91
    where key_id = ${made.id} and day < ${first}`.execute(service.database.writer)
  await cleanUp(service.database.writer)
  expect(await kept()).toEqual([2])
})
