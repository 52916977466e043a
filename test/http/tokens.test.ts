import { createHmac, generateKeyPairSync, randomUUID, sign } from 'node:crypto'
import { beforeAll, describe, expect, test } from 'vitest'
import { buildApp } from '#src/app.ts'
import type { App } from '#src/http/app.ts'
import { call } from '#test/setup/calls.ts'
import { exchange } from '#test/setup/exchange.ts'
import { openApp } from '#test/setup/open-service.ts'
import { newPerson, type Person } from '#test/setup/people.ts'

const SECRET = 'a secret of more than thirty-two bytes'
const PREVIOUS = 'the secret that was used the year before'

const service = openApp({
  template: 'empty',
  settings: { JWT_SECRET: SECRET, JWT_SECRET_PREVIOUS: PREVIOUS },
})
let person: Person
let claims: Record<string, unknown>

beforeAll(async () => {
  service.app.get('/whoami', { config: { public: true } }, async ({ user }) => ({ user }))
  service.app.get('/by-signature', { config: { public: true } }, (request) =>
    request.jwtVerify().catch(({ code }) => ({ code })),
  )
  person = await newPerson(service.app)
  claims = JSON.parse(Buffer.from(person.access_token.split('.')[1] as string, 'base64url').toString())
})

const HEADER = { alg: 'HS256', typ: 'at+jwt' }
const encoded = (part: unknown) =>
  Buffer.from(typeof part === 'string' ? part : JSON.stringify(part)).toString('base64url')

/** A token with a right signature over whatever it says. */
function token(header: unknown, payload: unknown, secret = SECRET, hash = 'sha256'): string {
  const text = `${encoded(header)}.${encoded(payload)}`
  return `${text}.${createHmac(hash, secret).update(text).digest('base64url')}`
}

const ask = (authorization: string, url = '/user/profile') => service.get(url, { headers: { authorization } })

const without = (name: string) => ({ ...claims, [name]: undefined })
const now = () => Math.floor(Date.now() / 1000)

describe('a token is refused', () => {
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
  const byRsa = () => {
    const text = `${encoded({ ...HEADER, alg: 'RS256' })}.${encoded(claims)}`
    return `${text}.${sign('sha256', Buffer.from(text), privateKey).toString('base64url')}`
  }
  const parts = () => person.access_token.split('.')
  const another = () => token(HEADER, { ...claims, iat: 1 })
  const forged: [string, () => string][] = [
    ['without a signature, alg none', () => `${encoded({ ...HEADER, alg: 'none' })}.${encoded(claims)}.`],
    ['with alg none and a right signature', () => token({ ...HEADER, alg: 'none' }, claims)],
    ['signed with HS384', () => token({ ...HEADER, alg: 'HS384' }, claims, SECRET, 'sha384')],
    ['that says RS256, with the secret', () => token({ ...HEADER, alg: 'RS256' }, claims)],
    ['signed with RS256', byRsa],
    ['without alg', () => token({ typ: 'at+jwt' }, claims)],
    ['whose kid leads to a file', () => token({ ...HEADER, kid: '../../dev/null' }, claims, '')],
    ['that brings its key', () => token({ ...HEADER, jwk: { kty: 'oct', k: encoded('x') } }, claims, 'x')],
    ['with crit', () => token({ ...HEADER, crit: ['exp'], exp: 1 }, claims)],
    ['whose crit is null', () => token({ ...HEADER, crit: null }, claims)],
    ['with b64 false', () => token({ ...HEADER, crit: ['b64'], b64: false }, claims)],
    ['without exp', () => token(HEADER, without('exp'))],
    ['whose exp is text', () => token(HEADER, { ...claims, exp: String(now() + 900) })],
    ['whose exp is 1e400', () => token(HEADER, JSON.stringify(claims).replace(/"exp":\d+/, '"exp":1e400'))],
    ['that has expired', () => token(HEADER, { ...claims, exp: now() - 1 })],
    ['that begins on a day that no calendar has', () => token(HEADER, { ...claims, nbf: 1e300 })],
    ['that begins later', () => token(HEADER, { ...claims, nbf: now() + 900 })],
    ['without iat', () => token(HEADER, without('iat'))],
    ['of another issuer', () => token(HEADER, { ...claims, iss: 'https://example.org' })],
    ['without an issuer', () => token(HEADER, without('iss'))],
    ['for another audience', () => token(HEADER, { ...claims, aud: 'another' })],
    ['without an audience', () => token(HEADER, without('aud'))],
    ['of type JWT', () => token({ ...HEADER, typ: 'JWT' }, claims)],
    ['without a type', () => token({ alg: 'HS256' }, claims)],
    ['without sub', () => token(HEADER, without('sub'))],
    ['whose sub is an object', () => token(HEADER, { ...claims, sub: { $ne: null } })],
    ['of somebody else for this session', () => token(HEADER, { ...claims, sub: randomUUID() })],
    ['without sid', () => token(HEADER, without('sid'))],
    ['of a session that never was', () => token(HEADER, { ...claims, sid: randomUUID() })],
    ['whose sid is no UUID', () => token(HEADER, { ...claims, sid: 'x' })],
    ['whose payload is text', () => token(HEADER, '"text"')],
    ['whose payload is not JSON', () => token(HEADER, '{"sub":')],
    ['whose header is not JSON', () => token('{"alg"', claims)],
    ['stripped of its signature', () => parts().slice(0, 2).join('.')],
    ['with an empty signature', () => parts().with(2, '').join('.')],
    ['with a signature of another secret', () => token(HEADER, claims, `another ${SECRET}`)],
    [
      'with a signature of another token',
      () =>
        parts()
          .with(2, another().split('.')[2] as string)
          .join('.'),
    ],
    [
      'with a changed payload',
      () =>
        parts()
          .with(1, encoded({ ...claims, role: 'admin' }))
          .join('.'),
    ],
    ['with four parts', () => `${person.access_token}.x`],
    ['that is a refresh token', () => person.refresh_token],
    ['of a megabyte', () => token(HEADER, { ...claims, x: 'x'.repeat(1_000_000) })],
    ['that looks like a key', () => `agro_${'x'.repeat(43)}`],
    ['that is a word', () => 'token'],
  ]

  test.each(forged)('%s: a call for callers is 401, a public one is anonymous', async (_, make) => {
    const authorization = `Bearer ${make()}`
    const error = 'The token is not valid, has expired or has ended: refresh it, or log in again.'
    expect(await ask(authorization)).toMatchObject({
      status: 401,
      headers: { 'www-authenticate': 'Bearer realm="agro-advisory", error="invalid_token"' },
      body: { error, code: 'UNAUTHORIZED' },
    })
    expect(await ask(authorization, '/whoami')).toMatchObject({ status: 200, body: { user: null } })
  })

  test.each(['Bearer  x', 'Bearer', 'Basic eDp5', 'x', 'Bearer x y', 'Token x'])(
    'in the header %j',
    async (header) => {
      const { status, headers, body } = await ask(header.replace('x', person.access_token))
      expect([status, body.code]).toEqual([401, 'UNAUTHORIZED'])
      expect(headers['www-authenticate']).toMatch(/^Bearer realm="agro-advisory"/)
    },
  )

  test('in the query or the body', async () => {
    const url = `/user/profile?access_token=${person.access_token}`
    expect((await service.get(url)).status).toBe(401)
  })

  test('beside another one', async () => {
    await service.app.listen({ host: '127.0.0.1', port: 0 })
    const line = `Authorization: Bearer ${person.access_token}\r\n`
    const request = `GET /user/profile HTTP/1.1\r\nHost: x\r\nConnection: close\r\n${line}${line}\r\n`
    const { status, headers, json } = await exchange(service.app, request)
    expect([status, json().code]).toEqual([401, 'UNAUTHORIZED'])
    expect(headers['www-authenticate']).toMatch(/^Bearer/)
  })
})

describe('a token is accepted', () => {
  test('that a login gave, with the scheme in any case of letters', async () => {
    for (const scheme of ['Bearer', 'bearer', 'BEARER']) {
      const { status, body } = await ask(`${scheme} ${person.access_token}`)
      expect([status, body.id]).toEqual([200, person.user.id])
    }
  })

  test('that says what tokens have always said, so that issued ones and other servers go on', () => {
    const [header, payload] = person.access_token.split('.') as [string, string, string]
    const content = (part: string) => JSON.parse(Buffer.from(part, 'base64url').toString())
    expect(content(header)).toEqual(HEADER)
    const issuedAt = content(payload).iat
    expect(content(payload)).toEqual({
      sid: expect.stringMatching(/^[0-9a-f-]{36}$/),
      sub: person.user.id,
      iat: issuedAt,
      exp: issuedAt + 900,
      iss: 'agro-advisory',
      aud: 'agro-advisory',
    })
    expect(Math.abs(issuedAt - now())).toBeLessThan(240)
    expect(person.access_token).toBe(token(HEADER, content(payload)))
  })

  test('whose claims come in another order', async () => {
    const turned = Object.fromEntries(Object.entries(claims).reverse())
    expect((await ask(`Bearer ${token(HEADER, turned)}`)).status).toBe(200)
  })

  test('that was signed with the previous secret', async () => {
    expect((await ask(`Bearer ${token(HEADER, claims, PREVIOUS)}`)).status).toBe(200)
  })

  test('on a public route, whose caller is then known', async () => {
    const { body } = await ask(`Bearer ${person.access_token}`, '/whoami')
    expect(body).toEqual({
      user: {
        id: person.user.id,
        role: 'user',
        sessionId: claims.sid,
        keyId: null,
        scopes: ['advisory', 'history', 'account', 'admin'],
      },
    })
  })
})

test('a signature alone lets nobody in, since it does not know which sessions have ended', async () => {
  const { body } = await ask(`Bearer ${person.access_token}`, '/by-signature')
  expect(body).toEqual({ code: 'FST_JWT_AUTHORIZATION_TOKEN_UNTRUSTED' })
})

describe('a change of JWT_SECRET', () => {
  /** The steps of docs/operations.md, each as a process is started with it. */
  const STEPS = [
    { JWT_SECRET: PREVIOUS },
    { JWT_SECRET: PREVIOUS, JWT_SECRET_PREVIOUS: SECRET },
    { JWT_SECRET: SECRET, JWT_SECRET_PREVIOUS: PREVIOUS },
    { JWT_SECRET: SECRET },
  ] as const

  let processes: [App, App, App, App]
  beforeAll(async () => {
    // Each process would have its own; here they share one.
    service.database.statements.setMaxListeners(0)
    const start = (step: object) =>
      buildApp({ ...service.testDatabase.config, JWT_SECRET_PREVIOUS: undefined, ...step }, service.database)
    const [one, two, three, four] = STEPS
    processes = [await start(one), await start(two), await start(three), await start(four)]
    return () => Promise.all(processes.map((app) => app.close()))
  })

  const statusOf = async (app: App, by: Person) => (await call(app, 'GET /user/profile', { by })).status

  test('refuses no token of either process where one is a step ahead of the other', async () => {
    for (const step of STEPS.keys()) {
      const both = processes.slice(step, step + 2)
      for (const signer of both) {
        const somebody = await newPerson(signer)
        const statuses = await Promise.all(both.map((app) => statusOf(app, somebody)))
        expect({ step, statuses }).toEqual({ step, statuses: both.map(() => 200) })
      }
    }
  })

  test('refuses tokens where a process has not been told of the new one first', async () => {
    const [before, , after] = processes
    expect(await statusOf(before, await newPerson(after))).toBe(401)
  })
})
