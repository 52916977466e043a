import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { logIn, newPerson, PASSWORD } from '#test/setup/people.ts'
import { type CalledService, createCalledService, expectReplayed, FIELD, POINT } from './idempotent-calls.ts'

let service: CalledService
beforeAll(async () => {
  service = await createCalledService()
})
afterAll(() => service.close())

const RATED = { rating: 4, comment: 'Close to it.' }

describe('a request that is sent again with its Idempotency-Key', () => {
  test.each([
    ['a polygon', '/advisory/yield', FIELD],
    ['a point', '/advisory/yield/point', POINT],
    ['a point for all products', '/advisory/point', POINT],
  ])('is answered the same, and is one item of the history: %s', async (_, url, payload) => {
    const someone = await newPerson(service.app)
    const call = { url, payload, key: randomUUID(), who: someone }
    const first = await service.post(call)
    expect(first.statusCode).toBe(200)
    for (let again = 0; again < 3; again++) expectReplayed(await service.post(call), first)
    expect(await service.historyOf(someone)).toEqual([first.json().history_id])
    const other = await service.post({ ...call, key: randomUUID() })
    expect(other.json().history_id).not.toBe(first.json().history_id)
  })

  test('may have its parameters in the query then, as long as they are the same', async () => {
    const key = randomUUID()
    const first = await service.post({ url: '/advisory/yield/point', key, payload: POINT })
    expectReplayed(
      await service.post({ url: '/advisory/yield/point?lat=9.5&lng=38.5', key, payload: {} }),
      first,
    )
  })

  test('gives feedback once', async () => {
    const { history_id: id } = (await service.post({ url: '/advisory/yield/point', payload: POINT })).json()
    const call = { url: `/history/${id}/feedback`, key: randomUUID(), payload: RATED }
    const first = await service.post(call)
    expect(first.json()).toMatchObject(RATED)
    await service.post({ ...call, key: randomUUID(), payload: { rating: 1 } })
    expectReplayed(await service.post(call), first)
    const item = await service.app.inject({ url: `/history/${id}`, headers: service.person.headers })
    expect(item.json().feedback.rating).toBe(1)
  })

  test('makes one key, which is shown again and stands nowhere', async () => {
    const someone = await newPerson(service.app)
    const call = { url: '/auth/keys', key: `my ${randomUUID()}`, payload: { name: 'x' }, who: someone }
    const first = await service.post(call)
    expect(first.statusCode).toBe(201)
    expectReplayed(await service.post(call), first)
    const list = await service.app.inject({ url: '/auth/keys', headers: someone.headers })
    expect(list.json().items).toHaveLength(1)
    const [record] = await service.records(someone.user.id)
    const stored = Object.values(record ?? {})
      .map(String)
      .join(' ')
    expect(record?.answer?.length).toBeGreaterThan(100)
    for (const secret of [first.json().key, call.key, 'agro_', first.json().id])
      expect(stored).not.toContain(secret)
  })

  test('makes one account, which its deletion takes with all of it', async () => {
    const email = `${randomUUID()}@example.org`
    const payload = { email, password: PASSWORD, name: 'Amina Bekele' }
    const call = { url: '/auth/register', key: 'one', payload, who: null }
    const first = await service.post(call)
    expect(first.statusCode).toBe(201)
    expectReplayed(await service.post(call), first)
    // Who may choose the same key: without an account it is one with the request.
    const guess = await service.post({ ...call, payload: { ...payload, password: 'not the password' } })
    expect([guess.statusCode, guess.json().code]).toEqual([409, 'EMAIL_TAKEN'])
    const other = await service.post({ ...call, payload: { ...payload, email: `x${email}` } })
    expect(other.statusCode).toBe(201)

    const { id } = first.json()
    expect(await service.records(id)).toHaveLength(1)
    const login = await service.app.inject({
      method: 'POST',
      url: '/auth/login',
      payload: { email, password: PASSWORD },
    })
    const headers = { authorization: `Bearer ${login.json().access_token}` }
    await service.app.inject({ method: 'DELETE', url: '/user/profile', headers })
    expect(await service.records(id)).toEqual([])
    expect((await service.post(call)).json().id).not.toBe(id)
  })

  test('is done once, however many come at the same time', async () => {
    const someone = await newPerson(service.app)
    const call = { url: '/advisory/yield', payload: FIELD, key: randomUUID(), who: someone }
    const answers = await Promise.all(Array.from({ length: 8 }, () => service.post(call)))
    const [id] = await service.historyOf(someone)
    expect(await service.historyOf(someone)).toHaveLength(1)
    for (const { statusCode, headers, json } of answers) {
      if (statusCode === 200) expect(json().history_id).toBe(id)
      else
        expect([statusCode, json().code, headers['retry-after']]).toEqual([409, 'REQUEST_IN_PROGRESS', '1'])
    }
    expect(
      answers.filter(({ headers }) => !headers['idempotency-replayed'] && !headers['retry-after']),
    ).toHaveLength(1)
  })
})

describe('an Idempotency-Key', () => {
  test('that comes with another request is 422', async () => {
    const key = randomUUID()
    await service.post({ url: '/advisory/yield/point', key, payload: POINT })
    const other = await service.post({ url: '/advisory/yield/point', key, payload: { ...POINT, name: 'x' } })
    expect([other.statusCode, other.json().code]).toEqual([422, 'IDEMPOTENCY_KEY_REUSED'])
    const { history_id: id } = (await service.post({ url: '/advisory/yield/point', payload: POINT })).json()
    const { history_id: another } = (
      await service.post({ url: '/advisory/yield/point', payload: POINT })
    ).json()
    await service.post({ url: `/history/${id}/feedback`, key, payload: RATED })
    expect(
      (await service.post({ url: `/history/${another}/feedback`, key, payload: RATED })).statusCode,
    ).toBe(422)
  })

  test('is of one account and one operation', async () => {
    const [key, someone] = [randomUUID(), await newPerson(service.app)]
    const calls = [
      { url: '/advisory/yield', key, payload: FIELD },
      { url: '/advisory/isfm', key, payload: FIELD },
      { url: '/advisory/yield', key, payload: FIELD, who: someone },
    ]
    for (const call of calls)
      expect((await service.post(call)).headers).not.toHaveProperty('idempotency-replayed')
    expect(await service.historyOf(someone)).toHaveLength(1)
  })

  test('of a session is that of the next one', async () => {
    const call = { url: '/advisory/yield/point', key: randomUUID(), payload: POINT }
    const first = await service.post(call)
    expectReplayed(
      await service.post({ ...call, who: await logIn(service.app, service.person.email) }),
      first,
    )
  })

  test('gives a key nothing that the account or another key was answered', async () => {
    const bearer = async (payload: object) => {
      const { key } = (await service.post({ url: '/auth/keys', payload: { name: 'x', ...payload } })).json()
      return { authorization: `Bearer ${key}` }
    }
    const forAccount = await bearer({ scopes: ['account'], expires_in_days: 1 })
    const forAdvice = await bearer({ scopes: ['advisory'] })
    const made = { url: '/auth/keys', key: randomUUID(), payload: { name: 'all', scopes: ['history'] } }
    expect((await service.post(made)).statusCode).toBe(201)
    const refused = await service.post({ ...made, who: null, headers: forAccount })
    expect([refused.statusCode, refused.json().key]).toEqual([403, undefined])

    const asked = { url: '/advisory/yield', key: randomUUID(), payload: FIELD }
    expect((await service.post(asked)).json()).toHaveProperty('history_id')
    const call = { ...asked, who: null, headers: forAdvice }
    const first = await service.post(call)
    expect([first.statusCode, first.json().history_id]).toEqual([200, undefined])
    expectReplayed(await service.post(call), first)
  })

  test('names nothing where nobody is known', async () => {
    const call = { url: '/advisory/yield/point', key: randomUUID(), payload: POINT, who: null }
    for (const answer of [await service.post(call), await service.post(call)]) {
      expect([answer.statusCode, answer.headers['idempotency-replayed']]).toEqual([200, undefined])
    }
  })

  test.each(['', 'x'.repeat(256), 'é', 'a\tb'])('that cannot be kept is refused: %j', async (key) => {
    const refused = await service.post({ url: '/advisory/yield', key, payload: FIELD })
    expect([refused.statusCode, refused.json().details]).toEqual([
      400,
      [{ field: 'Idempotency-Key', message: 'Idempotency-Key must be 1 to 255 printable ASCII characters' }],
    ])
  })

  test('that cannot be kept is refused to those whom nobody knows as well', async () => {
    const refused = await service.post({ url: '/advisory/yield/point', key: 'é', payload: POINT, who: null })
    expect([refused.statusCode, refused.json().code]).toEqual([400, 'INVALID_PARAMETERS'])
  })

  test('of a request that failed names nothing: what is sent again is done', async () => {
    const key = randomUUID()
    const wrong = {
      geometry: {
        type: 'Polygon',
        coordinates: [
          [
            [0, 0],
            [0.1, 0],
            [0.1, 0.1],
            [0, 0],
          ],
        ],
      },
    }
    const before = await service.records()
    for (let again = 0; again < 2; again++) {
      const refused = await service.post({ url: '/advisory/yield', key, payload: wrong })
      expect([refused.statusCode, refused.headers['idempotency-replayed']]).toEqual([404, undefined])
    }
    expect(await service.records()).toHaveLength(before.length)
    expect((await service.post({ url: '/advisory/yield', key, payload: FIELD })).statusCode).toBe(200)
  })
})
