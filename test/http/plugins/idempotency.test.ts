import { randomUUID } from 'node:crypto'
import { sql } from 'kysely'
import { describe, expect, test, vi } from 'vitest'
import { loadSecrets } from '#src/http/access-tokens.ts'
import { createSeal } from '#src/http/plugins/idempotency.ts'
import { rectangle } from '#test/setup/boundaries.ts'
import type { Called } from '#test/setup/calls.ts'
import { openService } from '#test/setup/open-service.ts'
import { PATIENCE } from '#test/setup/patience.ts'
import { logIn, newPerson, PASSWORD, type Person } from '#test/setup/people.ts'
import { FIELD_IN_PIXEL } from '#test/setup/releases.ts'

const FIELD = { geometry: FIELD_IN_PIXEL }
const POINT = { lat: 9.5, lng: 38.5 }

// What is in memory stays there.
const service = openService({ settings: { RELEASE_MAX_AGE_MS: '60000' } })

describe('a request that is sent again with its Idempotency-Key', () => {
  test.each([
    ['a polygon', '/advisory/yield', FIELD],
    ['a point', '/advisory/yield/point', POINT],
  ])('is answered the same, and is one item of the history: %s', async (_, url, payload) => {
    const someone = await newPerson(service.app)
    const request = { url, payload, key: randomUUID(), who: someone }
    const first = await post(request)
    expect(first.status).toBe(200)
    for (let again = 0; again < 3; again++) expectReplayed(await post(request), first)
    expect(await historyOf(someone)).toEqual([first.body.history_id])
    const other = await post({ ...request, key: randomUUID() })
    expect(other.body.history_id).not.toBe(first.body.history_id)
  })

  test('may have its parameters in the query then, as long as they are the same', async () => {
    const key = randomUUID()
    const first = await post({ url: '/advisory/yield/point', key, payload: POINT })
    expectReplayed(await post({ url: '/advisory/yield/point?lat=9.5&lng=38.5', key, payload: {} }), first)
  })

  test('makes one key, which is shown again and stands nowhere', async () => {
    const someone = await newPerson(service.app)
    const request = { url: '/auth/keys', key: `my ${randomUUID()}`, payload: { name: 'x' }, who: someone }
    const first = await post(request)
    expect(first.status).toBe(201)
    expectReplayed(await post(request), first)
    expect((await service.get('/auth/keys', { by: someone })).body.items).toHaveLength(1)
    const [record] = await records(someone.user.id)
    const stored = Object.values(record ?? {})
      .map(String)
      .join(' ')
    expect(record?.answer?.length).toBeGreaterThan(100)
    for (const secret of [first.body.key, request.key, 'agro_', first.body.id])
      expect(stored).not.toContain(secret)
  })

  test('makes one account, which its deletion takes with all of it', async () => {
    const email = `${randomUUID()}@example.org`
    const payload = { email, password: PASSWORD, name: 'Amina Bekele' }
    const request = { url: '/auth/register', key: 'one', payload, who: null }
    const first = await post(request)
    expect(first.status).toBe(201)
    expectReplayed(await post(request), first)
    // Who may choose the same key: without an account it is one with the request.
    const guess = await post({ ...request, payload: { ...payload, password: 'not the password' } })
    expect([guess.status, guess.body.code]).toEqual([409, 'EMAIL_TAKEN'])
    const other = await post({ ...request, payload: { ...payload, email: `x${email}` } })
    expect(other.status).toBe(201)

    const { id } = first.body
    expect(await records(id)).toHaveLength(1)
    await service.delete('/user/profile', { by: await logIn(service.app, email) })
    expect(await records(id)).toEqual([])
    expect((await post(request)).body.id).not.toBe(id)
  })

  test('is done once, however many come at the same time', async () => {
    const someone = await newPerson(service.app)
    const request = { url: '/advisory/yield', payload: FIELD, key: randomUUID(), who: someone }
    const answers = await Promise.all(Array.from({ length: 8 }, () => post(request)))
    const [id] = await historyOf(someone)
    expect(await historyOf(someone)).toHaveLength(1)
    for (const { status, headers, body } of answers) {
      if (status === 200) expect(body.history_id).toBe(id)
      else expect([status, body.code, headers['retry-after']]).toEqual([409, 'REQUEST_IN_PROGRESS', '1'])
    }
    const done = answers.filter(({ headers }) => !headers['idempotency-replayed'] && !headers['retry-after'])
    expect(done).toHaveLength(1)
  })
})

const RATED = { rating: 4, comment: 'Close to it.' }

describe('an Idempotency-Key', () => {
  test('that comes with another request is 422', async () => {
    const key = randomUUID()
    await post({ url: '/advisory/yield/point', key, payload: POINT })
    const other = await post({ url: '/advisory/yield/point', key, payload: { ...POINT, name: 'x' } })
    expect([other.status, other.body.code]).toEqual([422, 'IDEMPOTENCY_KEY_REUSED'])
    const { history_id: id } = (await post({ url: '/advisory/yield/point', payload: POINT })).body
    const { history_id: another } = (await post({ url: '/advisory/yield/point', payload: POINT })).body
    await post({ url: `/history/${id}/feedback`, key, payload: RATED })
    expect((await post({ url: `/history/${another}/feedback`, key, payload: RATED })).status).toBe(422)
  })

  test('is of one account and one operation', async () => {
    const [key, someone] = [randomUUID(), await newPerson(service.app)]
    const calls = [
      { url: '/advisory/yield', key, payload: FIELD },
      { url: '/advisory/isfm', key, payload: FIELD },
      { url: '/advisory/yield', key, payload: FIELD, who: someone },
    ]
    for (const request of calls)
      expect((await post(request)).headers).not.toHaveProperty('idempotency-replayed')
    expect(await historyOf(someone)).toHaveLength(1)
  })

  test('of a session is that of the next one', async () => {
    const request = pointRequest()
    const first = await post(request)
    expectReplayed(await post({ ...request, who: await logIn(service.app, service.person.email) }), first)
  })

  test('gives a key nothing that the account or another key was answered', async () => {
    const bearer = async (payload: object) => {
      const { key } = (await post({ url: '/auth/keys', payload: { name: 'x', ...payload } })).body
      return key
    }
    const forAccount = await bearer({ scopes: ['account'], expires_in_days: 1 })
    const forAdvice = await bearer({ scopes: ['advisory'] })
    const made = { url: '/auth/keys', key: randomUUID(), payload: { name: 'all', scopes: ['history'] } }
    expect((await post(made)).status).toBe(201)
    const refused = await post({ ...made, who: forAccount })
    expect([refused.status, refused.body.key]).toEqual([403, undefined])

    const asked = { url: '/advisory/yield', key: randomUUID(), payload: FIELD }
    expect((await post(asked)).body).toHaveProperty('history_id')
    const request = { ...asked, who: forAdvice }
    const first = await post(request)
    expect([first.status, first.body.history_id]).toEqual([200, undefined])
    expectReplayed(await post(request), first)
  })

  test('names nothing where nobody is known', async () => {
    const request = { ...pointRequest(), who: null }
    for (const answer of [await post(request), await post(request)]) {
      expect([answer.status, answer.headers['idempotency-replayed']]).toEqual([200, undefined])
    }
  })

  test.each(['', 'x'.repeat(256), 'é', 'a\tb'])('that cannot be kept is refused: %j', async (key) => {
    // Whoever nobody knows is told as well.
    const refused = await post({ url: '/advisory/yield/point', key, payload: POINT, who: null })
    expect([refused.status, refused.body.details]).toEqual([
      400,
      [{ field: 'Idempotency-Key', message: 'Idempotency-Key must be 1 to 255 printable ASCII characters' }],
    ])
  })

  test('of a request that failed names nothing: what is sent again is done', async () => {
    const key = randomUUID()
    const wrong = { geometry: rectangle(0, 0, 0.1, 0.1) }
    const before = await records()
    for (let again = 0; again < 2; again++) {
      const refused = await post({ url: '/advisory/yield', key, payload: wrong })
      expect([refused.status, refused.headers['idempotency-replayed']]).toEqual([404, undefined])
    }
    expect(await records()).toHaveLength(before.length)
    expect((await post({ url: '/advisory/yield', key, payload: FIELD })).status).toBe(200)
  })
})

/** Has the person's requests be made so long ago, and not answered yet where that is said. */
async function age(interval: string, answered = true): Promise<void> {
  await sql`
    update idempotency_record
    set begun_at = now() - ${interval}::interval, answer = case when ${answered} then answer end
    where user_id = ${service.person.user.id}`.execute(service.database.writer)
}

describe('what is kept of requests with an Idempotency-Key', () => {
  test('counts for a day, and is deleted then', async () => {
    const request = pointRequest()
    const first = await post(request)
    await age('23 hours 59 minutes')
    expectReplayed(await post(request), first)
    await age('24 hours 1 minute')
    const anew = await post(request)
    expect(anew.headers).not.toHaveProperty('idempotency-replayed')
    expect(anew.body.history_id).not.toBe(first.body.history_id)

    await age('24 hours 1 minute')
    service.app.jobs.wake('delete-stored-answers')
    await vi.waitFor(async () => expect(await records()).toEqual([]), PATIENCE)
  })

  test('by an older version, without newer members, is given again as it was', async () => {
    const request = pointRequest()
    const first = await post(request)
    const [secret] = await loadSecrets(service.testDatabase.config)
    const { idOf, seal, unseal } = createSeal(secret)
    const id = idOf(request.key, 'yieldAtPoint', service.person.user.id, null)
    const { writer } = service.database
    const ofId = writer.selectFrom('idempotency_record').select('answer').where('id', '=', id)
    const stored = (await ofId.executeTakeFirstOrThrow()).answer as Buffer
    const { body: whole, ...answer } = unseal(id, request.key, stored)
    const { country_code: _, ...body } = whole as Record<string, unknown>
    const sealed = seal(id, request.key, { ...answer, body })
    await writer.updateTable('idempotency_record').set({ answer: sealed }).where('id', '=', id).execute()
    const again = await post(request)
    expect([again.status, again.body]).toEqual([200, body])
    expect(first.body).toEqual({ ...body, country_code: 'eth' })
  })

  test('of a process that died is waited for, and done anew after that', async () => {
    const request = pointRequest()
    await post(request)
    // A statement may take two minutes in tests, and a request one more.
    await age('2 minutes 50 seconds', false)
    const waiting = await post(request)
    expect([waiting.status, waiting.body.code]).toEqual([409, 'REQUEST_IN_PROGRESS'])
    await age('3 minutes 10 seconds', false)
    const anew = await post(request)
    expect([anew.status, anew.headers['idempotency-replayed']]).toEqual([200, undefined])
    expectReplayed(await post(request), anew)
  })

  test('is bounded for each account: the oldest go', async () => {
    const someone = await newPerson(service.app)
    await sql`
      insert into idempotency_record (id, user_id, attempt, begun_at, answer)
      select decode(md5(n::text), 'hex'), ${someone.user.id}, gen_random_uuid(), now() - make_interval(secs => n), '\\x00'
      from generate_series(1, 10100) as n`.execute(service.database.writer)
    const count = async () => (await records(someone.user.id)).length
    const request = { url: '/advisory/yield/point', payload: POINT, who: someone }
    // Accounts are looked at now and then.
    for (let calls = 0; calls < 100; calls++) await post({ ...request, key: randomUUID() })
    await vi.waitFor(async () => expect(await count()).toBeLessThanOrEqual(10_100), PATIENCE)
    expect(await count()).toBeGreaterThanOrEqual(10_000)
  })
})

describe('where a request cannot be noted', () => {
  test('nothing is done, and it may be sent again', async () => {
    const request = pointRequest()
    await post(request)
    const before = await historyOf(service.person)
    const away = vi.spyOn(service.database.pool, 'connect').mockImplementation(() => {
      throw Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' })
    })
    try {
      const refused = await post({ ...request, key: randomUUID() })
      expect([refused.status, refused.body.code]).toEqual([503, 'DATABASE_UNAVAILABLE'])
      const plain = await post({ url: request.url, payload: POINT })
      expect([plain.status, plain.body.history_id]).toEqual([200, undefined])
    } finally {
      away.mockRestore()
    }
    expect(await historyOf(service.person)).toEqual(before)
  })

  test('that has been done, its answer goes out all the same', async () => {
    const { writer } = service.database
    await sql`
      create function refuse() returns trigger language plpgsql as $$ begin raise 'no room'; end $$;
      create trigger refuse before update on idempotency_record for each row execute function refuse()
    `.execute(writer)
    const request = { url: '/advisory/yield', payload: FIELD, key: randomUUID() }
    try {
      const done = await post(request)
      expect(done.status).toBe(200)
      expect(await historyOf(service.person)).toContain(done.body.history_id)
      expect((await post(request)).status).toBe(409)
    } finally {
      await sql`drop function refuse cascade`.execute(writer)
    }
  })
})

interface Call {
  url: string
  key?: string
  payload: object
  /** The service's person, where it is left out; nobody, where it is null. */
  who?: Pick<Person, 'headers'> | null
}

function post({ url, key, payload, who = service.person }: Call) {
  const headers: Record<string, string> = key === undefined ? {} : { 'idempotency-key': key }
  return service.post(url, { payload, headers, ...(who && { by: who }) })
}

/** A point that is asked for, of which each has a key of its own. */
const pointRequest = () => ({ url: '/advisory/yield/point', key: randomUUID(), payload: POINT })

async function historyOf(by: Person): Promise<string[]> {
  const { items } = (await service.get('/history/my', { by })).body
  return items.map(({ id }: { id: string }) => id)
}

/** What is stored of an account's requests. */
function records(userId = service.person.user.id): Promise<{ answer: Buffer | null }[]> {
  const { writer } = service.database
  return writer.selectFrom('idempotency_record').selectAll().where('user_id', '=', userId).execute()
}

function expectReplayed(again: Called, first: Called): void {
  expect([again.status, again.text]).toEqual([first.status, first.text])
  expect(first.headers).not.toHaveProperty('idempotency-replayed')
  expect(again.headers['idempotency-replayed']).toBe('true')
  const same = ['content-type', 'cache-control', 'advisory-release'] as const
  for (const name of same) expect(again.headers[name]).toBe(first.headers[name])
}
