import { sql } from 'kysely'
import { afterEach, expect, test, vi } from 'vitest'
import { buildApp } from '#src/app.ts'
import { inTransaction } from '#src/data/sql.ts'
import type { App } from '#src/http/app.ts'
import { keepAt, rate, recorderOn, recordOf } from '#test/history/advisories.ts'
import { type Caller, call } from '#test/setup/calls.ts'
import { testOnServer } from '#test/setup/on-server.ts'
import { openApp } from '#test/setup/open-service.ts'
import { PATIENCE } from '#test/setup/patience.ts'
import { logIn, makeAdmin, newPerson, type Person, register, tryLogIn } from '#test/setup/people.ts'

const service = openApp({ template: 'empty' })
const writer = () => service.database.writer
afterEach(() => removed())

/** More than is removed in one piece. */
const MANY = 1200

const NOTHING = { history: 0, feedback: 0, size: 0, usage: 0, sessions: 0, keys: 0, removals: 0 }

/** Waits until nothing is left of accounts that are gone. */
async function removed(): Promise<void> {
  const left = () => writer().selectFrom('account_removal').selectAll().execute()
  await vi.waitFor(async () => expect(await left()).toEqual([]), PATIENCE)
}

test('an account that is deleted says what of it goes, and every token and key of it ends at once', async () => {
  const person = await newPerson(service.app)
  const elsewhere = await logIn(service.app, person.email)
  const bystander = await newPerson(service.app)
  const payload = { name: 'x', scopes: ['account'] }
  const { key } = (await service.post('/auth/keys', { by: person, payload })).body
  const ways = [person, elsewhere, key]
  for (const way of ways) expect((await ask(way, 'GET /user/profile')).status).toBe(200)

  const { status, body } = await deleteAccount(person)
  const counts = { accounts: 1, sessions: 2, keys: 1, history: 0, feedback: 0, usage: 0 }
  expect([status, body]).toEqual([200, { removed: counts, anonymised: {} }])
  for (const way of ways) expect((await ask(way, 'GET /user/profile')).status).toBe(401)
  const { refresh_token } = elsewhere
  expect((await service.post('/auth/refresh', { payload: { refresh_token } })).status).toBe(401)
  expect((await tryLogIn(service.app, person.email, person.password)).status).toBe(401)
  await isNothingOf(person)
  expect((await ask(bystander, 'GET /user/profile')).status).toBe(200)
})

test('an account with a long history is counted whole, frees its e-mail at once, and goes piece by piece', async () => {
  const [person, bystander] = [await newPerson(service.app), await newPerson(service.app)]
  await fill(person)
  await keepAt(service, [[recordOf(bystander), new Date()]])
  const counts = { accounts: 1, sessions: 1, keys: 0, history: MANY, feedback: 1, usage: 1 }
  expect(await deleteAccount(person)).toMatchObject({ status: 200, body: { removed: counts } })
  await register(service.app, person.email)
  await isNothingOf(person)
  expect(await rowsOf(bystander)).toMatchObject({ history: 1, size: 1, usage: 1, sessions: 1 })
})

test('an account is gone for another process that knew its caller, whatever rows are left', async () => {
  const another = await buildApp(service.testDatabase.config, service.database)
  try {
    const [person, admin] = [await newPerson(service.app), await newAdmin()]
    expect((await ask(person, 'GET /history/my', another)).body.items).toEqual([])
    const [id] = (await keepAt(service, [[recordOf(person), new Date()]])) as [string]
    await rate(service, person, id, { rating: 2 })
    await deleteByStatement(person)

    // It is let in, for it was known a moment ago.
    expect((await ask(person, 'GET /history/my', another)).body.items).toEqual([])
    expect((await ask(person, `GET /history/${id}`, another)).status).toBe(404)
    expect((await ask(person, `DELETE /history/${id}`, another)).status).toBe(404)
    expect((await rate({ app: another }, person, id, { rating: 5 })).status).toBe(404)
    const none = { count: 0, average: null }
    expect((await ask(person, 'GET /stats', another)).body.feedback).toEqual(none)
    expect((await ask(admin, 'GET /stats?scope=all', another)).body.feedback).toEqual(none)
    expect(await rowsOf(person)).toMatchObject({ history: 1, feedback: 1, removals: 1 })
    await another.listen({ port: 0, host: '127.0.0.1' })
    await isNothingOf(person)
  } finally {
    await another.close()
  }
})

test('an account that an operator deletes by a statement counts no more, and the next process removes it', async () => {
  const [person, admin] = [await newPerson(service.app), await newAdmin()]
  const statistics = async () => (await ask(admin, 'GET /stats?scope=all')).body
  const { advisories, service: before } = await statistics()
  await fill(person)
  expect((await statistics()).advisories.total).toBe(advisories.total + MANY)
  await deleteByStatement(person)
  const left = { history: MANY, feedback: 1, usage: 1, sessions: 1, removals: 1 }
  expect(await rowsOf(person)).toEqual({ ...NOTHING, ...left })
  const { refresh_token } = person
  expect((await service.post('/auth/refresh', { payload: { refresh_token } })).status).toBe(401)
  expect(await statistics()).toMatchObject({
    advisories,
    feedback: { count: 0, average: null },
    service: { users: { active: before.users.active } },
  })
  const next = await buildApp(service.testDatabase.config, service.database)
  await next.listen({ port: 0, host: '127.0.0.1' })
  await isNothingOf(person).finally(() => next.close())
})

// The embedded database has one session.
testOnServer('accounts are removed by one process at a time', async () => {
  const [first, second] = [await newPerson(service.app), await newPerson(service.app)]
  await fill(first)
  await writer()
    .transaction()
    .execute(async (trx) => {
      await sql`select pg_advisory_xact_lock(7239444)`.execute(trx)
      await deleteAccount(first)
      expect(await rowsOf(first)).toMatchObject({ history: MANY, removals: 1 })
    })
  await deleteAccount(second)
  await isNothingOf(first)
})

testOnServer(
  'items are removed with their feedback alone, whatever was removed on the connection before',
  async () => {
    const RATED = 301
    const person = await newPerson(service.app)
    const keep = recorderOn(service.database.writer)
    await Promise.all(Array.from({ length: RATED }, () => keep(recordOf(person))))
    const read = await inTransaction(service.database.writer, async (trx) => {
      await sql`
      insert into advisory_feedback (history_id, user_id, rating)
      select id, user_id, 3 from history_item where user_id = ${person.user.id}`.execute(trx)
      // Others', so that an account is expected to have little feedback.
      await sql`set local session_replication_role = replica`.execute(trx)
      await sql`
      insert into advisory_feedback (history_id, user_id, rating)
      select gen_random_uuid(), gen_random_uuid(), 3 from generate_series(1, 2000)`.execute(trx)
      await sql`set local session_replication_role = origin`.execute(trx)
      await sql`analyze advisory_feedback`.execute(trx)
      for (const most of [1, RATED]) {
        await sql`
        select delete_history_items(${person.user.id}, '00000000-0000-0000-0000-000000000000', ${most})`.execute(
          trx,
        )
      }
      const { rows } = await sql<{ read: number }>`
      select idx_tup_fetch as read from pg_stat_xact_user_tables where relname = 'advisory_feedback'`.execute(
        trx,
      )
      await sql`truncate advisory_feedback`.execute(trx)
      return rows[0]?.read
    })
    expect(read).toBeLessThan(2 * RATED)
    await deleteAccount(person)
  },
)

const ask = (by: Caller, request: string, app: App = service.app) => call(app, request, { by })

/** Keeps advisories for somebody, the first of them with feedback. */
async function fill(person: Person): Promise<void> {
  const keep = recorderOn(writer())
  const ids = await Promise.all(Array.from({ length: MANY }, () => keep(recordOf(person))))
  await rate(service, person, ids[0] as string, { rating: 2 })
}

const deleteAccount = (person: Person) => ask(person, 'DELETE /user/profile')

/** Deletes an account as an operator may, or another process that then ends. */
const deleteByStatement = ({ user }: Person) =>
  writer().deleteFrom('app_user').where('id', '=', user.id).execute()

/** How many rows there are of somebody, by table. */
async function rowsOf({ user }: Person): Promise<Record<string, number>> {
  const { rows } = await sql<Record<string, number>>`
    select
      (select count(*) from advisory_history where user_id = ${user.id}) as history,
      (select count(*) from advisory_feedback where user_id = ${user.id}) as feedback,
      (select count(*) from history_size where user_id = ${user.id}) as size,
      (select count(*) from user_usage where user_id = ${user.id}) as usage,
      (select count(*) from session where user_id = ${user.id}) as sessions,
      (select count(*) from api_key where user_id = ${user.id}) as keys,
      (select count(*) from account_removal) as removals`.execute(writer())
  return rows[0] as Record<string, number>
}

const isNothingOf = (person: Person) =>
  vi.waitFor(async () => expect(await rowsOf(person)).toEqual(NOTHING), PATIENCE)

async function newAdmin(): Promise<Person> {
  const person = await newPerson(service.app)
  await makeAdmin({ ...service, person })
  return person
}
