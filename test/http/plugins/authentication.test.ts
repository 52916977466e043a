import { beforeAll, describe, expect, test, vi } from 'vitest'
import { requireCaller } from '#src/http/caller.ts'
import { withOtherService } from '#test/accounts/other-service.ts'
import { call, type Sent } from '#test/setup/calls.ts'
import { openService } from '#test/setup/open-service.ts'
import { logIn, makeAdmin, newPerson, type Person, register } from '#test/setup/people.ts'
import { FIELD_IN_PIXEL } from '#test/setup/releases.ts'

const SECRET = 'a secret of more than thirty-two bytes'

const service = openService({
  settings: { JWT_SECRET: SECRET, BODY_LIMIT_BYTES: '65536', BATCH_BODY_LIMIT_BYTES: '262144' },
})
beforeAll(async () => {
  service.app.get('/admins', { config: { role: 'admin' } }, async (request) => requireCaller(request))
  service.app.get('/whoami', { config: { public: true } }, async ({ user }) => ({ user }))
})

const profileOf = (by: Person) => service.ask('GET /user/profile', { by })

test('without a token the answer says how to get one', async () => {
  const { status, headers, body } = await service.ask('GET /user/profile')
  expect([status, headers['www-authenticate']]).toEqual([401, 'Bearer realm="agro-advisory"'])
  expect(body.error).toContain('POST /auth/login')
})

test('a route for admins is for admins alone, as soon as somebody is one', async () => {
  const by = await newPerson(service.app)
  const error = 'This is for callers with the role admin.'
  expect(await service.ask('GET /admins', { by })).toMatchObject({
    status: 403,
    body: { error, code: 'FORBIDDEN' },
  })
  await makeAdmin({ ...service, person: by })
  const later = performance.now() + 5000
  await atTime(later, async () => expect((await service.ask('GET /admins', { by })).body.role).toBe('admin'))
})

test('made-up keys by the dozen from one network do not keep another waiting for all of them', async () => {
  const someone = await newPerson(service.app)
  const { pool } = service.database
  const held = await Promise.all(Array.from({ length: pool.options.max }, () => pool.connect()))
  const answered: string[] = []
  const askFrom = async (from: string, authorization: string) => {
    // The route reads who calls, and no more.
    const { status } = await service.ask('GET /admins', { headers: { authorization }, from })
    answered.push(from)
    return status
  }
  const madeUp = Array.from({ length: 40 }, (_, index) =>
    askFrom('192.0.2.1', `Bearer agro_${String(index).padStart(43, '0')}`),
  )
  const one = askFrom('198.51.100.1', someone.headers.authorization)
  for (const connection of held) connection.release()
  expect(await one).toBe(403)
  expect(new Set(await Promise.all(madeUp))).toEqual(new Set([401]))
  // A queue without turns would answer it last.
  expect(answered.indexOf('198.51.100.1')).toBeLessThan(20)
})

/** The cache's clock is the process's, which stands still; what it caches it caches for five seconds. */
async function atTime(now: number, work: () => Promise<void>): Promise<void> {
  const spy = vi.spyOn(performance, 'now').mockReturnValue(now)
  await work().finally(() => spy.mockRestore())
}

test('what another process ends is refused within five seconds, and asked for once in them', async () => {
  const someone = await newPerson(service.app)
  const isIn = async () => (await profileOf(someone)).status === 200
  const now = performance.now()
  await atTime(now, async () => {
    expect(await isIn()).toBe(true)
    await service.database.writer.deleteFrom('app_user').where('id', '=', someone.user.id).execute()
    const queries = vi.spyOn(service.database.pool, 'connect')
    await service.ask('GET /whoami', { by: someone })
    expect(queries).not.toHaveBeenCalled()
    queries.mockRestore()
  })
  await atTime(now + 5000, async () => expect(await isIn()).toBe(false))
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
    expect((await service.ask('GET /health/live', { by: someone })).status).toBe(200)
    expect(await profileOf(someone)).toMatchObject({ status: 503, body: { code: 'DATABASE_UNAVAILABLE' } })
  })
})

test('who makes a key and who is not let in is logged, and no token, key or password ever', async () => {
  await withOtherService(service, { LOG_LEVEL: 'trace' }, async (app, lines) => {
    const someone = await logIn(app, await register(app))
    const { email, refresh_token } = someone
    const send = (url: string, payload: object, by?: Person) => call(app, `POST ${url}`, { by, payload })
    const { body: made } = await send('/auth/keys', { name: 'x', scopes: ['account'] }, someone)
    await send('/auth/login', { email, password: 'a wrong password' })
    const change = { current_password: 'another wrong one', new_password: 'x' }
    await send('/auth/password', change, someone)
    await send('/auth/refresh', { refresh_token })
    await call(app, 'GET /user/profile', { by: made.key })
    const messages = lines.map((line) => JSON.parse(line))
    const logged = (event: object) => expect(messages).toContainEqual(expect.objectContaining(event))
    const own = { user: someone.user.id, network: '127.0.0.1', reqId: expect.any(String) }
    const detail = { key: made.id, scopes: ['account'] }
    logged({ msg: 'a key was made', event: 'key_made', detail, ...own })
    logged({ msg: 'refused', code: 'INVALID_CREDENTIALS', path: '/auth/login', ip: '127.0.0.1' })
    const passwords = [someone.password, 'a wrong password', 'another wrong one', '$argon2id']
    const secrets = [...passwords, someone.access_token, refresh_token, made.key, SECRET]
    for (const secret of secrets) expect(lines.join('')).not.toContain(secret)
  })
})

const POINT = '/advisory/yield/point?lat=9.5&lng=38.5'
const INVALID = 'Bearer realm="agro-advisory", error="invalid_token"'
const WRONG = 'agro_wrong'
const withHeader = (authorization: string) => ({ headers: { authorization } })

function batch(count: number, by?: Sent['by'], name = '') {
  const points = Array.from({ length: count }, () => ({ lat: 9.5, lng: 38.5, ...(name && { name }) }))
  return service.ask('POST /advisory/yield/points', { by, payload: { points } })
}

describe('a token of no use, sent to an open endpoint', () => {
  test.each([`POST ${POINT}`, `GET ${POINT}`, 'GET /catalog'])(
    'is said to be so in the answer to everybody: %s',
    async (request) => {
      const [open, wrong, known] = await Promise.all([
        service.ask(request),
        service.ask(request, { by: WRONG }),
        service.ask(request, { by: service.person }),
      ])
      expect([wrong.status, wrong.text]).toEqual([200, open.text])
      expect(wrong.headers['www-authenticate']).toBe(INVALID)
      for (const { headers } of [open, known]) expect(headers).not.toHaveProperty('www-authenticate')
    },
  )

  test.each(['Bearer', 'Bearer x y', 'bearer x'])(
    'is said to be so, whatever is wrong with it: %s',
    async (authorization) => {
      const { status, headers } = await service.ask(`POST ${POINT}`, withHeader(authorization))
      expect([status, headers['www-authenticate']]).toEqual([200, INVALID])
    },
  )

  test('is none where it is the password of a proxy', async () => {
    const { status, headers } = await service.ask(`POST ${POINT}`, withHeader('Basic eDp5'))
    expect(status).toBe(200)
    expect(headers).not.toHaveProperty('www-authenticate')
    expect((await batch(1001, withHeader('Basic eDp5'))).status).toBe(413)
  })

  test('is said to be so in errors, too', async () => {
    const { status, headers } = await service.ask('POST /advisory/yield/point?lat=0&lng=0', { by: WRONG })
    expect([status, headers['www-authenticate']]).toEqual([404, INVALID])
  })
})

describe('what only a caller may ask', () => {
  test('is 413 with a hint without a token, and 401 with one of no use', async () => {
    const none = await batch(1001)
    expect([none.status, none.body.error]).toEqual([
      413,
      'The call has 1001 points. Without a token a call may have 1000 points, with one (log in with POST /auth/login) 20000.',
    ])
    const told = { 'www-authenticate': INVALID }
    const refused = { status: 401, body: { code: 'UNAUTHORIZED' }, headers: told }
    expect(await batch(1001, WRONG)).toMatchObject(refused)
    expect(await batch(1000, WRONG)).toMatchObject({ status: 200, headers: told })
    expect((await batch(1001, service.person)).status).toBe(200)
  })

  test('is the same for bytes as for points', async () => {
    const large = async (by?: Sent['by']) => (await batch(1000, by, 'x'.repeat(80))).status
    expect([await large(), await large(WRONG), await large(service.person)]).toEqual([413, 401, 200])
  })

  test('is 503 while callers cannot be looked up', async () => {
    const { person } = service
    expect((await batch(1, person)).status).toBe(200)
    service.app.forgetCallers(() => true)
    await withoutDatabase(async () => {
      // Too many points without a token, and too many bytes.
      for (const refused of [await batch(1001, person), await batch(1000, person, 'x'.repeat(80))]) {
        expect(refused).toMatchObject({ status: 503, body: { code: 'DATABASE_UNAVAILABLE' } })
        expect(refused.headers).not.toHaveProperty('www-authenticate')
      }
    })
  })
})

describe('Prefer: history=none', () => {
  const preferring = (prefer: string) => ({ by: service.person, headers: { prefer } })
  const kept = async () => (await service.ask('GET /history/my', { by: service.person })).body.items.length

  test.each(['history=none', 'respond-async, HISTORY = "none"; x=1'])(
    'keeps nothing of a point or a polygon: %s',
    async (prefer) => {
      const sent = preferring(prefer)
      const before = await kept()
      const answers = [
        await service.ask(`POST ${POINT}`, sent),
        await service.ask(`GET ${POINT}`, sent),
        await service.ask('POST /advisory/point?lat=9.5&lng=38.5', sent),
        await service.ask('POST /advisory/yield', { ...sent, payload: { geometry: FIELD_IN_PIXEL } }),
      ]
      for (const { status, headers, body } of answers) {
        expect([status, headers['preference-applied']]).toEqual([200, 'history=none'])
        expect(body).not.toHaveProperty('history_id')
      }
      expect(await kept()).toBe(before)
    },
  )

  test('goes with others', async () => {
    const { headers } = await service.ask(`POST ${POINT}`, preferring('history=none, server-timing'))
    expect(headers['preference-applied']).toBe('server-timing, history=none')
    expect(headers).toHaveProperty('server-timing')
  })

  test.each(['history', 'history=all', 'nohistory=none'])('is not meant by %s', async (prefer) => {
    const { headers, body } = await service.ask(`POST ${POINT}`, preferring(prefer))
    expect(body).toHaveProperty('history_id')
    expect(headers).not.toHaveProperty('preference-applied')
  })
})
