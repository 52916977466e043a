import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { buildApp } from '#src/app.ts'
import { loadConfig } from '#src/config.ts'
import { requireCaller } from '#src/http/plugins/authentication.ts'
import { createTestApp, type TestApp } from '#test/setup/app.ts'
import { captureLog } from '#test/setup/log.ts'
import { logIn, newPerson, register } from '#test/setup/people.ts'

const SECRET = 'a secret of more than thirty-two bytes'

let service: TestApp
beforeAll(async () => {
  service = await createTestApp({ settings: { JWT_SECRET: SECRET } })
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

test('while the database is away, a token is no reason to refuse a public call', async () => {
  const someone = await newPerson(service.app)
  const away = vi.spyOn(service.database.pool, 'connect').mockImplementation(() => {
    throw Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' })
  })
  try {
    const open = await ask(someone.headers.authorization, '/health/live')
    expect(open.statusCode).toBe(200)
    const closed = await ask(someone.headers.authorization)
    expect(closed.statusCode).toBe(503)
    expect(closed.json().code).toBe('DATABASE_UNAVAILABLE')
  } finally {
    away.mockRestore()
  }
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
