import { sql } from 'kysely'
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest'
import { buildApp } from '#src/app.ts'
import { keepAt, rate, recorderOn, recordOf } from '#test/history/advisories.ts'
import { createTestApp, type TestApp } from '#test/setup/app.ts'
import { PATIENCE } from '#test/setup/patience.ts'
import { newPerson, type Person, register, tryLogIn } from '#test/setup/people.ts'

let service: TestApp
beforeAll(async () => {
  service = await createTestApp({ template: 'empty' })
})
afterAll(() => service.close())
afterEach(() => removed())

/** More than is removed in one piece. */
const MANY = 1200

/** Keeps advisories for somebody, the first of them with feedback. */
async function fill(person: Person): Promise<string[]> {
  const keep = recorderOn(service.database.writer)
  const ids = await Promise.all(Array.from({ length: MANY }, () => keep(recordOf(person))))
  await giveFeedback(person, ids[0] as string)
  return ids
}

const giveFeedback = (person: Person, id: string) => rate(service, person, id, { rating: 2 })

function deleteAccount({ headers }: Person) {
  return service.app.inject({ method: 'DELETE', url: '/user/profile', headers })
}

/** How many rows there are of somebody, by table. */
async function rowsOf({ user }: Person): Promise<Record<string, number>> {
  const { rows } = await sql<Record<string, number>>`
    select
      (select count(*) from advisory_history where user_id = ${user.id}) as history,
      (select count(*) from advisory_feedback where user_id = ${user.id}) as feedback,
      (select count(*) from history_size where user_id = ${user.id}) as size,
      (select count(*) from user_usage where user_id = ${user.id}) as usage,
      (select count(*) from session where user_id = ${user.id}) as sessions,
      (select count(*) from account_removal) as removals`.execute(service.database.writer)
  return rows[0] as Record<string, number>
}

const NOTHING = { history: 0, feedback: 0, size: 0, usage: 0, sessions: 0, removals: 0 }

/** Waits until nothing is left of accounts that are gone. */
async function removed(): Promise<void> {
  const left = () => service.database.writer.selectFrom('account_removal').selectAll().execute()
  await vi.waitFor(async () => expect(await left()).toEqual([]), PATIENCE)
}

/** Deletes an account as another process does, which then ends: an item with feedback is left to be removed. */
async function leaveItem(person: Person): Promise<string> {
  const [id] = (await keepAt(service, [[recordOf(person), new Date()]])) as [string]
  await giveFeedback(person, id)
  await service.database.writer.deleteFrom('app_user').where('id', '=', person.user.id).execute()
  return id
}

/** Has a process started that removes what is left. */
async function removeNow(): Promise<void> {
  const next = await buildApp(service.testDatabase.config, service.database)
  try {
    await next.listen({ port: 0, host: '127.0.0.1' })
    await removed()
  } finally {
    await next.close()
  }
}

describe('an account with a long history that is deleted', () => {
  test('is counted whole, frees its e-mail at once, and goes piece by piece', async () => {
    const [person, bystander] = [await newPerson(service.app), await newPerson(service.app)]
    await fill(person)
    const kept = await keepAt(service, [[recordOf(bystander), new Date()]])
    const report = await deleteAccount(person)
    expect([report.statusCode, report.json().removed]).toEqual([
      200,
      { accounts: 1, sessions: 1, keys: 0, history: MANY, feedback: 1, usage: 1 },
    ])
    expect((await tryLogIn(service.app, person.email, person.password)).statusCode).toBe(401)
    await register(service.app, person.email)
    await vi.waitFor(async () => expect(await rowsOf(person)).toEqual(NOTHING), PATIENCE)
    expect(await rowsOf(bystander)).toMatchObject({ history: kept.length, size: 1, sessions: 1 })
  })

  test('is gone for another process that knew its caller, whatever rows are left', async () => {
    const another = await buildApp(service.testDatabase.config, service.database)
    try {
      const person = await newPerson(service.app)
      const { headers } = person
      const admin = await newPerson(service.app)
      await sql`update app_user set role = 'admin' where id = ${admin.user.id}`.execute(
        service.database.writer,
      )
      const ask = async (url: string, caller = person) =>
        (await another.inject({ url, headers: caller.headers })).json()
      expect((await ask('/history/my')).items).toEqual([])
      const id = await leaveItem(person)

      // It is let in, for it was known a moment ago.
      expect(await ask('/history/my')).toEqual({ items: [], next_cursor: null })
      expect((await ask(`/history/${id}`)).code).toBe('NOT_FOUND')
      const url = `/history/${id}`
      expect((await another.inject({ method: 'DELETE', url, headers })).statusCode).toBe(404)
      const payload = { rating: 5 }
      const rated = await another.inject({ method: 'POST', url: `${url}/feedback`, headers, payload })
      expect(rated.statusCode).toBe(404)
      expect((await ask('/stats')).feedback).toEqual({ count: 0, average: null })
      expect((await ask('/stats?scope=all', admin)).feedback).toEqual({ count: 0, average: null })
      expect(await rowsOf(person)).toMatchObject({ history: 1, feedback: 1, removals: 1 })
      await another.listen({ port: 0, host: '127.0.0.1' })
      await vi.waitFor(async () => expect(await rowsOf(person)).toEqual(NOTHING), PATIENCE)
    } finally {
      await another.close()
    }
  })

  test('is removed by the next process where the one that deleted it has ended', async () => {
    const person = await newPerson(service.app)
    await leaveItem(person)
    const next = await buildApp(service.testDatabase.config, service.database)
    try {
      await next.ready()
      expect(await rowsOf(person)).toMatchObject({ history: 1, removals: 1 })
      await next.listen({ port: 0, host: '127.0.0.1' })
      await vi.waitFor(async () => expect(await rowsOf(person)).toEqual(NOTHING), PATIENCE)
    } finally {
      await next.close()
    }
  })

  test('leaves nothing either where an operator deletes it by a statement', async () => {
    const { app, database } = service
    const [person, admin] = [await newPerson(app), await newPerson(app)]
    await sql`update app_user set role = 'admin' where id = ${admin.user.id}`.execute(database.writer)
    const statistics = async () =>
      (await app.inject({ url: '/stats?scope=all', headers: admin.headers })).json()
    const { advisories, service: before } = await statistics()
    await fill(person)
    expect((await statistics()).advisories.total).toBe(advisories.total + MANY)
    await database.writer.deleteFrom('app_user').where('id', '=', person.user.id).execute()
    expect(await rowsOf(person)).toEqual({
      ...NOTHING,
      history: MANY,
      feedback: 1,
      usage: 1,
      sessions: 1,
      removals: 1,
    })
    const refresh = { refresh_token: person.refresh_token }
    const continued = await app.inject({ method: 'POST', url: '/auth/refresh', payload: refresh })
    expect(continued.statusCode).toBe(401)
    expect(await statistics()).toMatchObject({
      advisories,
      feedback: { count: 0, average: null },
      service: { users: { active: before.users.active } },
    })
    await removeNow()
    expect(await rowsOf(person)).toEqual(NOTHING)
  })

  // The embedded database has one session.
  test.skipIf(process.env.TEST_DATABASE_KIND === 'embedded')(
    'is removed by one process at a time',
    async () => {
      const [first, second] = [await newPerson(service.app), await newPerson(service.app)]
      await fill(first)
      await service.database.writer.transaction().execute(async (trx) => {
        await sql`select pg_advisory_xact_lock(7239444)`.execute(trx)
        await deleteAccount(first)
        expect(await rowsOf(first)).toMatchObject({ history: MANY, removals: 1 })
      })
      await deleteAccount(second)
      await vi.waitFor(async () => expect(await rowsOf(first)).toEqual(NOTHING), PATIENCE)
    },
  )
})
