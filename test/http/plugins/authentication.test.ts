import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { buildApp } from '#src/app.ts'
import { loadConfig } from '#src/config.ts'
import { requireCaller } from '#src/http/plugins/authentication.ts'
import { captureLog } from '#test/setup/log.ts'
import {
  createTestAppWithPerson,
  logIn,
  newPerson,
  register,
  type TestAppWithPerson,
} from '#test/setup/people.ts'
import { FIELD_IN_PIXEL } from '#test/setup/releases.ts'

const SECRET = 'a secret of more than thirty-two bytes'

let service: TestAppWithPerson
beforeAll(async () => {
  service = await createTestAppWithPerson({
    settings: { JWT_SECRET: SECRET, BODY_LIMIT_BYTES: '65536', BATCH_BODY_LIMIT_BYTES: '262144' },
  })
  service.app.get('/admins', { config: { role: 'admin' } }, async (request) => requireCaller(request))
  service.app.get('/whoami', { config: { public: true } }, async ({ user }) => ({ user }))
})
afterAll(() => service.close())

function ask(authorization: string | undefined, url = '/user/profile') {
  return service.app.inject({ url, headers: authorization === undefined ? {} : { authorization } })
}

test('without a token the answer says how to get one', async () => {
  const response = await ask(undefined)
  expect(response.statusCode).toBe(401)
  expect(response.headers['www-authenticate']).toBe('Bearer realm="agro-advisory"')
  expect(response.json().error).toContain('POST /auth/login')
})

test('a route for admins is for admins alone, as soon as somebody is one', async () => {
  const someone = await newPerson(service.app)
  const asAdmin = () => service.app.inject({ url: '/admins', headers: someone.headers })
  const refused = await asAdmin()
  expect(refused.statusCode).toBe(403)
  expect(refused.json()).toEqual({
    error: 'This is for callers with the role admin.',
    code: 'FORBIDDEN',
    request_id: expect.any(String),
  })
  await service.database.writer
    .updateTable('app_user')
    .set({ role: 'admin' })
    .where('id', '=', someone.user.id)
    .execute()
  await fiveSecondsLater(async () => expect((await asAdmin()).json().role).toBe('admin'))
})

test('made-up keys by the dozen from one network do not keep another waiting for all of them', async () => {
  const someone = await newPerson(service.app)
  const { pool } = service.database
  const held = await Promise.all(Array.from({ length: pool.options.max }, () => pool.connect()))
  const answered: string[] = []
  const askFrom = async (remoteAddress: string, authorization: string) => {
    const { statusCode } = await service.app.inject({
      url: '/user/profile',
      headers: { authorization },
      remoteAddress,
    })
    answered.push(remoteAddress)
    return statusCode
  }
  const madeUp = Array.from({ length: 40 }, (_, index) =>
    askFrom('192.0.2.1', `Bearer agro_${String(index).padStart(43, '0')}`),
  )
  const one = askFrom('198.51.100.1', someone.headers.authorization)
  for (const connection of held) connection.release()
  expect(await one).toBe(200)
  expect(new Set(await Promise.all(madeUp))).toEqual(new Set([401]))
  // A queue without turns would answer it last; a busy machine looks up some more while the profile is read.
  expect(answered.indexOf('198.51.100.1')).toBeLessThan(35)
})

/** The cache's clock is the process's; what it caches it caches for five seconds. */
async function fiveSecondsLater(work: () => Promise<void>): Promise<void> {
  const clock = performance.now.bind(performance)
  const spy = vi.spyOn(performance, 'now').mockImplementation(() => clock() + 5000)
  await work().finally(() => spy.mockRestore())
}

test('what another process ends is refused within five seconds, and asked for once in them', async () => {
  const someone = await newPerson(service.app)
  const isIn = async () => (await ask(someone.headers.authorization)).statusCode === 200
  expect(await isIn()).toBe(true)
  await service.database.writer.deleteFrom('app_user').where('id', '=', someone.user.id).execute()
  const queries = vi.spyOn(service.database.pool, 'connect')
  await ask(someone.headers.authorization, '/whoami')
  expect(queries).not.toHaveBeenCalled()
  queries.mockRestore()
  await fiveSecondsLater(async () => expect(await isIn()).toBe(false))
})

async function withoutDatabase(work: () => Promise<void>): Promise<void> {
  const away = vi.spyOn(service.database.pool, 'connect').mockImplementation(() => {
    throw Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' })
  })
  await work().finally(() => away.mockRestore())
}

test('while the database is away, a token is no reason to refuse a public call', async () => {
  const someone = await newPerson(service.app)
  await withoutDatabase(async () => {
    expect((await ask(someone.headers.authorization, '/health/live')).statusCode).toBe(200)
    const closed = await ask(someone.headers.authorization)
    expect([closed.statusCode, closed.json().code]).toEqual([503, 'DATABASE_UNAVAILABLE'])
  })
})

test('who is let in and who is not is logged, and no token, key or password ever', async () => {
  const app = await buildApp(
    loadConfig({ ...service.testDatabase.environment, LOG_LEVEL: 'trace' }),
    service.database,
  )
  const lines = captureLog(app)
  try {
    const someone = await logIn(app, await register(app))
    const made = await app.inject({
      method: 'POST',
      url: '/auth/keys',
      headers: someone.headers,
      payload: { name: 'x', scopes: ['account'] },
    })
    const send = (url: string, payload: object, headers = {}) =>
      app.inject({ method: 'POST', url, payload, headers })
    await send('/auth/login', { email: someone.email, password: 'a wrong password' })
    await send(
      '/auth/password',
      { current_password: 'another wrong one', new_password: 'x' },
      someone.headers,
    )
    await send('/auth/refresh', { refresh_token: someone.refresh_token })
    await app.inject({ url: '/user/profile', headers: { authorization: `Bearer ${made.json().key}` } })
    const log = lines.join('')
    const messages = lines.map((line) => JSON.parse(line))
    const logged = (event: object) => expect(messages).toContainEqual(expect.objectContaining(event))
    const own = { user: someone.user.id, network: '127.0.0.1', reqId: expect.any(String) }
    logged({ msg: 'an account was made', event: 'account_made', ...own })
    logged({ msg: 'a session was begun', event: 'login', ...own })
    const { id: key } = made.json()
    logged({ msg: 'a key was made', event: 'key_made', detail: { key, scopes: ['account'] }, ...own })
    logged({ msg: 'refused', code: 'INVALID_CREDENTIALS', path: '/auth/login', ip: '127.0.0.1' })
    const secrets = [
      someone.password,
      'a wrong password',
      'another wrong one',
      someone.access_token,
      someone.refresh_token,
      made.json().key,
      SECRET,
      '$argon2id',
    ]
    for (const secret of secrets) expect(log).not.toContain(secret)
  } finally {
    await app.close()
  }
})

const POINT = '/advisory/yield/point?lat=9.5&lng=38.5'
const INVALID = 'Bearer realm="agro-advisory", error="invalid_token"'
const WRONG = { authorization: 'Bearer agro_wrong' }

function call(method: 'GET' | 'POST', url: string, headers: Record<string, string> = {}) {
  return service.app.inject({ method, url, headers })
}

function batch(count: number, headers: Record<string, string> = {}, name = '') {
  const points = Array.from({ length: count }, () => ({ lat: 9.5, lng: 38.5, ...(name && { name }) }))
  return service.app.inject({ method: 'POST', url: '/advisory/yield/points', headers, payload: { points } })
}

describe('a token of no use, sent to an open endpoint', () => {
  test.each([
    ['POST', POINT],
    ['GET', POINT],
    ['GET', '/catalog'],
  ] as const)('is said to be so in the answer to everybody: %s %s', async (method, url) => {
    const [open, wrong, known] = await Promise.all(
      [{}, WRONG, service.person.headers].map((headers) => call(method, url, headers)),
    )
    expect([wrong?.statusCode, wrong?.body]).toEqual([200, open?.body])
    expect(wrong?.headers['www-authenticate']).toBe(INVALID)
    for (const answer of [open, known]) expect(answer?.headers).not.toHaveProperty('www-authenticate')
  })

  test.each(['Bearer', 'Bearer x y', 'bearer x'])(
    'is said to be so, whatever is wrong with it: %s',
    async (authorization) => {
      const { statusCode, headers } = await call('POST', POINT, { authorization })
      expect([statusCode, headers['www-authenticate']]).toEqual([200, INVALID])
    },
  )

  test('is none where it is the password of a proxy', async () => {
    const { statusCode, headers } = await call('POST', POINT, { authorization: 'Basic eDp5' })
    expect(statusCode).toBe(200)
    expect(headers).not.toHaveProperty('www-authenticate')
    const refused = await batch(1001, { authorization: 'Basic eDp5' })
    expect(refused.statusCode).toBe(413)
  })

  test('is said to be so in errors, too', async () => {
    const { statusCode, headers } = await call('POST', '/advisory/yield/point?lat=0&lng=0', WRONG)
    expect([statusCode, headers['www-authenticate']]).toEqual([404, INVALID])
  })

  test('is the business of no cache', async () => {
    const { headers } = await call('GET', POINT, WRONG)
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
  const polygon = { geometry: FIELD_IN_PIXEL }
  const kept = async () =>
    (await service.app.inject({ url: '/history/my', headers: service.person.headers })).json().items.length

  test.each(['history=none', 'respond-async, HISTORY = "none"; x=1'])(
    'keeps nothing of a point or a polygon: %s',
    async (prefer) => {
      const headers = { ...service.person.headers, prefer }
      const before = await kept()
      const answers = [
        await call('POST', POINT, headers),
        await call('GET', POINT, headers),
        await call('POST', '/advisory/point?lat=9.5&lng=38.5', headers),
        await service.app.inject({ method: 'POST', url: '/advisory/yield', headers, payload: polygon }),
      ]
      for (const answer of answers) {
        expect([answer.statusCode, answer.headers['preference-applied']]).toEqual([200, 'history=none'])
        expect(answer.json()).not.toHaveProperty('history_id')
      }
      expect(await kept()).toBe(before)
    },
  )

  test('goes with others', async () => {
    const prefer = 'history=none, server-timing'
    const { headers } = await call('POST', POINT, { ...service.person.headers, prefer })
    expect(headers['preference-applied']).toBe('server-timing, history=none')
    expect(headers).toHaveProperty('server-timing')
  })

  test.each(['history', 'history=all', 'nohistory=none'])('is not meant by %s', async (prefer) => {
    const answer = await call('POST', POINT, { ...service.person.headers, prefer })
    expect(answer.json()).toHaveProperty('history_id')
    expect(answer.headers).not.toHaveProperty('preference-applied')
  })
})
