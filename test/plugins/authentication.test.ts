import { createHmac, generateKeyPairSync, randomUUID, sign } from 'node:crypto'
import { type AddressInfo, connect } from 'node:net'
import type { FastifyServerOptions, RouteOptions } from 'fastify'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { buildApp } from '#src/app.ts'
import { loadConfig } from '#src/config.ts'
import type { App } from '#src/plugins/app.ts'
import { callerOf } from '#src/plugins/authentication.ts'
import { createTestApp, type TestApp } from '#test/setup/app.ts'
import { newPerson, type Person } from '#test/setup/people.ts'

const SECRET = 'a secret of more than thirty-two bytes'
const PREVIOUS = 'the secret that was used the year before'

let service: TestApp
let person: Person
let claims: Record<string, unknown>

/** Every route of every app of this file, as it is registered. */
const routes = vi.hoisted(() => [] as RouteOptions[])
vi.mock('fastify', async (original) => {
  const module = await original<typeof import('fastify')>()
  const recording = (options: FastifyServerOptions) => {
    const app = module.default(options)
    app.addHook('onRoute', (route) => {
      routes.push(route)
    })
    return app
  }
  return { ...module, default: recording }
})

beforeAll(async () => {
  service = await createTestApp({
    template: 'demo',
    settings: { JWT_SECRET: SECRET, JWT_SECRET_PREVIOUS: PREVIOUS },
  })
  service.app.get('/admins', { config: { role: 'admin' } }, async (request) => callerOf(request))
  service.app.get('/whoami', { config: { public: true } }, async ({ user }) => ({ user }))
  person = await newPerson(service.app)
  claims = JSON.parse(Buffer.from(person.access_token.split('.')[1] as string, 'base64url').toString())
})
afterAll(() => service.close())

const HEADER = { alg: 'HS256', typ: 'at+jwt' }
const encoded = (part: unknown) =>
  Buffer.from(typeof part === 'string' ? part : JSON.stringify(part)).toString('base64url')

/** A token with a right signature over whatever it says. */
function token(header: unknown, payload: unknown, secret = SECRET, hash = 'sha256'): string {
  const text = `${encoded(header)}.${encoded(payload)}`
  return `${text}.${createHmac(hash, secret).update(text).digest('base64url')}`
}

function ask(authorization: string | undefined, url = '/user/profile') {
  return service.app.inject({ url, headers: authorization === undefined ? {} : { authorization } })
}

const without = (name: string) => ({ ...claims, [name]: undefined })
const now = () => Math.floor(Date.now() / 1000)

describe('a token is refused', () => {
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
  const byRsa = () => {
    const text = `${encoded({ ...HEADER, alg: 'RS256' })}.${encoded(claims)}`
    return `${text}.${sign('sha256', Buffer.from(text), privateKey).toString('base64url')}`
  }
  const forged: [string, () => string][] = [
    ['without a signature, alg none', () => `${encoded({ ...HEADER, alg: 'none' })}.${encoded(claims)}.`],
    ['without a signature, alg None', () => `${encoded({ ...HEADER, alg: 'None' })}.${encoded(claims)}.`],
    ['with alg none and a right signature', () => token({ ...HEADER, alg: 'none' }, claims)],
    ['signed with HS384', () => token({ ...HEADER, alg: 'HS384' }, claims, SECRET, 'sha384')],
    ['signed with HS512', () => token({ ...HEADER, alg: 'HS512' }, claims, SECRET, 'sha512')],
    ['that says RS256, with the secret', () => token({ ...HEADER, alg: 'RS256' }, claims)],
    ['signed with RS256', byRsa],
    ['whose alg is a number', () => token({ ...HEADER, alg: 256 }, claims)],
    ['without alg', () => token({ typ: 'at+jwt' }, claims)],
    ['whose kid leads to a file', () => token({ ...HEADER, kid: '../../dev/null' }, claims, '')],
    ['whose kid injects SQL', () => token({ ...HEADER, kid: "' union select 'x" }, claims, 'x')],
    ['whose jku is elsewhere', () => token({ ...HEADER, jku: 'https://example.org/keys' }, claims, 'x')],
    ['that brings its key', () => token({ ...HEADER, jwk: { kty: 'oct', k: encoded('x') } }, claims, 'x')],
    ['with crit', () => token({ ...HEADER, crit: ['exp'], exp: 1 }, claims)],
    ['with an unknown crit', () => token({ ...HEADER, crit: ['x'], x: 1 }, claims)],
    ['with an empty crit', () => token({ ...HEADER, crit: [] }, claims)],
    ['with b64 false', () => token({ ...HEADER, crit: ['b64'], b64: false }, claims)],
    ['without exp', () => token(HEADER, without('exp'))],
    ['whose exp is text', () => token(HEADER, { ...claims, exp: String(now() + 900) })],
    ['whose exp is 1e400', () => token(HEADER, JSON.stringify(claims).replace(/"exp":\d+/, '"exp":1e400'))],
    ['whose exp is null', () => token(HEADER, { ...claims, exp: null })],
    ['whose exp is a fraction', () => token(HEADER, { ...claims, exp: now() + 900.5 })],
    ['that has expired', () => token(HEADER, { ...claims, exp: now() - 1 })],
    ['that begins later', () => token(HEADER, { ...claims, nbf: now() + 900 })],
    ['without iat', () => token(HEADER, without('iat'))],
    ['whose iat is text', () => token(HEADER, { ...claims, iat: 'now' })],
    ['of another issuer', () => token(HEADER, { ...claims, iss: 'https://example.org' })],
    ['without an issuer', () => token(HEADER, without('iss'))],
    ['for another audience', () => token(HEADER, { ...claims, aud: 'another' })],
    ['without an audience', () => token(HEADER, without('aud'))],
    ['of type JWT', () => token({ ...HEADER, typ: 'JWT' }, claims)],
    ['of type refresh', () => token({ ...HEADER, typ: 'rt+jwt' }, claims)],
    ['without a type', () => token({ alg: 'HS256' }, claims)],
    ['without sub', () => token(HEADER, without('sub'))],
    ['whose sub is an object', () => token(HEADER, { ...claims, sub: { $ne: null } })],
    ['whose sub injects SQL', () => token(HEADER, { ...claims, sub: "' or 1=1 --" })],
    ['of somebody else for this session', () => token(HEADER, { ...claims, sub: randomUUID() })],
    ['without sid', () => token(HEADER, without('sid'))],
    ['of a session that never was', () => token(HEADER, { ...claims, sid: randomUUID() })],
    ['whose sid is no UUID', () => token(HEADER, { ...claims, sid: 'x' })],
    ['whose payload is text', () => token(HEADER, '"text"')],
    ['whose payload is null', () => token(HEADER, 'null')],
    ['whose payload is a list', () => token(HEADER, [claims])],
    ['whose payload is not JSON', () => token(HEADER, '{"sub":')],
    ['whose header is not JSON', () => token('{"alg"', claims)],
    ['whose header is null', () => token('null', claims)],
    ['whose header is a list', () => token([], claims)],
    ['stripped of its signature', () => person.access_token.split('.').slice(0, 2).join('.')],
    ['with an empty signature', () => `${person.access_token.split('.').slice(0, 2).join('.')}.`],
    [
      'with a signature of another secret',
      () => token(HEADER, claims, 'another secret of thirty-two bytes ..'),
    ],
    [
      'with a signature of another token',
      () => {
        const signature = token(HEADER, { ...claims, iat: 1 }).split('.')[2]
        return [...person.access_token.split('.').slice(0, 2), signature].join('.')
      },
    ],
    [
      'with a changed payload',
      () => {
        const [head, , signature] = person.access_token.split('.')
        return [head, encoded({ ...claims, role: 'admin' }), signature].join('.')
      },
    ],
    ['with four parts', () => `${person.access_token}.x`],
    ['with five parts, as if encrypted', () => 'a.b.c.d.e'],
    ['that is a refresh token', () => person.refresh_token],
    ['of a megabyte', () => token(HEADER, { ...claims, x: 'x'.repeat(1_000_000) })],
    ['of 12 kilobytes', () => token(HEADER, { ...claims, x: 'x'.repeat(9000) })],
    ['that looks like a key', () => `agro_${'x'.repeat(43)}`],
    ['that is a key without an end', () => 'agro_'],
    ['that is a word', () => 'token'],
    ['that is two dots', () => '..'],
  ]

  test.each(forged)('%s', async (_, make) => {
    const response = await ask(`Bearer ${make()}`)
    expect(response.statusCode).toBe(401)
    expect(response.headers['www-authenticate']).toBe('Bearer realm="agro-advisory", error="invalid_token"')
    expect(response.headers['content-type']).toBe('application/json; charset=utf-8')
    expect(response.json()).toEqual({
      error: 'The token is not valid, has expired or has ended: refresh it, or log in again.',
      code: 'UNAUTHORIZED',
    })
  })

  test.each(forged)('%s, and makes a public call anonymous', async (_, make) => {
    const response = await ask(`Bearer ${make()}`, '/whoami')
    expect(response.statusCode).toBe(200)
    expect(response.json()).toEqual({ user: null })
  })

  test.each(['Bearer  x', 'Bearer', 'Bearer ', 'Basic eDp5', 'x', '', 'Bearer x y', 'Bearer\tx', 'Token x'])(
    'in the header %j',
    async (header) => {
      const valid = header.replace('x', person.access_token)
      const response = await ask(valid)
      expect(response.statusCode).toBe(401)
      expect(response.headers['www-authenticate']).toMatch(/^Bearer realm="agro-advisory"/)
      expect(response.json().code).toBe('UNAUTHORIZED')
    },
  )

  test('in the query or the body', async () => {
    const response = await service.app.inject({
      url: `/user/profile?access_token=${person.access_token}`,
    })
    expect(response.statusCode).toBe(401)
  })

  test('beside another one', async () => {
    await service.app.listen({ host: '127.0.0.1', port: 0 })
    const socket = connect((service.app.server.address() as AddressInfo).port, '127.0.0.1')
    const line = `Authorization: Bearer ${person.access_token}\r\n`
    socket.end(`GET /user/profile HTTP/1.1\r\nHost: x\r\nConnection: close\r\n${line}${line}\r\n`)
    let answer = ''
    for await (const chunk of socket) answer += chunk
    expect(answer).toMatch(/^HTTP\/1\.1 401 /)
    expect(answer).toContain('www-authenticate: Bearer')
    expect(answer).toContain('"code":"UNAUTHORIZED"')
  })
})

describe('a token is accepted', () => {
  test('that a login gave, with the scheme in any case of letters', async () => {
    for (const scheme of ['Bearer', 'bearer', 'BEARER']) {
      const response = await ask(`${scheme} ${person.access_token}`)
      expect(response.statusCode).toBe(200)
      expect(response.json().id).toBe(person.user.id)
    }
  })

  test('that was signed with the previous secret', async () => {
    expect((await ask(`Bearer ${token(HEADER, claims, PREVIOUS)}`)).statusCode).toBe(200)
  })

  test('on a public route, whose caller is then known', async () => {
    const response = await ask(`Bearer ${person.access_token}`, '/whoami')
    expect(response.json()).toEqual({
      user: { id: person.user.id, role: 'user', sessionId: claims.sid, keyId: null },
    })
  })
})

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
  expect(refused.json()).toEqual({ error: 'This is for callers with the role admin.', code: 'FORBIDDEN' })
  await service.database.writer
    .updateTable('app_user')
    .set({ role: 'admin' })
    .where('id', '=', someone.user.id)
    .execute()
  await fiveSecondsLater(async () => expect((await asAdmin()).json().role).toBe('admin'))
})

/** The cache's clock is the process's; what it keeps it keeps for five seconds. */
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

describe('routes', () => {
  const OF_THIS_TEST = ['/admins', '/whoami']
  const PUBLIC = [
    'GET /',
    'GET /advisory/fertilizer/point',
    'GET /advisory/forage/point',
    'GET /advisory/isfm/point',
    'GET /advisory/point',
    'GET /advisory/yield/point',
    'GET /catalog',
    'GET /docs/',
    'GET /docs/json',
    'GET /docs/static/*',
    'GET /docs/static/index.html',
    'GET /docs/static/swagger-initializer.js',
    'GET /docs/yaml',
    'GET /health/live',
    'GET /health/ready',
    'GET /openapi.json',
    'GET /openapi.yaml',
    'OPTIONS *',
    'POST /advisory/fertilizer/point',
    'POST /advisory/fertilizer/points',
    'POST /advisory/forage/point',
    'POST /advisory/forage/points',
    'POST /advisory/isfm/point',
    'POST /advisory/isfm/points',
    'POST /advisory/point',
    'POST /advisory/yield/point',
    'POST /advisory/yield/points',
    'POST /auth/login',
    'POST /auth/refresh',
    'POST /auth/register',
  ]
  const PRIVATE = [
    'DELETE /auth/keys/:id',
    'DELETE /history/:id',
    'DELETE /user/profile',
    'GET /admin',
    'GET /auth/keys',
    'GET /history/:id',
    'GET /history/my',
    'GET /stats',
    'GET /user/profile',
    'PATCH /user/profile',
    'POST /advisory/fertilizer',
    'POST /advisory/forage',
    'POST /advisory/isfm',
    'POST /advisory/yield',
    'POST /auth/keys',
    'POST /auth/logout',
    'POST /auth/password',
    'POST /history/:id/feedback',
    'POST /validate_location',
  ]

  test('are public or not as listed here', () => {
    const named = (open: boolean) => {
      const names = routes
        .filter(({ config, url }) => (config?.public === true) === open && !OF_THIS_TEST.includes(url))
        .flatMap(({ method, url }) => [method].flat().map((name) => `${name} ${url}`))
        .filter((name) => !name.startsWith('HEAD '))
      return [...new Set(names)].sort()
    }
    expect(named(true)).toEqual(PUBLIC)
    expect(named(false)).toEqual(PRIVATE)
  })

  test('are as public for HEAD as they are for GET', async () => {
    expect((await service.app.inject({ method: 'HEAD', url: '/catalog' })).statusCode).toBe(200)
    expect((await service.app.inject({ method: 'HEAD', url: '/user/profile' })).statusCode).toBe(401)
  })

  test.each(PRIVATE)('%s wants a token, before it looks at anything else', async (route) => {
    const [method, url] = route.split(' ') as ['GET', string]
    const response = await service.app.inject({
      method,
      url,
      ...(method !== 'GET' && { payload: '{', headers: { 'content-type': 'application/json' } }),
    })
    expect(response.statusCode).toBe(401)
    expect(response.json().code).toBe('UNAUTHORIZED')
  })

  test('that do not exist are 404 for everybody', async () => {
    for (const headers of [{}, person.headers, { authorization: 'Bearer x' }]) {
      expect((await service.app.inject({ url: '/nowhere', headers })).statusCode).toBe(404)
      expect((await service.app.inject({ method: 'PUT', url: '/auth/login', headers })).statusCode).toBe(404)
    }
  })
})

test('who is let in and who is not is logged, and no token, key or password ever', async () => {
  const app = await buildApp(
    loadConfig({ ...service.testDatabase.environment, LOG_LEVEL: 'trace' }),
    service.database,
  )
  const lines = captureLog(app)
  try {
    const someone = await newPerson(app)
    const made = await app.inject({
      method: 'POST',
      url: '/auth/keys',
      headers: someone.headers,
      payload: { name: 'x' },
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
    logged({ msg: 'an account was made', user: someone.user.id, ip: '127.0.0.1' })
    logged({ msg: 'a session was begun', user: someone.user.id, ip: '127.0.0.1' })
    logged({ msg: 'a key was made', user: someone.user.id, key: made.json().id })
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

/** What pino would write, instead of its being written. */
function captureLog(app: App): string[] {
  const lines: string[] = []
  let holder: object | null = app.log
  while (holder) {
    const symbol = Object.getOwnPropertySymbols(holder).find(
      ({ description }) => description === 'pino.stream',
    )
    const stream = symbol && (holder as Record<symbol, { write(line: string): void }>)[symbol]
    if (stream) {
      stream.write = (line) => lines.push(line)
      return lines
    }
    holder = Object.getPrototypeOf(holder)
  }
  throw new Error('pino keeps its stream elsewhere')
}
