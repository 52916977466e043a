import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest'
import { type Agent, connectAgent, ERAS, type ToolAnswer } from '#test/setup/agents.ts'
import { rectangle } from '#test/setup/boundaries.ts'
import { openService } from '#test/setup/open-service.ts'
import { newPerson } from '#test/setup/people.ts'

const ALLOWED = 'https://map.example.org'

const service = openService({ settings: { CORS_ORIGINS: ALLOWED, RATE_LIMIT: '1000/min' } })
let agents: Record<string, Agent>
beforeAll(async () => {
  const url = await service.app.listen({ host: '127.0.0.1', port: 0 })
  agents = { 2025: await connectAgent(url, 2025), 2026: await connectAgent(url, 2026) }
})
afterAll(() => Promise.all(Object.values(agents).map((agent) => agent.close())))

const BYTES_OF_LIST = 7_200

describe.each(Object.keys(ERAS))('a client of %s', (era) => {
  test('is told of seven tools, in less than 7.2 kB', async () => {
    const { tools } = await (agents[era] as Agent).client.listTools()
    const names = ['catalogue', 'where_is', 'advise_point', 'advise_area', 'quantities', 'explain_no_data']
    expect(tools.map(({ name }) => name)).toEqual([...names, 'releases'])
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

interface YieldEntry {
  scenario: string
  yield_kg_ha: number
  probability?: number
  range?: { low: number; high: number }
  scenario_of?: string
}

const DEMO_SOURCE = 'Synthetic demonstration values made by a formula. They are not advice.'

describe('advise_point', () => {
  test('says what the endpoint says, with the country and the crop of the place', async () => {
    const found = dataOf(await use('advise_point', { lat: -1.95, lng: 30.06 }))
    expect(found).toMatchObject({ lat: -1.95, lng: 30.06, country_code: 'rwa', crop: 'potato' })
    const endpoint = await asked('GET /advisory/point?lat=-1.95&lng=30.06&country_code=rwa&crop=potato')
    const [yields, fertilizer, isfm, forage] = found.products as Record<string, unknown>[]
    const { yield_data, expected } = endpoint.yield as { yield_data: YieldEntry[]; expected: object[] }
    const seasons = yield_data.slice(0, 3)
    const bySeason = <Value>(entries: YieldEntry[], read: (entry: YieldEntry) => Value) =>
      Object.fromEntries(entries.map((entry) => [entry.scenario, read(entry)]))
    expect(yields).toEqual({
      product: 'yield',
      unit: 'kg/ha',
      values: bySeason(yield_data, ({ yield_kg_ha }) => yield_kg_ha),
      odds: bySeason(seasons, ({ probability }) => probability),
      low_high_level: bySeason(seasons, ({ range }) => [range?.low, range?.high, 0.8]),
      dominant_is: yield_data[3]?.scenario_of,
      mean_by_odds: (expected as YieldEntry[])[0]?.yield_kg_ha,
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
    const seasonal = ['yield', 'fertilizer', 'isfm'].map((of) => `synthetic-${of}-rwa-potato-2026-07-v1`)
    const of = [...seasonal, 'synthetic-forage-rwa-v1']
    expect(found.sources).toEqual([{ source: DEMO_SOURCE, licence: 'CC0-1.0', of }])
  })
})

describe('advise_area', () => {
  test('says what the endpoint says of an administrative area, by its name or code', async () => {
    const payload = { admin: { country_code: 'rwa', code: 'RWA-01' }, crop: 'potato' }
    const endpoint = await asked('POST /advisory/fertilizer', payload)
    const { columns, rows, ...found } = dataOf(
      await use('advise_area', { product: 'fertilizer', area: 'city of kigali' }),
    )
    expect(found).toMatchObject({
      location: endpoint.location,
      unit: 'kg/ha',
      release: endpoint.release,
      forecast_month: '2026-07',
      synthetic: true,
    })
    expect(columns).toEqual([...Object.keys(endpoint.fertilizer_data[0]), 'scenario_of'])
    const entries = endpoint.fertilizer_data as Record<string, unknown>[]
    expect(rows).toEqual(entries.map((entry) => (columns as string[]).map((column) => entry[column] ?? null)))
    expect(found.expected).toEqual(endpoint.expected)
    const byCode = await use('advise_area', { product: 'fertilizer', area: 'rwa-01', country_code: 'RWA' })
    expect(byCode.content).toEqual({ ...found, columns, rows })
  })

  test('says what the endpoint says of a polygon, with its country and crop where they are left out', async () => {
    const polygon = rectangle(30.06, -1.95, 30.08, -1.93)
    const place = { country_code: 'rwa', crop: 'potato' }
    const endpoint = await asked('POST /advisory/yield', { geometry: polygon, ...place })
    const found = dataOf(await use('advise_area', { product: 'yield', polygon }))
    expect(found).toMatchObject({ ...place, location: endpoint.location })
    const rows = (endpoint.yield_data as YieldEntry[]).map(
      ({ probability, range, scenario_of, ...entry }) => [
        ...Object.values(entry),
        ...[probability, range?.low, range?.high, scenario_of].map((member) => member ?? null),
      ],
    )
    expect(found.rows).toEqual(rows)
    // Alternatives by condition go before entries do.
    for (const area of ['Amhara', 'Oromia', 'ETH']) {
      const mixed = dataOf(await use('advise_area', { product: 'fertilizer', area, condition: 'all' }))
      expect(mixed.rows).toHaveLength(8)
      expect(mixed).not.toHaveProperty('left_out')
      expect(mixed.by_condition).toMatchObject({ hill: { share_percent: expect.any(Number) } })
    }
    expect(dataOf(await use('advise_area', { product: 'forage', area: 'KEN-47' }))).toMatchObject({
      country_code: 'ken',
      crop: null,
    })
  })
})

describe('quantities', () => {
  test('are what the endpoint says of the field: amounts, whole bags and costs', async () => {
    const point = { lat: 9.5, lng: 38.5 }
    const wanted = { area: '2.5 acre', bags: 'urea:25', prices: 'ETB Urea:1100/bag,DAP:52.5' }
    const endpoint = await asked('POST /advisory/point', { ...point, ...wanted })
    const found = dataOf(await use('quantities', { ...point, ...wanted, scenario: 'normal' }))
    const ofNormal = ({ scenario }: { scenario: string }) => scenario === 'Normal'
    const [harvest] = endpoint.yield.yield_data.filter(ofNormal)
    const [dap, urea] = endpoint.fertilizer.fertilizer_data.filter(ofNormal)
    const [compost, vermicompost] = endpoint.isfm.isfm_data.filter(ofNormal)
    const bags = Math.ceil(urea.quantity.kg / 25)
    expect(found.rows).toEqual([
      ['yield', null, 'Normal', harvest.yield_kg_ha, harvest.quantity.kg, 'kg', null],
      ['fertilizer', 'DAP', `Normal, ${dap.condition}`, dap.rate_kg_ha, dap.quantity.kg, 'kg', null],
      ['fertilizer', 'Urea', `Normal, ${urea.condition}`, urea.rate_kg_ha, urea.quantity.kg, 'kg', bags],
      ['isfm', 'Compost', 'Normal', compost.rate_tons_ha, compost.quantity.t, 't', null],
      ['isfm', 'Vermicompost', 'Normal', vermicompost.rate_tons_ha, vermicompost.quantity.t, 't', null],
    ])
    const { cost } = endpoint.fertilizer.quantities.scenarios.find(ofNormal)
    expect(found).toMatchObject({
      area_ha: 1.01171411,
      currency: 'ETB',
      costs: [['fertilizer', `Normal, ${urea.condition}`, cost]],
    })
  })
})

describe('where_is', () => {
  test('says of a point what the endpoint says', async () => {
    const endpoint = await asked('POST /validate_location', { lat: -1.95, lng: 30.06 })
    const found = dataOf(await use('where_is', { lat: -1.95, lng: 30.06 }))
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
    const { areas } = dataOf(await use('where_is', { name: 'ÁMHARA', country_code: 'eth' }))
    expect((areas as object[])[0]).toMatchObject({ code: 'ETH-03', name: 'Amhara', level: 1, in: 'Ethiopia' })
    const nothing = dataOf(await use('where_is', { name: "%_'; --" }))
    expect(nothing).toEqual({ areas: [], sources: [] })
  })
})

describe('explain_no_data', () => {
  test('has a reason for each product, and what to do about it', async () => {
    const { country_code, available, reasons } = dataOf(
      await use('explain_no_data', { lat: -1, lng: 36.5, country_code: 'eth' }),
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
    expect(dataOf(await use('explain_no_data', { lat: -1, lng: 36.5 }))).toMatchObject({
      available: [{ product: 'forage', release: 'synthetic-forage-ken-v1' }],
      reasons: [{ products: ['yield', 'fertilizer', 'isfm'], code: 'CROP_NOT_AVAILABLE' }],
    })
  })

  test('knows which country is nearest to a point in the sea, and coordinates that are swapped', async () => {
    expect(dataOf(await use('explain_no_data', { lat: 0, lng: 0 }))).toMatchObject({
      country_code: null,
      nearest: { country_code: 'gha' },
    })
    expect(dataOf(await use('explain_no_data', { lat: 38.5, lng: 9.5 })).hint).toMatch(/Ethiopia/)
  })
})

describe('what is published', () => {
  test('is in the catalogue, the newest of each', async () => {
    const { countries, products } = dataOf(await use('catalogue', { country_code: 'ETH' }))
    const seasonal = ['yield', 'fertilizer', 'isfm'].map((of) => `synthetic-${of}-eth-wheat-2026-07-v1`)
    const published = [...seasonal, 'synthetic-forage-eth-v1']
    expect(countries).toEqual([{ country_code: 'eth', name: 'Ethiopia', crops: ['wheat'], published }])
    expect(products).toHaveLength(4)
    const { text } = await use('catalogue', { country_code: 'xxx' })
    expect(JSON.parse(text).details[0].allowed).toEqual(['eth', 'gha', 'ken', 'rwa'])
  })

  test('can be listed by product, country and crop', async () => {
    const { releases } = dataOf(
      await use('releases', { product: 'isfm', country_code: 'rwa', crop: 'Potato' }),
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

const send = (payload: unknown, headers: Record<string, string> = {}, from?: string) =>
  service.post('/mcp', {
    payload: typeof payload === 'string' ? payload : JSON.stringify(payload),
    headers: { 'content-type': 'application/json', ...headers },
    from,
  })

const message = (method: string, params: object = {}) => ({ jsonrpc: '2.0', id: 1, method, params })

const callOf = (name: string, input: unknown = {}) => message('tools/call', { name, arguments: input })

describe('the endpoint', () => {
  test.each(['GET', 'DELETE'] as const)('takes no %s: there are no sessions and streams', async (method) => {
    const { status, headers, body } = await service.ask(`${method} /mcp`)
    expect([status, headers.allow, body.code]).toEqual([405, 'POST, OPTIONS', 'METHOD_NOT_ALLOWED'])
  })

  test('answers pages of the origins that may read the API, and programs, which have none', async () => {
    const list = message('tools/list')
    expect((await send(list)).status).toBe(200)
    expect((await send(list, { origin: ALLOWED })).status).toBe(200)
    for (const origin of ['http://evil.example', 'null', 'http://localhost:80']) {
      const { status, body } = await send(list, { origin, host: 'evil.example' })
      expect([origin, status, body.code]).toEqual([origin, 403, 'FORBIDDEN'])
    }
  })

  test('lets pages send the headers of the protocol', async () => {
    const asking = { origin: ALLOWED, 'access-control-request-method': 'POST' }
    const { headers } = await service.options('/mcp', { headers: asking })
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
    ['no JSON', '{"jsonrpc":', 400, 'MALFORMED_JSON'],
    ['a prototype', '{"jsonrpc":"2.0","id":1,"__proto__":{"a":1}}', 400, 'MALFORMED_JSON'],
    ['70 kB', callOf('where_is', { name: 'x'.repeat(70_000) }), 413, 'BODY_TOO_LARGE'],
  ])('refuses %s, by a code of the protocol where it is JSON', async (_, payload, status, code) => {
    const answer = await send(payload)
    expect([answer.status, answer.body.code ?? answer.body.error.code]).toEqual([status, code])
  })
})

async function refusalOf(name: string, input: object) {
  const { result } = (await send(callOf(name, input))).body
  const [{ text }] = result.content
  expect(result.isError, text).toBe(true)
  expect(Buffer.byteLength(text)).toBeLessThan(2000)
  return JSON.parse(text)
}

describe('tools', () => {
  const AT = { lat: 9.5, lng: 38.5 }
  const REFUSED: [tool: string, ...inputs: object[]][] = [
    [
      'advise_point',
      { lat: 9.5 },
      { lat: '9.5', lng: 38.5 },
      { ...AT, country_code: 'rwa' },
      { lat: 0, lng: 0 },
      { ...AT, product: 'yield', forecast_period: '2020-01' },
      { lat: -1, lng: 36.5, product: 'yield' },
      { lat: 38.5, lng: 9.5 },
      { ...AT, corp: 'maize' },
      { ...AT, country: 'rwa' },
    ],
    [
      'advise_area',
      { product: 'yield' },
      { product: 'yield', area: 'x', polygon: { type: 'Polygon' } },
      { product: 'yield', polygon: { type: 'Polygon' } },
      { product: 'yield', area: 'Atlantis' },
      { product: 'yield', area: 'Amhra' },
      { product: 'yield', area: 'oromia', level: 3 },
      { product: 'yield', area: 'Shewa' },
    ],
    [
      'quantities',
      { ...AT, area: '2 feddan' },
      { ...AT, area: '1 ha', bags: 'Uraea:50' },
      { ...AT, area: '1 ha', scenario: 'wet' },
    ],
    ['where_is', {}, { lng: 1 }],
    ['catalogue', { foo: 1 }],
  ]

  test('advise_area asks which area is meant where a name is only near to one, and tells of positions', async () => {
    const near = await refusalOf('advise_area', { product: 'yield', area: 'Sheva' })
    expect(near.did_you_mean).toEqual([
      {
        ...{ name: 'Sheka', code: 'ETH-13-03', country_code: 'eth', level: 2 },
        within: 'South West Ethiopia, Ethiopia',
      },
    ])
    const position = await refusalOf('advise_area', { product: 'yield', area: '9.5N 38.5E' })
    expect(position.error).toBe(
      'area must be an administrative area; for a position call advise_point with lat 9.5 and lng 38.5.',
    )
    for (const [tool, input] of [
      ['advise_area', { product: 'yield', area: '37P 412345 1050000' }],
      ['where_is', { name: '37P 412345 1050000' }],
    ] as const) {
      expect((await refusalOf(tool, input)).error).toMatch(/a position is such as 9\.5 38\.5/)
    }
  })

  test('tools refuse what the endpoints refuse, and what they do not know, and say what to do, as refused.txt has it', async () => {
    const told: string[] = []
    for (const [tool, ...inputs] of REFUSED) {
      for (const input of inputs) {
        const { code, error, details = [], mend } = await refusalOf(tool, input)
        const fields = details.map(({ field, allowed }: { field: string; allowed?: string[] }) =>
          allowed ? `${field} (${allowed.join(', ')})` : field,
        )
        told.push(
          `${tool} ${JSON.stringify(input)}\n  ${[code, ...fields].join(' ')}\n  ${error}\n  ${mend}\n`,
        )
      }
    }
    await expect(told.join('\n')).toMatchFileSnapshot('refused.txt')
  })
})

test('an argument that a tool does not know counts as left out where it is null', async () => {
  expect((await send(callOf('catalogue', { foo: null }))).body.result.isError).toBeFalsy()
})

test('while the database is away, an agent is told to call again', async () => {
  const away = vi.spyOn(service.database.pool, 'connect').mockImplementation(() => {
    throw Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' })
  })
  onTestFinished(() => away.mockRestore())
  const polygon = rectangle(38.51, 9.51, 38.53, 9.54)
  const { status, body } = await send(callOf('advise_area', { product: 'yield', polygon }))
  const { result } = body
  expect([status, result.isError]).toEqual([200, true])
  expect(JSON.parse(result.content[0].text)).toMatchObject({
    code: 'DATABASE_UNAVAILABLE',
    retry_after_s: 1,
    mend: 'Call again after retry_after_s.',
  })
})

test('calls count as any requests: of the network, or with a key of its user', async () => {
  const by = await newPerson(service.app)
  const payload = { name: 'agent', scopes: ['advisory'] }
  const made = await service.post('/auth/keys', { by, payload })
  const authorization = `Bearer ${made.body.key}`
  const left = async (headers: Record<string, string>) => {
    const { headers: said } = await send(callOf('catalogue'), headers, '192.0.2.9')
    return Number(/r=(\d+)/.exec(String(said.ratelimit))?.[1])
  }
  const [first, second] = [await left({}), await left({})]
  expect(first - second).toBe(1)
  // What the person has asked for so far: a key.
  expect(await left({ authorization })).toBe(998)
  expect(await left({ authorization: 'Bearer agro_nobody' })).toBe(second - 1)
})

const use = (tool: string, input?: object) => (agents[2026] as Agent).call(tool, input)

const asked = async (request: string, payload?: object) =>
  (await service.ask(request, { by: service.person, payload })).body

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
