import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { createTestAppWithPerson, type TestAppWithPerson } from '#test/setup/people.ts'

let service: TestAppWithPerson
beforeAll(async () => {
  service = await createTestAppWithPerson({
    settings: { BODY_LIMIT_BYTES: '65536', BATCH_BODY_LIMIT_BYTES: '262144' },
  })
})
afterAll(() => service.close())

const POINT = '/advisory/yield/point?lat=9.5&lng=38.5'
const INVALID = 'Bearer realm="agro-advisory", error="invalid_token"'
const WRONG = { authorization: 'Bearer agro_wrong' }

function ask(method: 'GET' | 'POST', url: string, headers: Record<string, string> = {}) {
  return service.app.inject({ method, url, headers })
}

function batch(count: number, headers: Record<string, string> = {}, name = '') {
  const points = Array.from({ length: count }, () => ({ lat: 9.5, lng: 38.5, ...(name && { name }) }))
  return service.app.inject({ method: 'POST', url: '/advisory/yield/points', headers, payload: { points } })
}

async function withoutDatabase(work: () => Promise<void>): Promise<void> {
  const away = vi.spyOn(service.database.pool, 'connect').mockImplementation(() => {
    throw Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' })
  })
  await work().finally(() => away.mockRestore())
}

describe('a token of no use, sent to an open endpoint', () => {
  test.each([
    ['POST', POINT],
    ['GET', POINT],
    ['GET', '/catalog'],
    ['POST', '/advisory/point?lat=9.5&lng=38.5'],
  ] as const)('is said to be so in the answer to everybody: %s %s', async (method, url) => {
    const [open, wrong, known] = await Promise.all(
      [{}, WRONG, service.person.headers].map((headers) => ask(method, url, headers)),
    )
    expect([wrong?.statusCode, wrong?.body]).toEqual([200, open?.body])
    expect(wrong?.headers['www-authenticate']).toBe(INVALID)
    for (const answer of [open, known]) expect(answer?.headers).not.toHaveProperty('www-authenticate')
  })

  test.each(['Bearer', 'Bearer x y', 'bearer x'])(
    'is said to be so, whatever is wrong with it: %s',
    async (authorization) => {
      const { statusCode, headers } = await ask('POST', POINT, { authorization })
      expect([statusCode, headers['www-authenticate']]).toEqual([200, INVALID])
    },
  )

  test('is none where it is the password of a proxy', async () => {
    const { statusCode, headers } = await ask('POST', POINT, { authorization: 'Basic eDp5' })
    expect(statusCode).toBe(200)
    expect(headers).not.toHaveProperty('www-authenticate')
    const refused = await batch(1001, { authorization: 'Basic eDp5' })
    expect(refused.statusCode).toBe(413)
  })

  test('is said to be so in errors, too', async () => {
    const { statusCode, headers } = await ask('POST', '/advisory/yield/point?lat=0&lng=0', WRONG)
    expect([statusCode, headers['www-authenticate']]).toEqual([404, INVALID])
  })

  test('is the business of no cache', async () => {
    const { headers } = await ask('GET', POINT, WRONG)
    expect(headers['cache-control']).toBe('no-store')
    expect(headers).not.toHaveProperty('etag')
    expect(headers.vary).toContain('Authorization')
  })
})

describe('what only a caller may ask', () => {
  test('is 413 with a hint without a token, and 401 with one of no use', async () => {
    const none = await batch(1001)
    expect([none.statusCode, none.json().error]).toEqual([
      413,
      'The call has 1001 points. Without a token a call may have 1000 points, with one (log in with POST /auth/login) 20000.',
    ])
    const wrong = await batch(1001, WRONG)
    expect([wrong.statusCode, wrong.json().code, wrong.headers['www-authenticate']]).toEqual([
      401,
      'UNAUTHORIZED',
      INVALID,
    ])
    const enough = await batch(1000, WRONG)
    expect([enough.statusCode, enough.headers['www-authenticate']]).toEqual([200, INVALID])
    expect((await batch(1001, service.person.headers)).statusCode).toBe(200)
  })

  test('is the same for bytes as for points', async () => {
    const large = (headers = {}) => batch(1000, headers, 'x'.repeat(80))
    expect([(await large()).statusCode, (await large(WRONG)).statusCode]).toEqual([413, 401])
    expect((await large(service.person.headers)).statusCode).toBe(200)
  })

  test('is 413 with any token where it is too much for everybody', async () => {
    const headers = { ...WRONG, 'content-type': 'application/x-ndjson' }
    const tooLong = await service.app.inject({
      method: 'POST',
      url: '/advisory/yield/points',
      headers,
      payload: `{"lat":9.5,"lng":38.5,"name":"${'x'.repeat(300_000)}"}`,
    })
    expect(tooLong.statusCode).toBe(413)
  })

  test('is 503 while callers cannot be looked up', async () => {
    const { headers } = service.person
    expect((await batch(1, headers)).statusCode).toBe(200)
    service.app.forgetCallers(() => true)
    await withoutDatabase(async () => {
      // Too many points without a token, and too many bytes.
      for (const refused of [await batch(1001, headers), await batch(1000, headers, 'x'.repeat(80))]) {
        expect([refused.statusCode, refused.json().code]).toEqual([503, 'DATABASE_UNAVAILABLE'])
        expect(refused.headers).not.toHaveProperty('www-authenticate')
      }
    })
  })
})

describe('Prefer: history=none', () => {
  const polygon = {
    geometry: {
      type: 'Polygon',
      coordinates: [
        [
          [38.5, 9.5],
          [38.51, 9.5],
          [38.51, 9.51],
          [38.5, 9.5],
        ],
      ],
    },
  }
  const kept = async () =>
    (await service.app.inject({ url: '/history/my', headers: service.person.headers })).json().items.length

  test.each(['history=none', 'HISTORY = "none"', 'respond-async, history=none; x=1'])(
    'keeps nothing of a point or a polygon: %s',
    async (prefer) => {
      const headers = { ...service.person.headers, prefer }
      const before = await kept()
      const answers = [
        await ask('POST', POINT, headers),
        await ask('GET', POINT, headers),
        await ask('POST', '/advisory/point?lat=9.5&lng=38.5', headers),
        await service.app.inject({ method: 'POST', url: '/advisory/yield', headers, payload: polygon }),
      ]
      for (const answer of answers) {
        expect([answer.statusCode, answer.headers['preference-applied']]).toEqual([200, 'history=none'])
        expect(answer.json()).not.toHaveProperty('history_id')
      }
      expect(await kept()).toBe(before)
    },
  )

  test.each(['history', 'history=all', 'nohistory=none'])('is not meant by %s', async (prefer) => {
    const answer = await ask('POST', POINT, { ...service.person.headers, prefer })
    expect(answer.json()).toHaveProperty('history_id')
    expect(answer.headers).not.toHaveProperty('preference-applied')
  })

  test('goes with others', async () => {
    const answer = await ask('POST', POINT, {
      ...service.person.headers,
      prefer: 'history=none, server-timing',
    })
    expect(answer.headers['preference-applied']).toBe('server-timing, history=none')
    expect(answer.headers).toHaveProperty('server-timing')
  })
})
