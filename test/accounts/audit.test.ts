import { randomUUID } from 'node:crypto'
import { userInfo } from 'node:os'
import { sql } from 'kysely'
import { beforeEach, describe, expect, test } from 'vitest'
import { issueToken } from '#src/accounts/account-mail.ts'
import { deleteOldRecords, RECORDS_PER_HOUR } from '#src/data/audit-queries.ts'
import { loadRelease } from '#src/ingest/load.ts'
import { boundaryFile, loadFile, rectangle } from '#test/setup/boundaries.ts'
import type { Caller } from '#test/setup/calls.ts'
import { openApp } from '#test/setup/open-service.ts'
import { logIn, newPerson, PASSWORD, type Person, register, tryLogIn } from '#test/setup/people.ts'
import { onePixelRelease, operatorOf } from '#test/setup/releases.ts'
import { endWaits } from './mails.ts'
import { withOtherService } from './other-service.ts'
import { recordsOf } from './records.ts'

const NEW = 'and is cut before the rain'

const service = openApp({ template: 'empty' })

let person: Person
beforeEach(async () => {
  await endWaits(service.database)
  person = await newPerson(service.app)
})

describe('what is recorded', () => {
  test('is who did it, when, from which network, by which session and in which request', async () => {
    const before = Date.now()
    const { user } = await logIn(service.app, await register(service.app))
    const [made, login] = await recordsOf(service.database, user.id)
    expect(made).toEqual({
      id: expect.any(Number),
      at: expect.stringMatching(/^20\d\d-.*Z$/),
      kind: 'account_made',
      userId: user.id,
      email: expect.stringContaining('@example.org'),
      sessionId: null,
      keyId: null,
      network: '127.0.0.1',
      requestId: expect.stringMatching(/.+-.+/),
      operator: null,
      detail: null,
    })
    expect(login).toMatchObject({ kind: 'login', userId: user.id, sessionId: expect.any(String) })
    expect(Date.parse(made?.at as string)).toBeGreaterThan(before - 5000)
  })

  test('is each way into an account, each end of one, and who was kept out, never with what was tried', async () => {
    const { items } = (await send('GET /auth/sessions')).body
    const first = `/auth/sessions/${items[0].id}`
    await tryLogIn(service.app, person.email, 'a wrong password', '192.0.2.7')
    const by = await logIn(service.app, person.email)
    for (const password of ['another wrong one', PASSWORD]) {
      await send('POST /auth/reauthenticate', { password }, by)
    }
    const made = (await send('POST /auth/keys', { name: 'x', scopes: ['account'] }, by)).body
    await send(`DELETE /auth/keys/${made.id}`, undefined, by)
    const other = (await send('POST /auth/keys', { name: 'y' }, by)).body
    // The second time there is nothing to end.
    for (const _ of [1, 2]) await send(`DELETE ${first}`, undefined, by)
    await send('DELETE /auth/sessions', undefined, by)
    for (const current_password of ['another wrong one', PASSWORD]) {
      await send('POST /auth/password', { current_password, new_password: NEW, end_keys: true }, by)
    }
    await send('POST /auth/logout', undefined, by)
    expect(await kindsOf()).toEqual([
      ['login_failed', { reason: 'wrong password' }],
      ['login'],
      ['password_refused'],
      ['reauthenticated'],
      ['key_made', { key: made.id, scopes: ['account'] }],
      ['key_deleted', { key: made.id }],
      ['key_made', { key: other.id, scopes: ['advisory', 'history'] }],
      ['session_ended', { ended: items[0].id }],
      ['other_sessions_ended'],
      ['password_refused'],
      ['password_changed'],
      ['keys_ended', { keys: 1 }],
      ['logout'],
    ])
    const all = JSON.stringify(await recordsOf(service.database))
    for (const secret of ['a wrong password', 'another wrong one', PASSWORD, NEW]) {
      expect(all).not.toContain(secret)
    }
  })

  test('is a login to an account that there is not, with nothing of its name', async () => {
    const email = `${randomUUID()}@example.org`
    await tryLogIn(service.app, email, PASSWORD, '2001:db8:1:2:3:4:5:6')
    const last = (await recordsOf(service.database)).at(-1)
    const detail = { reason: 'no account' }
    expect(last).toMatchObject({ kind: 'login_failed', userId: null, network: '2001:db8:1:2::/64', detail })
    expect(JSON.stringify(last)).not.toContain(email)
  })

  test('is the theft of a refresh token', async () => {
    const { user, refresh_token } = person
    await send('POST /auth/refresh', { refresh_token })
    await sql`update refresh_token set used_at = now() - interval '3 minutes' where used_at is not null`.execute(
      writer(),
    )
    await send('POST /auth/refresh', { refresh_token })
    const [, login, theft] = await recordsOf(service.database, user.id)
    expect(theft).toMatchObject({ kind: 'refresh_token_reused', sessionId: login?.sessionId })
  })

  test('is what is done with the token of a mail', async () => {
    const tokenFor = async (purpose: 'password_reset' | 'email_confirmation') => {
      await writer().updateTable('app_user').set({ email_confirmed: false }).execute()
      return (await issueToken(writer(), person.email, purpose, 1))?.token
    }
    await send('POST /auth/confirm', { token: await tokenFor('email_confirmation') })
    await send('POST /auth/password/reset', { token: await tokenFor('password_reset'), password: NEW })
    expect(await kindsOf()).toEqual([['email_confirmed'], ['password_reset']])
  })

  test('of a deleted account leads from its id to nobody', async () => {
    const { email, user } = person
    await send('DELETE /user/profile')
    const records = await recordsOf(service.database, user.id)
    expect(records.map(({ kind, email }) => [kind, email])).toEqual([
      ['account_made', null],
      ['login', null],
      ['account_deleted', null],
    ])
    expect(JSON.stringify(records)).not.toContain(email)
  })

  test('is what an operator does with releases and boundaries, and nothing of a trial', async () => {
    const { database } = service
    const before = (await recordsOf(database)).length
    const { code: first } = await loadRelease(database, onePixelRelease({ Urea: 1 }))
    const { code: second } = await loadRelease(database, onePixelRelease({ Urea: 2 }))
    const operator = operatorOf(database)
    await operator.rollback(second)
    await operator.remove(first, true)
    const outline = { type: 'Feature', properties: { code: 'ETH' }, geometry: rectangle(33, 3, 48, 15) }
    const file = await boundaryFile([outline])
    await loadFile(database, file, 'eth', 0, { dryRun: true })
    await loadFile(database, file, 'eth', 0)
    const records = (await recordsOf(database)).slice(before)
    expect(records.map(({ kind, detail }) => [kind, detail])).toEqual([
      ['release_published', { release: first }],
      ['release_published', { release: second, replaced: first }],
      ['release_published', { release: first, replaced: second }],
      ['release_deleted', { release: first, published: true }],
      ['boundaries_loaded', { country: 'eth', level: 0, areas: 1 }],
    ])
    for (const record of records) {
      expect(record).toMatchObject({ operator: userInfo().username, userId: null, network: null })
    }
  })

  test('is nothing of what was not done', async () => {
    await send(`DELETE /auth/keys/${randomUUID()}`)
    await send('POST /auth/register', { email: person.email, password: PASSWORD, name: 'x' })
    expect(await kindsOf()).toEqual([])
  })
})

test('what cannot be recorded is not done', async () => {
  await sql`alter table audit_record rename to away`.execute(writer())
  try {
    expect((await send('POST /auth/keys', { name: 'x' })).status).toBe(500)
    expect((await send('DELETE /user/profile')).status).toBe(500)
    expect((await tryLogIn(service.app, person.email, PASSWORD)).status).toBe(500)
  } finally {
    await sql`alter table away rename to audit_record`.execute(writer())
  }
  expect((await send('GET /auth/keys')).body.items).toEqual([])
  expect((await logIn(service.app, person.email)).user).toEqual(person.user)
})

describe('a record', () => {
  test('is neither changed nor removed by any other statement, be it old', async () => {
    const before = await recordsOf(service.database)
    await sql`insert into audit_record (kind, at) values ('login', now() - interval '2 years')`.execute(
      writer(),
    )
    for (const statement of [
      'update audit_record set network = null',
      "delete from audit_record where at < now() - interval '1 year'",
      'truncate audit_record',
    ]) {
      await expect(sql.raw(statement).execute(writer()), statement).rejects.toThrow(
        'audit records are neither changed nor removed',
      )
    }
    expect(await recordsOf(service.database)).toEqual([...before, expect.objectContaining({ kind: 'login' })])
    while ((await deleteOldRecords(writer(), 12, 1000)) > 0);
  })

  test('goes when its months are over, however many there are', async () => {
    const before = await recordsOf(service.database)
    await sql`
      insert into audit_record (kind, at)
      select 'login', now() - interval '12 months' - make_interval(mins => n - 1) from generate_series(1, 2100) as n
    `.execute(writer())
    await sql`insert into audit_record (kind, at) values ('logout', now() - interval '11 months')`.execute(
      writer(),
    )
    while ((await deleteOldRecords(writer(), 12, 1000)) > 0);
    const left = await recordsOf(service.database)
    expect(left.slice(0, -1)).toEqual(before)
    expect(left.at(-1)?.kind).toBe('logout')
  })
})

test.each(['warn', 'error'])(
  'the log has each event in one line, unless it has nothing but errors: %s',
  async (LOG_LEVEL) => {
    await withOtherService(service, { LOG_LEVEL }, async (app, lines) => {
      const email = await register(app)
      const { user } = await logIn(app, email)
      await tryLogIn(app, email, 'a wrong password', '192.0.2.20')
      const common = { level: 30, user: user.id, reqId: expect.any(String) }
      const events = [
        { event: 'account_made', msg: 'an account was made', network: '127.0.0.1', ...common },
        { event: 'login', msg: 'a session was begun', network: '127.0.0.1', ...common },
        { event: 'login_failed', network: '192.0.2.20', detail: { reason: 'wrong password' }, ...common },
      ]
      const told = lines.map((line) => JSON.parse(line)).filter(({ event }) => event)
      expect(told).toMatchObject(LOG_LEVEL === 'warn' ? events : [])
    })
  },
)

// What is bounded by what all have done comes last.
describe('whoever does the same over and over', () => {
  test('fills no disk: an account has a hundred records of a kind in an hour, others have theirs', async () => {
    const { id: userId } = person.user
    for (const kind of ['key_made', 'key_deleted']) {
      await sql`
        insert into audit_record (kind, user_id)
        select ${kind}, ${userId}::uuid from generate_series(1, ${RECORDS_PER_HOUR - 1}::integer)`.execute(
        writer(),
      )
    }
    for (let time = 0; time < 3; time++) {
      const { id } = (await send('POST /auth/keys', { name: 'x' })).body
      expect((await send(`DELETE /auth/keys/${id}`)).status).toBe(204)
    }
    const counts = (kinds: unknown[][], kind: string) => kinds.filter(([name]) => name === kind).length
    const kinds = await kindsOf()
    expect([counts(kinds, 'key_made'), counts(kinds, 'key_deleted')]).toEqual([100, 100])
    const other = await newPerson(service.app)
    await send('POST /auth/keys', { name: 'x' }, other)
    expect((await kindsOf(other.user.id)).map(([kind]) => kind)).toEqual(['key_made'])
  })

  test('fills none with failed logins either, and hides no success', async () => {
    await sql`
      insert into audit_record (kind, network) select 'login_failed', '192.0.2.9' from generate_series(1, 100)
    `.execute(writer())
    const failedFrom = async (network: string) => {
      const { status } = await tryLogIn(service.app, person.email, 'a wrong password', network)
      expect(status).toBe(401)
      return (await recordsOf(service.database)).filter((record) => record.network === network).length
    }
    expect([await failedFrom('192.0.2.9'), await failedFrom('192.0.2.10')]).toEqual([100, 1])
    await sql`
      insert into audit_record (kind, network) select 'login_failed', n::text from generate_series(1, 1000) as n
    `.execute(writer())
    expect(await failedFrom('192.0.2.11')).toBe(0)
    await logIn(service.app, person.email)
    expect((await kindsOf()).at(-1)).toEqual(['login'])
  })
})

const writer = () => service.database.writer

const send = (request: string, payload?: object, by?: Caller) =>
  service.ask(request, { by: by ?? person, payload })

/** What was recorded of the person since the first login. */
async function kindsOf(id = person.user.id) {
  const records = await recordsOf(service.database, id)
  return records.slice(2).map(({ kind, detail }) => (detail === null ? [kind] : [kind, detail]))
}
