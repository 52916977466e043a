import { beforeAll, expect, onTestFinished, test } from 'vitest'
import { buildApp } from '#src/app.ts'
import type { TestApp } from '#test/setup/app.ts'
import { call } from '#test/setup/calls.ts'
import { exchange } from '#test/setup/exchange.ts'
import { openApp, openService } from '#test/setup/open-service.ts'

const POINT = '/advisory/yield/point?lat=9.5&lng=38.5'

const service = openService({ settings: { TRUSTED_PROXIES: '10.0.0.0/8,::1' } })
/** Below a path, behind another proxy, for pages of some origins alone. */
const prefixed = openApp({
  template: 'empty',
  settings: {
    BASE_PATH: '/agro',
    TRUSTED_PROXIES: '10.0.0.1',
    CORS_ORIGINS: 'https://maps.example.org, http://localhost:5173',
  },
})
beforeAll(() => service.app.listen({ host: '127.0.0.1', port: 0 }))

test('BASE_PATH prefixes every path, and links begin with it', async () => {
  expect((await prefixed.get('/health/ready')).status).toBe(404)
  const { servers, paths } = await ask(prefixed, '/agro/openapi.json')
  expect([servers, Object.keys(paths)]).toEqual([
    [{ url: 'http://localhost:80/agro' }],
    expect.arrayContaining(['/advisory/yield/point']),
  ])
  expect((await ask(prefixed, '/agro/')).docs).toBe('/agro/docs')
  expect((await ask(prefixed, '/agro/nowhere')).error).toBe(
    'Path not found: GET /agro/nowhere. See /agro/docs.',
  )
  expect((await ask(prefixed, '/agro/user/profile')).error).toContain('POST /agro/auth/login gives')
  expect((await ask(prefixed, '/agro/catalog')).products[0].path).toMatch(/^\/agro\/advisory\//)
})

test('links begin with the X-Forwarded-Prefix of a trusted proxy, everywhere', async () => {
  const way = { prefix: '/farm', headers: service.person.headers }
  const links = { docs: '/farm/docs', openapi: '/farm/openapi.json', stac: '/farm/stac', ogc: '/farm/ogc' }
  expect(await ask(service, '/', way)).toMatchObject(links)
  expect((await ask(service, '/nowhere', way)).error).toContain('See /farm/docs.')
  expect((await ask(service, '/openapi.json', way)).servers).toEqual([{ url: 'http://localhost:80/farm' }])
  expect((await ask(service, '/openapi.json')).servers).toEqual([{ url: 'http://localhost:80' }])
  for (let item = 0; item < 2; item++) await service.post(POINT, { by: service.person })
  const { link } = await ask(service, '/history/my?limit=1', way)
  expect(link).toMatch(/^<\/farm\/history\/my\?limit=1&cursor=/)
})

test('links begin with both, where a proxy strips a prefix of a service that has one', async () => {
  const way = { from: '10.0.0.1', prefix: '/farm' }
  expect((await ask(prefixed, '/agro/', way)).docs).toBe('/farm/agro/docs')
  expect((await ask(prefixed, '/agro/openapi.json', way)).servers).toEqual([
    { url: 'http://localhost:80/farm/agro' },
  ])
})

test.each([
  ['10.255.0.1', '/farm/docs'],
  ['::1', '/farm/docs'],
  ['::ffff:10.0.0.9', '/farm/docs'],
  ['11.0.0.1', '/docs'],
  ['127.0.0.1', '/docs'],
  ['::2', '/docs'],
  ['::ffff:11.0.0.1', '/docs'],
])('links follow what trusted proxies say, and nobody else: %s', async (from, docs) => {
  expect((await ask(service, '/', { from, prefix: '/farm' })).docs).toBe(docs)
})

test.each([
  ...['//evil.example.org', 'farm', '/farm/', '/a b', '/<script>', '/..', '/a,/b', '/%2e'],
  `/${'x'.repeat(200)}`,
])('links follow no prefix that is none: %s', async (prefix) => {
  expect((await ask(service, '/', { prefix })).docs).toBe('/docs')
})

test('links lead to the host of Host, whatever a trusted proxy passes on', async () => {
  const passedOn = { 'x-forwarded-host': 'evil.example', 'x-forwarded-proto': 'https' }
  const { links } = await ask(service, '/ogc', { headers: { host: 'advisory.example', ...passedOn } })
  expect(links[0].href).toBe('https://advisory.example/ogc?f=json')
})

test('links begin with PUBLIC_URL, whatever Host and proxies say', async () => {
  const PUBLIC_URL = 'https://advisory.example:8443/farm'
  const app = await buildApp({ ...service.testDatabase.config, PUBLIC_URL }, service.database)
  onTestFinished(() => app.close())
  const { person } = service
  const headers = { ...person.headers, host: 'a.example', 'x-forwarded-proto': 'http' }
  const way = { prefix: '/other', headers }
  expect((await ask({ app }, '/', way)).docs).toBe('/farm/docs')
  expect((await ask({ app }, '/ogc', way)).links[0].href).toBe(`${PUBLIC_URL}/ogc?f=json`)
  expect((await ask({ app }, '/stac', way)).links[0].href).toBe(`${PUBLIC_URL}/stac`)
  const [{ release: code }] = (await ask({ app }, '/catalog')).releases
  const [layer] = (await ask({ app }, `/releases/${code}/layers`, way)).layers
  expect(layer.tiles[0].startsWith(`${PUBLIC_URL}/releases/${code}/`)).toBe(true)
  const feed = await call(app, 'GET /changes?format=atom', { headers })
  expect(feed.text).toContain(`<link rel="self" type="application/atom+xml" href="${PUBLIC_URL}/`)
  const { body: given } = await call(app, `POST ${POINT}`, { by: person })
  const { body: shared } = await call(app, `POST /history/${given.history_id}/share`, { headers })
  expect(shared.url).toBe(`${PUBLIC_URL}/cite/${shared.id}`)
})

test.each([
  ['', () => service],
  ['/agro', () => prefixed],
])('with BASE_PATH "%s" crawlers are asked to read the documents alone', async (prefix, which) => {
  const { app } = which()
  const { status, headers, text } = await call(app, 'GET /robots.txt')
  const told = [status, headers['content-type'], headers['cache-control']]
  expect(told).toEqual([200, 'text/plain; charset=utf-8', 'public, max-age=86400'])
  expect(text).toBe(
    `User-agent: *\nAllow: ${prefix}/docs\nAllow: ${prefix}/openapi.json\nAllow: ${prefix}/openapi.yaml\nDisallow: ${prefix}/\n`,
  )
})

test.each([
  ['no host', '', 'none'],
  ['two hosts', 'Host: a.example\r\nhost: b.example\r\n', '2'],
  ['the same host twice', 'HOST: a\r\nHost: a\r\n', '2'],
])('a request with %s is refused, wherever it leads', async (_, lines, found) => {
  for (const path of ['/health/live', '/nowhere']) {
    const answer = await exchange(service.app, `GET ${path} HTTP/1.1\r\n${lines}\r\n`)
    const error = `The request must have one Host header, and has ${found}.`
    expect([answer.status, answer.json()]).toMatchObject([400, { error, code: 'MALFORMED_REQUEST' }])
  }
})

test.each([
  ...["x'; id #", 'user@a.example', 'a.example/path', 'a.example?x', 'a"b', '%zz', 'a.example:80a'],
  ...['[::1', '::1', 'bücher.example', 'x'.repeat(260), ''],
])('a request whose Host names none is refused: %s', async (host) => {
  const answer = await exchange(service.app, `GET /health/live HTTP/1.1\r\nHost: ${host}\r\n\r\n`)
  expect([answer.status, answer.json().error]).toEqual([
    400,
    'The Host header must be a name or an address, with a port or without, such as advisory.example:8080.',
  ])
})

test.each(['a_b.example.:8080', '127.0.0.1:3000', '[2001:db8::1]', '%41', 'a:'])(
  'a request whose Host names one is answered: %s',
  async (host) => {
    const request = `GET /health/live HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`
    expect((await exchange(service.app, request)).status).toBe(200)
  },
)

test('a request of HTTP/1.0 needs no host, and may name one', async () => {
  const statusOf = async (lines: string) =>
    (await exchange(service.app, `GET /health/live HTTP/1.0\r\n${lines}\r\n`)).status
  expect(await statusOf('')).toBe(200)
  expect(await statusOf('Host: a\r\n')).toBe(200)
  expect(await statusOf('Host: a\r\nHost: b\r\n')).toBe(400)
})

/** What the service makes: which process, and which of its requests. */
const MADE = /^[A-Za-z0-9_-]{12}-[0-9a-z]+$/

function askWith(url: string, id?: string, method: 'GET' | 'POST' | 'HEAD' | 'OPTIONS' = 'GET') {
  return service.ask(`${method} ${url}`, { headers: id === undefined ? {} : { 'x-request-id': id } })
}

test.each(['7', 'a.b_c:d~e+f/g=h@i-j', 'x'.repeat(128)])(
  'an X-Request-Id that is sane comes back: %s',
  async (id) => {
    const point = await askWith(POINT, id, 'POST')
    expect([point.status, point.headers['x-request-id']]).toEqual([200, id])
    expect(point.text).not.toContain('request_id')
    const refused = await askWith('/advisory/yield/point', id)
    expect([refused.headers['x-request-id'], JSON.parse(refused.text).request_id]).toEqual([id, id])
  },
)

test.each(['', 'a b', 'a,b', 'x'.repeat(129), 'é', '<script>', "a'b"])(
  'an X-Request-Id that is not sane is replaced: %j',
  async (id) => {
    const response = await askWith('/nowhere', id)
    expect(response.headers['x-request-id']).toMatch(MADE)
    expect(JSON.parse(response.text).request_id).toBe(response.headers['x-request-id'])
  },
)

test('an X-Request-Id is made for each request anew', async () => {
  const answers = await Promise.all(Array.from({ length: 100 }, () => askWith('/health/live')))
  expect(new Set(answers.map(({ headers }) => headers['x-request-id'])).size).toBe(100)
})

const MINE = ' HTTP/1.1\r\nHost: x\r\nConnection: close\r\nX-Request-Id: mine\r\n'
test.each([
  ['a URL that cannot be read', `GET /%zz${MINE}\r\n`, /^mine$/],
  ['an unknown expectation', `GET /${MINE}Expect: miracles\r\n\r\n`, /^mine$/],
  ['two ids', `GET /nowhere${MINE}X-Request-Id: two\r\n\r\n`, MADE],
  ['bytes that are not HTTP', 'hello\r\n\r\n', MADE],
])('the X-Request-Id is in the error about %s', async (_, request, expected) => {
  const { headers, json } = await exchange(service.app, request)
  expect(headers['x-request-id']).toMatch(expected)
  expect(json().request_id).toBe(headers['x-request-id'])
})

test('the id of a request is not said of the parts of its answer', async () => {
  const points = [
    { lat: -1, lng: 36.5 },
    { lat: 100, lng: 0 },
  ]
  const payload = { country_code: 'eth', points }
  const batch = await service.post('/advisory/yield/points', { payload })
  for (const code of ['OUTSIDE_COUNTRY', 'INVALID_PARAMETERS']) expect(batch.text).toContain(code)
  expect(batch.text).not.toContain('request_id')
})

test.each([
  ['a success', 'POST', POINT, 200],
  ['an error', 'POST', '/advisory/yield/point', 400],
  ['a missing token', 'GET', '/user/profile', 401],
  ['an unknown path', 'GET', '/nowhere', 404],
] as const)('answers tell browsers not to run, frame or sniff them: %s', async (_, method, url, status) => {
  // Browsers send the origin with every POST; with a GET of their own origin they do not.
  const origin = method === 'POST' ? { origin: 'null' } : {}
  const { status: statusCode, headers } = await service.ask(`${method} ${url}`, { headers: origin })
  expect(statusCode).toBe(status)
  expect(headers).toMatchObject({
    'content-security-policy': "default-src 'none';frame-ancestors 'none'",
    'x-content-type-options': 'nosniff',
    'referrer-policy': 'no-referrer',
    'strict-transport-security': 'max-age=31536000',
    'cross-origin-resource-policy': 'cross-origin',
    'x-frame-options': 'SAMEORIGIN',
  })
  expect(headers).not.toHaveProperty('x-powered-by')
  expect(headers).not.toHaveProperty('server')
})

test('answers tell other programs nothing of documents: a POST without an origin', async () => {
  const { headers } = await service.post(POINT)
  expect(headers).toMatchObject({
    'x-content-type-options': 'nosniff',
    'strict-transport-security': 'max-age=31536000',
  })
  expect(headers).not.toHaveProperty('content-security-policy')
  expect(headers).not.toHaveProperty('access-control-allow-origin')
})

test('the policy of /docs lets Swagger UI do what it needs, and no more', async () => {
  for (const url of ['/docs/', '/docs/static/swagger-ui-bundle.js']) {
    const policy = (await service.get(url)).headers['content-security-policy']
    expect(policy).toContain("default-src 'none'; script-src 'self';")
    expect(policy).toContain("frame-ancestors 'none'")
  }
})

const origin = 'https://app.example.org'

test('a page of another origin may read answers with their useful headers, also why it was refused', async () => {
  const { headers } = await service.post(POINT, { headers: { origin } })
  expect(headers['access-control-allow-origin']).toBe('*')
  expect(headers).not.toHaveProperty('access-control-allow-credentials')
  const exposed = String(headers['access-control-expose-headers']).split(', ')
  const useful = ['Advisory-History', 'Advisory-Release', 'Deprecation', 'ETag', 'Retry-After']
  const others = ['Server-Timing', 'Sunset', 'WWW-Authenticate']
  expect(exposed).toEqual(expect.arrayContaining([...useful, ...others]))
  const refused = await service.get('/user/profile', { headers: { origin } })
  expect([refused.status, refused.headers['access-control-allow-origin']]).toEqual([401, '*'])
})

test.each([
  ['POST', '/advisory/yield/point', 'content-type'],
  ['PATCH', '/user/profile', 'authorization,content-type'],
  ['DELETE', '/auth/keys/x', 'authorization'],
  ['GET', '/advisory/point', 'if-none-match,prefer'],
])('a page of another origin is told beforehand that it may send %s %s', async (method, url, names) => {
  const asked = { 'access-control-request-method': method, 'access-control-request-headers': names }
  const { status, text, headers } = await service.options(url, { headers: { origin, ...asked } })
  expect([status, text, headers['access-control-allow-origin']]).toEqual([204, '', '*'])
  expect(String(headers['access-control-allow-methods']).split(', ')).toContain(method)
  const allowed = String(headers['access-control-allow-headers']).toLowerCase().split(', ')
  expect(allowed).toEqual(expect.arrayContaining(names.split(',')))
  expect(Number(headers['access-control-max-age'])).toBeGreaterThan(0)
})

test('a page of another origin may not ask where CORS_ORIGINS does not list it', async () => {
  const answer = (from: string) => prefixed.get('/agro/catalog', { headers: { origin: from } })
  const listed = (await answer('https://maps.example.org')).headers
  expect(listed['access-control-allow-origin']).toBe('https://maps.example.org')
  expect(listed.vary).toContain('Origin')
  for (const from of [origin, 'https://maps.example.org.evil.org', 'null', 'http://localhost:5174']) {
    const { headers } = await answer(from)
    expect(headers).not.toHaveProperty('access-control-allow-origin')
    expect(headers.vary).toContain('Origin')
  }
})

interface Way {
  from?: string
  prefix?: string
  headers?: Record<string, string>
}

async function ask(
  { app }: Pick<TestApp, 'app'>,
  url: string,
  { from = '10.1.2.3', prefix, headers = {} }: Way = {},
) {
  const answer = await call(app, `GET ${url}`, {
    from,
    headers: { ...headers, ...(prefix !== undefined && { 'x-forwarded-prefix': prefix }) },
  })
  return { ...answer.body, link: answer.headers.link }
}
