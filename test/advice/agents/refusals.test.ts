import type { InjectOptions } from 'fastify'
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest'
import { createTestApp, type TestApp } from '#test/setup/app.ts'
import { newPerson } from '#test/setup/people.ts'

// Runs on a server alone: what is refused is no statement.

const ALLOWED = 'https://map.example.org'

let service: TestApp

beforeAll(async () => {
  service = await createTestApp({ settings: { CORS_ORIGINS: ALLOWED, RATE_LIMIT: '1000/min' } })
})
afterAll(() => service.close())

const send = (payload: unknown, headers: Record<string, string> = {}, options: InjectOptions = {}) =>
  service.app.inject({
    method: 'POST',
    url: '/mcp',
    headers: { 'content-type': 'application/json', ...headers },
    payload: typeof payload === 'string' ? payload : JSON.stringify(payload),
    ...options,
  })

const message = (method: string, params: object = {}) => ({ jsonrpc: '2.0', id: 1, method, params })

const callOf = (name: string, input: unknown = {}) => message('tools/call', { name, arguments: input })

/** What the envelope of the revision of 2026 has. */
const ENVELOPE = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientInfo': { name: 'test', version: '1' },
  'io.modelcontextprotocol/clientCapabilities': {},
}

const sendModern = (method: string, params: object = {}, name?: string) =>
  send(message(method, { ...params, _meta: ENVELOPE }), {
    'mcp-protocol-version': '2026-07-28',
    'mcp-method': method,
    ...(name && { 'mcp-name': name }),
  })

describe('the endpoint', () => {
  test.each(['GET', 'DELETE', 'PUT'] as const)(
    'takes no %s: there are no sessions and streams',
    async (method) => {
      const { statusCode, headers, body } = await service.app.inject({ method, url: '/mcp' })
      expect([statusCode, headers.allow, JSON.parse(body).code]).toEqual([
        405,
        'POST, OPTIONS',
        'METHOD_NOT_ALLOWED',
      ])
    },
  )

  test.each([
    '/.well-known/oauth-protected-resource',
    '/.well-known/oauth-protected-resource/mcp',
    '/.well-known/oauth-authorization-server',
    '/.well-known/openid-configuration',
  ])('knows no OAuth: %s is not found, in JSON', async (url) => {
    const { statusCode, headers, body } = await service.app.inject(url)
    expect([statusCode, headers['content-type'], JSON.parse(body).code]).toEqual([
      404,
      'application/json; charset=utf-8',
      'NOT_FOUND',
    ])
  })

  test('answers pages of the origins that may read the API, and programs, which have none', async () => {
    const list = message('tools/list')
    expect((await send(list)).statusCode).toBe(200)
    expect((await send(list, { origin: ALLOWED })).statusCode).toBe(200)
    for (const origin of ['http://evil.example', 'null', 'http://localhost:80']) {
      const { statusCode, body } = await send(list, { origin, host: new URL('http://evil.example').host })
      expect([origin, statusCode, JSON.parse(body).code]).toEqual([origin, 403, 'FORBIDDEN'])
    }
  })

  test('lets pages send the headers of the protocol', async () => {
    const { headers } = await service.app.inject({
      method: 'OPTIONS',
      url: '/mcp',
      headers: { origin: ALLOWED, 'access-control-request-method': 'POST' },
    })
    for (const name of ['Mcp-Protocol-Version', 'Mcp-Method', 'Mcp-Name', 'Authorization']) {
      expect(headers['access-control-allow-headers']).toContain(name)
    }
  })

  test.each([
    ['a batch', [message('tools/list'), message('tools/list')]],
    ['an empty batch', []],
    ['a text', '"x"'],
    ['nothing', ''],
    ['null', 'null'],
  ])('takes one message, not %s', async (_, payload) => {
    const { statusCode, body } = await send(payload)
    expect([statusCode, JSON.parse(body).error.code]).toEqual([400, -32600])
  })

  test.each([
    ['no JSON', '{"jsonrpc":', 400, 'MALFORMED_JSON'],
    [
      'a prototype',
      '{"jsonrpc":"2.0","id":1,"method":"tools/list","__proto__":{"a":1}}',
      400,
      'MALFORMED_JSON',
    ],
    ['a thousand levels', `${'{"a":'.repeat(1000)}1${'}'.repeat(1000)}`, 400, 'MALFORMED_JSON'],
    ['70 kB', callOf('where_is', { name: 'x'.repeat(70_000) }), 413, 'BODY_TOO_LARGE'],
  ])('refuses %s', async (_, payload, status, code) => {
    const { statusCode, body } = await send(payload)
    expect([statusCode, JSON.parse(body).code]).toEqual([status, code])
  })

  test.each([
    ['no JSON-RPC', {}],
    ['an id that is none', { ...message('tools/list'), id: { a: 1 } }],
  ])('answers %s with an error of the protocol', async (_, payload) => {
    const { statusCode, body } = await send(payload)
    expect(statusCode).toBe(400)
    expect(JSON.parse(body).error.code).toBeLessThan(-32_000)
  })

  test('keeps no stream open for a client that would listen', async () => {
    const { body } = await sendModern('subscriptions/listen', { notifications: { toolsListChanged: true } })
    expect(body).toContain('limit')
  })

  test('takes an id of any length back, and no more', async () => {
    const id = 'i'.repeat(10_000)
    expect((await send({ ...message('ping'), id })).json()).toEqual({ jsonrpc: '2.0', id, result: {} })
  })
})

describe('a tool that there is not', () => {
  test.each(['rain', 'constructor', '__proto__', 'toString', '', 'x'.repeat(5000)])(
    'is an error of the protocol: %#',
    async (name) => {
      expect((await send(callOf(name))).json().error.code).toBe(-32602)
      const modern = await sendModern('tools/call', { name, arguments: {} }, name || 'none')
      expect(modern.json().error.code).toBeLessThan(-32_000)
    },
  )
})

/** What a tool said that it does not do. */
async function refusalOf(name: string, input: object) {
  const { result } = (await send(callOf(name, input))).json()
  const [{ text }] = result.content
  expect(result.isError, text).toBe(true)
  expect(Buffer.byteLength(text)).toBeLessThan(2000)
  return JSON.parse(text)
}

describe('a tool', () => {
  const MEND_DETAILS = 'Mend what details name, and call again.'
  const MEND_SWAPPED = 'See that lat and lng are not swapped.'

  test.each([
    [{ lat: 9.5 }, 'INVALID_PARAMETERS', 'lng is required.', MEND_DETAILS],
    [{ lat: '9.5', lng: 38.5 }, 'INVALID_PARAMETERS', 'lat must be a number from -90 to 90.', MEND_DETAILS],
    [
      { lat: 9.5, lng: 38.5, product: 'rain' },
      'INVALID_PARAMETERS',
      /^product must be one of yield/,
      MEND_DETAILS,
    ],
    [
      { lat: 9.5, lng: 38.5, country_code: 'xxx' },
      'INVALID_PARAMETERS',
      /^country_code must be one of eth/,
      MEND_DETAILS,
    ],
    [
      { lat: 9.5, lng: 38.5, country_code: 'rwa' },
      'OUTSIDE_COUNTRY',
      /lies in Ethiopia, not in Rwanda/,
      'Leave country_code out, and see that lat and lng are not swapped.',
    ],
    [{ lat: 0, lng: 0 }, 'OUTSIDE_COUNTRY', /none of the countries.* The nearest is Ghana/, MEND_SWAPPED],
    [
      { lat: 9.5, lng: 38.5, product: 'yield', forecast_period: '2020-01' },
      'NO_RELEASE',
      /in 2020-01/,
      'Leave forecast_period out, or call releases to see what is published.',
    ],
    [
      { lat: 9.5, lng: 38.5, product: 'yield', crop: 'rice' },
      'CROP_NOT_AVAILABLE',
      /its crops are: wheat/,
      'Leave crop out, or take one that catalogue has for the country.',
    ],
    [
      { lat: -1, lng: 36.5, product: 'yield' },
      'CROP_NOT_AVAILABLE',
      /it has forage only/,
      'Call catalogue to see the crops of each country.',
    ],
    [
      { lat: 38.5, lng: 9.5 },
      'OUTSIDE_COUNTRY',
      /With lat and lng swapped the point would lie in Ethiopia: did you mean lng, lat\?$/,
      MEND_SWAPPED,
    ],
  ])(
    'advise_point refuses %j as the endpoint does, and says what to do',
    async (input, code, error, mend) => {
      const said = await refusalOf('advise_point', input)
      expect(said).toMatchObject({ code, mend })
      expect(said.error).toMatch(error)
    },
  )

  test.each([
    [{}, 'INVALID_PARAMETERS', /^Send either area/],
    [{ area: 'x', polygon: { type: 'Polygon' } }, 'INVALID_PARAMETERS', /^Send either area/],
    [{ polygon: { type: 'Polygon' } }, 'INVALID_GEOMETRY', /^polygon.coordinates /],
    [{ area: 'Amhara', country_code: 'xxx' }, 'INVALID_PARAMETERS', /^country_code must be one of eth/],
    [{ area: 'Atlantis' }, 'UNKNOWN_AREA', /^There is no area/],
    [{ area: 'Amhra' }, 'UNKNOWN_AREA', /: did you mean Amhara \(ETH-03\)\?$/],
    [{ area: 'oromia', level: 3 }, 'UNKNOWN_AREA', /^There is no area/],
    [{ area: 'Shewa' }, 'UNKNOWN_AREA', /^Several areas may be meant/],
  ])('advise_area refuses %j', async (input, code, error) => {
    const said = await refusalOf('advise_area', { product: 'yield', ...input })
    expect(said.code).toBe(code)
    expect(said.error).toMatch(error)
    if (code === 'UNKNOWN_AREA') expect(said.mend).toBe('Find the code with where_is and name.')
  })

  test.each([
    [{ area: '2 feddan' }, /^area.unit must be one of ha, m2/],
    [{ area: 'big' }, /^area.unit must be one of ha, m2/],
    [{ area: '-1' }, /^area must be a number and a unit/],
    [{ area: '1 ha', bags: 'Uraea:50' }, /^bags.Uraea is not known: the names are /],
    [{ area: '1 ha', prices: 'Urea:5' }, /^prices /],
  ])('quantities refuses %j as the endpoint does', async (input, error) => {
    const said = await refusalOf('quantities', { lat: 9.5, lng: 38.5, ...input })
    expect(said.code).toBe('INVALID_PARAMETERS')
    expect(said.error).toMatch(error)
  })

  test('quantities refuses places without rates with their reason', async () => {
    const { code } = await refusalOf('quantities', { lat: -1, lng: 36.5, area: '1 ha' })
    expect(code).toBe('CROP_NOT_AVAILABLE')
  })

  test('quantities refuses a scenario that there is not with those that there are', async () => {
    const input = { lat: 9.5, lng: 38.5, area: '1 ha', scenario: 'wet' }
    expect((await refusalOf('quantities', input)).details[0].allowed).toEqual([
      'Above Normal',
      'Normal',
      'Below Normal',
      'Dominant',
    ])
  })

  test.each([{}, { lat: 1 }, { lng: 1 }])('where_is needs a point or a name, not %j', async (input) => {
    expect((await refusalOf('where_is', input)).code).toBe('INVALID_PARAMETERS')
  })

  test.each([
    ['advise_point', { lat: 9.5, lng: 38.5, corp: 'maize' }, 'corp', 'crop'],
    ['advise_point', { lat: 9.5, lng: 38.5, country: 'rwa' }, 'country', 'country_code'],
    ['advise_point', { latitude: 9.5, lng: 38.5 }, 'latitude', 'lat'],
    ['releases', { prodcut: 'yield' }, 'prodcut', 'product'],
    ['catalogue', { foo: 1 }, 'foo', undefined],
  ])('%s refuses %j: it knows no such argument', async (tool, input, field, meant) => {
    const said = await refusalOf(tool, input)
    expect(said.code).toBe('INVALID_PARAMETERS')
    expect(said.details[0].field).toBe(field)
    const hint = meant === undefined ? '' : ` (did you mean ${meant}?)`
    expect(said.details[0].message).toBe(`${field} is not an argument of ${tool}${hint}`)
    if (meant !== undefined) expect(said.error).toContain(`did you mean ${meant}?`)
  })

  test('an argument that is not known counts as left out where it is null', async () => {
    expect((await send(callOf('catalogue', { foo: null }))).json().result.isError).toBeFalsy()
  })
})

test.each(['x', 1, [1]])('input that is no object is an error of the protocol: %j', async (input) => {
  const { error } = (await send(callOf('advise_point', input))).json()
  expect(error.code).toBe(-32602)
  expect(error.message).toContain('expected record')
})

test('while the database is away, an agent is told to call again', async () => {
  const away = vi.spyOn(service.database.pool, 'connect').mockImplementation(() => {
    throw Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' })
  })
  onTestFinished(() => away.mockRestore())
  const { statusCode, body } = await send(callOf('where_is', { name: 'Kigali' }))
  const { result } = JSON.parse(body)
  expect([statusCode, result.isError]).toEqual([200, true])
  expect(JSON.parse(result.content[0].text)).toMatchObject({
    code: 'DATABASE_UNAVAILABLE',
    retry_after_s: 1,
    mend: 'Call again after retry_after_s.',
  })
})

test('calls count as any requests: of the network, or with a key of its user', async () => {
  const person = await newPerson(service.app)
  const made = await service.app.inject({
    method: 'POST',
    url: '/auth/keys',
    headers: person.headers,
    payload: { name: 'agent', scopes: ['advisory'] },
  })
  const authorization = `Bearer ${made.json().key}`
  const left = async (headers: Record<string, string>) => {
    const { headers: said } = await send(callOf('catalogue'), headers, { remoteAddress: '192.0.2.9' })
    return Number(/r=(\d+)/.exec(String(said.ratelimit))?.[1])
  }
  const [first, second] = [await left({}), await left({})]
  expect(first - second).toBe(1)
  // What the person has asked for so far: a key.
  expect(await left({ authorization })).toBe(998)
  expect(await left({ authorization: 'Bearer agro_nobody' })).toBe(second - 1)
})

test('the document of the API does not have it: its tools describe themselves', async () => {
  const { body } = await service.app.inject('/openapi.json')
  expect(Object.keys(JSON.parse(body).paths)).not.toContain('/mcp')
})
