import type { InjectOptions } from 'fastify'
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest'
import { type Agent, connectAgent, ERAS, type ToolAnswer } from '#test/setup/agents.ts'
import { rectangle } from '#test/setup/boundaries.ts'
import { createTestAppWithPerson, newPerson, type TestAppWithPerson } from '#test/setup/people.ts'

const ALLOWED = 'https://map.example.org'

let service: TestAppWithPerson
let agents: Record<string, Agent>

beforeAll(async () => {
  service = await createTestAppWithPerson({
    settings: { CORS_ORIGINS: ALLOWED, RATE_LIMIT: '1000/min' },
  })
  const url = await service.app.listen({ host: '127.0.0.1', port: 0 })
  agents = { 2025: await connectAgent(url, 2025), 2026: await connectAgent(url, 2026) }
})
afterAll(async () => {
  await Promise.all(Object.values(agents).map((agent) => agent.close()))
  await service.close()
})

const call = (tool: string, input?: object) => (agents[2026] as Agent).call(tool, input)

async function asked(method: 'GET' | 'POST', url: string, payload?: object) {
  const { headers } = service.person
  const response = await service.app.inject({ method, url, headers, ...(payload && { payload }) })
  return response.json()
}

const BYTES_OF_LIST = 7_000
const BYTES_OF_ANSWER = 2000

const bytesOf = (value: unknown) => Buffer.byteLength(JSON.stringify(value))

/** What a tool answered, and all that holds for every answer. */
function dataOf({ text, content, isError }: ToolAnswer): Record<string, unknown> {
  expect(isError, text).toBe(false)
  expect(JSON.parse(text)).toEqual(content)
  expect(Buffer.byteLength(text)).toBeLessThan(BYTES_OF_ANSWER)
  expect(content).toHaveProperty('sources')
  return content
}

const DEMO_SOURCE = 'Synthetic demonstration values made by a formula. They are not advice.'

describe.each(Object.keys(ERAS))('a client of %s', (era) => {
  test('is told of seven tools, in less than 7 kB', async () => {
    const { tools } = await (agents[era] as Agent).client.listTools()
    expect(tools.map(({ name }) => name)).toEqual([
      'catalogue',
      'where_is',
      'advise_point',
      'advise_area',
      'quantities',
      'explain_no_data',
      'releases',
    ])
    expect(bytesOf({ tools })).toBeLessThan(BYTES_OF_LIST)
    const { client } = agents[era] as Agent
    expect(client.getServerVersion()?.name).toBe('agro-advisory')
    expect(client.getInstructions()).toContain('licence')
    for (const { annotations, inputSchema } of tools) {
      expect(annotations).toEqual({ readOnlyHint: true, openWorldHint: false })
      expect(inputSchema.type).toBe('object')
    }
  })

  test('can call each as its description shows', async () => {
    const { tools } = await (agents[era] as Agent).client.listTools()
    for (const { name, description = '' } of tools) {
      const [, examples = ''] = description.split(/Examples?: /)
      const inputs = examples.split(/(?<=\}), (?=\{)/).map((example) => JSON.parse(example))
      expect(inputs.length).toBeGreaterThan(0)
      for (const input of inputs) dataOf(await (agents[era] as Agent).call(name, input))
    }
  })
})

describe('advise_point', () => {
  test('says what the endpoint says, with the country and the crop of the place', async () => {
    const found = dataOf(await call('advise_point', { lat: -1.95, lng: 30.06 }))
    expect(found).toMatchObject({ lat: -1.95, lng: 30.06, country_code: 'rwa', crop: 'potato' })
    const endpoint = await asked('GET', '/advisory/point?lat=-1.95&lng=30.06&country_code=rwa&crop=potato')
    const [yields, fertilizer, isfm, forage] = found.products as Record<string, unknown>[]
    expect(yields).toEqual({
      product: 'yield',
      unit: 'kg/ha',
      values: Object.fromEntries(
        endpoint.yield.yield_data.map((entry: Record<string, unknown>) => [
          entry.scenario,
          entry.yield_kg_ha,
        ]),
      ),
      release: 'synthetic-yield-rwa-potato-2026-07-v1',
      forecast_month: '2026-07',
      synthetic: true,
    })
    for (const { fertilizer_type, scenario, rate_kg_ha } of endpoint.fertilizer.fertilizer_data) {
      expect(fertilizer?.values).toHaveProperty([fertilizer_type, scenario], rate_kg_ha)
    }
    for (const { isfm_type, scenario, rate_tons_ha } of endpoint.isfm.isfm_data) {
      expect(isfm?.values).toHaveProperty([isfm_type, scenario], rate_tons_ha)
    }
    const scores = endpoint.forage.forage_data as { forage_variety: string; suitability_score: number }[]
    const best = scores.toSorted((a, b) => b.suitability_score - a.suitability_score)
    expect(Object.entries(forage?.values as object)).toEqual(
      best.map(({ forage_variety, suitability_score }) => [forage_variety, suitability_score]),
    )
    expect(found.sources).toEqual([
      {
        source: DEMO_SOURCE,
        licence: 'CC0-1.0',
        of: [
          'synthetic-yield-rwa-potato-2026-07-v1',
          'synthetic-fertilizer-rwa-potato-2026-07-v1',
          'synthetic-isfm-rwa-potato-2026-07-v1',
          'synthetic-forage-rwa-v1',
        ],
      },
    ])
  })
})

describe('advise_area', () => {
  test('says what the endpoint says of an administrative area, by its name or code', async () => {
    const payload = { admin: { country_code: 'rwa', code: 'RWA-01' }, crop: 'potato' }
    const endpoint = await asked('POST', '/advisory/fertilizer', payload)
    const { columns, rows, ...found } = dataOf(
      await call('advise_area', { product: 'fertilizer', area: 'city of kigali' }),
    )
    expect(found).toMatchObject({
      location: endpoint.location,
      unit: 'kg/ha',
      release: endpoint.release,
      forecast_month: '2026-07',
      synthetic: true,
    })
    const entries = (rows as unknown[][]).map((row) =>
      Object.fromEntries((columns as string[]).map((column, at) => [column, row[at]])),
    )
    expect(entries).toEqual(endpoint.fertilizer_data)
    const byCode = await call('advise_area', { product: 'fertilizer', area: 'rwa-01', country_code: 'RWA' })
    expect(byCode.content).toEqual({ ...found, columns, rows })
  })

  test('says what the endpoint says of a polygon, with its country and crop where they are left out', async () => {
    const polygon = rectangle(30.06, -1.95, 30.08, -1.93)
    const place = { country_code: 'rwa', crop: 'potato' }
    const endpoint = await asked('POST', '/advisory/yield', { geometry: polygon, ...place })
    const found = dataOf(await call('advise_area', { product: 'yield', polygon }))
    expect(found).toMatchObject({ ...place, location: endpoint.location })
    expect(found.rows).toEqual(endpoint.yield_data.map(Object.values))
    expect(dataOf(await call('advise_area', { product: 'forage', area: 'KEN-47' }))).toMatchObject({
      country_code: 'ken',
      crop: null,
    })
  })
})

describe('quantities', () => {
  test('are what the endpoint says of the field: amounts, whole bags and costs', async () => {
    const point = { lat: 9.5, lng: 38.5 }
    const wanted = { area: '2.5 acre', bags: 'urea:25', prices: 'ETB Urea:1100/bag,DAP:52.5' }
    const endpoint = await asked('POST', '/advisory/point', { ...point, ...wanted })
    const found = dataOf(await call('quantities', { ...point, ...wanted, scenario: 'normal' }))
    const ofNormal = ({ scenario }: { scenario: string }) => scenario === 'Normal'
    const inputs = [...endpoint.fertilizer.fertilizer_data, ...endpoint.isfm.isfm_data].filter(ofNormal)
    const [harvest] = endpoint.yield.yield_data.filter(ofNormal)
    expect(found.rows).toEqual([
      ['yield', null, 'Normal', harvest.yield_kg_ha, harvest.quantity.kg, 'kg', null],
      ...inputs.map(({ fertilizer_type, isfm_type, rate_kg_ha, rate_tons_ha, quantity }) =>
        fertilizer_type
          ? [
              'fertilizer',
              fertilizer_type,
              'Normal',
              rate_kg_ha,
              quantity.kg,
              'kg',
              fertilizer_type === 'Urea' ? Math.ceil(quantity.kg / 25) : null,
            ]
          : ['isfm', isfm_type, 'Normal', rate_tons_ha, quantity.t, 't', null],
      ),
    ])
    const { cost } = endpoint.fertilizer.quantities.scenarios.find(ofNormal)
    expect(found).toMatchObject({
      area_ha: 1.01171411,
      currency: 'ETB',
      costs: [['fertilizer', 'Normal', cost]],
    })
  })
})

describe('where_is', () => {
  test('says of a point what the endpoint says', async () => {
    const endpoint = await asked('POST', '/validate_location', { lat: -1.95, lng: 30.06 })
    const found = dataOf(await call('where_is', { lat: -1.95, lng: 30.06 }))
    expect(found).toMatchObject({
      country_code: 'rwa',
      country: 'Rwanda',
      areas: endpoint.admin,
      crop: 'potato',
    })
    expect(found.available).toEqual({ yield: true, fertilizer: true, isfm: true, forage: true })
    expect((found.sources as object[]).length).toBeGreaterThan(0)
  })

  test('finds areas by parts of their names, without regard to case and accents', async () => {
    const { areas } = dataOf(await call('where_is', { name: 'ÁMHARA', country_code: 'eth' }))
    expect((areas as object[])[0]).toMatchObject({ code: 'ETH-03', name: 'Amhara', level: 1, in: 'Ethiopia' })
    const nothing = dataOf(await call('where_is', { name: "%_'; --" }))
    expect(nothing).toEqual({ areas: [], sources: [] })
  })
})

describe('explain_no_data', () => {
  test('has a reason for each product, and what to do about it', async () => {
    const { country_code, available, reasons } = dataOf(
      await call('explain_no_data', { lat: -1, lng: 36.5, country_code: 'eth' }),
    )
    expect({ country_code, available, reasons }).toEqual({
      country_code: 'ken',
      available: [],
      reasons: [
        [['yield', 'fertilizer', 'isfm'], ''],
        [['forage'], ': send country_code=ken'],
      ].map(([products, works]) => ({
        products,
        code: 'OUTSIDE_COUNTRY',
        error: `The point at latitude -1, longitude 36.5 lies in Kenya, not in Ethiopia${works}.`,
        mend: 'Leave country_code out, and see that lat and lng are not swapped.',
      })),
    })
    expect(dataOf(await call('explain_no_data', { lat: -1, lng: 36.5 }))).toMatchObject({
      available: [{ product: 'forage', release: 'synthetic-forage-ken-v1' }],
      reasons: [{ products: ['yield', 'fertilizer', 'isfm'], code: 'CROP_NOT_AVAILABLE' }],
    })
  })

  test('knows which country is nearest to a point in the sea, and coordinates that are swapped', async () => {
    expect(dataOf(await call('explain_no_data', { lat: 0, lng: 0 }))).toMatchObject({
      country_code: null,
      nearest: { country_code: 'gha' },
    })
    expect(dataOf(await call('explain_no_data', { lat: 38.5, lng: 9.5 })).hint).toMatch(/Ethiopia/)
  })
})

describe('what is published', () => {
  test('is in the catalogue, the newest of each', async () => {
    const { countries, products } = dataOf(await call('catalogue', { country_code: 'ETH' }))
    expect(countries).toEqual([
      {
        country_code: 'eth',
        name: 'Ethiopia',
        crops: ['wheat'],
        published: [
          'synthetic-yield-eth-wheat-2026-07-v1',
          'synthetic-fertilizer-eth-wheat-2026-07-v1',
          'synthetic-isfm-eth-wheat-2026-07-v1',
          'synthetic-forage-eth-v1',
        ],
      },
    ])
    expect(products).toHaveLength(4)
    const { text } = await call('catalogue', { country_code: 'xxx' })
    expect(JSON.parse(text).details[0].allowed).toEqual(['eth', 'gha', 'ken', 'rwa'])
  })

  test('can be listed by product, country and crop', async () => {
    const { releases } = dataOf(
      await call('releases', { product: 'isfm', country_code: 'rwa', crop: 'Potato' }),
    )
    expect(releases).toEqual([
      {
        release: 'synthetic-isfm-rwa-potato-2026-07-v1',
        product: 'isfm',
        country_code: 'rwa',
        crop: 'potato',
        forecast_month: '2026-07',
        synthetic: true,
        inputs: ['Compost', 'Vermicompost'],
        scenarios: ['Above Normal', 'Normal', 'Below Normal', 'Dominant'],
      },
    ])
  })
})

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

describe('the endpoint', () => {
  test.each(['GET', 'DELETE'] as const)('takes no %s: there are no sessions and streams', async (method) => {
    const { statusCode, headers, body } = await service.app.inject({ method, url: '/mcp' })
    expect([statusCode, headers.allow, JSON.parse(body).code]).toEqual([
      405,
      'POST, OPTIONS',
      'METHOD_NOT_ALLOWED',
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
    ['a batch', [message('tools/list'), message('tools/list')], 400, -32600],
    ['a text', '"x"', 400, -32600],
    ['nothing', '', 400, -32600],
    ['a tool that there is not', callOf('rain'), 200, -32602],
    ['a tool that objects have', callOf('__proto__'), 200, -32602],
    ['input that is no object', callOf('advise_point', [1]), 200, -32602],
  ])('answers %s with an error of the protocol', async (_, payload, status, code) => {
    const { statusCode, body } = await send(payload)
    expect([statusCode, JSON.parse(body).error.code]).toEqual([status, code])
  })

  test.each([
    ['no JSON', '{"jsonrpc":', 400, 'MALFORMED_JSON'],
    [
      'a prototype',
      '{"jsonrpc":"2.0","id":1,"method":"tools/list","__proto__":{"a":1}}',
      400,
      'MALFORMED_JSON',
    ],
    ['70 kB', callOf('where_is', { name: 'x'.repeat(70_000) }), 413, 'BODY_TOO_LARGE'],
  ])('refuses %s', async (_, payload, status, code) => {
    const { statusCode, body } = await send(payload)
    expect([statusCode, JSON.parse(body).code]).toEqual([status, code])
  })

  test('answers clients of both revisions with an error for a tool that there is not', async () => {
    for (const agent of Object.values(agents)) await expect(agent.call('rain')).rejects.toThrow(/rain/)
  })
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
    ['advise_area', {}, 'INVALID_PARAMETERS', /^Send either area/],
    ['advise_area', { area: 'x', polygon: { type: 'Polygon' } }, 'INVALID_PARAMETERS', /^Send either area/],
    ['advise_area', { polygon: { type: 'Polygon' } }, 'INVALID_GEOMETRY', /^polygon.coordinates /],
    ['advise_area', { area: 'Atlantis' }, 'UNKNOWN_AREA', /^There is no area/],
    ['advise_area', { area: 'Amhra' }, 'UNKNOWN_AREA', /: did you mean Amhara \(ETH-03\)\?$/],
    ['advise_area', { area: 'oromia', level: 3 }, 'UNKNOWN_AREA', /^There is no area/],
    ['advise_area', { area: 'Shewa' }, 'UNKNOWN_AREA', /^Several areas may be meant/],
    ['quantities', { area: '2 feddan' }, 'INVALID_PARAMETERS', /^area.unit must be one of ha, m2/],
    ['quantities', { area: '1 ha', bags: 'Uraea:50' }, 'INVALID_PARAMETERS', /^bags.Uraea is not known/],
    ['where_is', {}, 'INVALID_PARAMETERS', /./],
    ['where_is', { lng: 1 }, 'INVALID_PARAMETERS', /./],
  ])('%s refuses %j', async (tool, input, code, error) => {
    const more = { advise_area: { product: 'yield' }, quantities: { lat: 9.5, lng: 38.5 } }[tool]
    const said = await refusalOf(tool, { ...more, ...input })
    expect(said.code).toBe(code)
    expect(said.error).toMatch(error)
    if (code === 'UNKNOWN_AREA') expect(said.mend).toBe('Find the code with where_is and name.')
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

  test.each([
    ['advise_point', { lat: 9.5, lng: 38.5, corp: 'maize' }, 'corp', 'crop'],
    ['advise_point', { lat: 9.5, lng: 38.5, country: 'rwa' }, 'country', 'country_code'],
    ['catalogue', { foo: 1 }, 'foo', undefined],
  ])('%s refuses %j: it knows no such argument', async (tool, input, field, meant) => {
    const said = await refusalOf(tool, input)
    expect(said.code).toBe('INVALID_PARAMETERS')
    expect(said.details[0].field).toBe(field)
    const hint = meant === undefined ? '' : ` (did you mean ${meant}?)`
    expect(said.details[0].message).toBe(`${field} is not an argument of ${tool}${hint}`)
    if (meant !== undefined) expect(said.error).toContain(`did you mean ${meant}?`)
  })
})

test('an argument that a tool does not know counts as left out where it is null', async () => {
  expect((await send(callOf('catalogue', { foo: null }))).json().result.isError).toBeFalsy()
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
