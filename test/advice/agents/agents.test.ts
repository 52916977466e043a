import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Agent, connectAgent, ERAS, type ToolAnswer } from '#test/setup/agents.ts'
import { createTestAppWithPerson, type TestAppWithPerson } from '#test/setup/people.ts'

let service: TestAppWithPerson
let agents: Record<string, Agent>

beforeAll(async () => {
  service = await createTestAppWithPerson()
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

  test('is told what the service is about', async () => {
    const { client } = agents[era] as Agent
    expect(client.getServerVersion()?.name).toBe('agro-advisory')
    expect(client.getInstructions()).toContain('licence')
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

  test('says why a product has no value beside those that have one', async () => {
    const { products } = dataOf(await call('advise_point', { lat: -1, lng: 36.5, crop: null }))
    expect(products).toMatchObject([
      { product: 'yield', code: 'CROP_NOT_AVAILABLE' },
      { product: 'fertilizer', code: 'CROP_NOT_AVAILABLE' },
      { product: 'isfm', code: 'CROP_NOT_AVAILABLE' },
      { product: 'forage', unit: 'score', release: 'synthetic-forage-ken-v1' },
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

  test('says what the endpoint says of a polygon', async () => {
    const ring = [
      [38.5, 9.5],
      [38.6, 9.5],
      [38.6, 9.6],
      [38.5, 9.5],
    ]
    const polygon = { type: 'Polygon', coordinates: [ring] }
    const endpoint = await asked('POST', '/advisory/yield', { geometry: polygon, country_code: 'eth' })
    const found = dataOf(await call('advise_area', { product: 'yield', polygon, country_code: 'eth' }))
    expect(found.location).toEqual(endpoint.location)
    expect(found.rows).toEqual(endpoint.yield_data.map(Object.values))
  })

  test('says of which country and crop it is: those of the polygon, where they are left out', async () => {
    const ring = [
      [30.06, -1.95],
      [30.08, -1.95],
      [30.08, -1.93],
      [30.06, -1.95],
    ]
    const polygon = { type: 'Polygon', coordinates: [ring] }
    const asked = { country_code: 'rwa', crop: 'potato' }
    const found = dataOf(await call('advise_area', { product: 'yield', polygon }))
    expect(found).toMatchObject(asked)
    expect(found).toEqual(dataOf(await call('advise_area', { product: 'yield', polygon, ...asked })))
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
    const plain = dataOf(await call('quantities', { ...point, area: '1' }))
    expect(plain).not.toHaveProperty('currency')
    expect(plain).not.toHaveProperty('costs')
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
    const none = dataOf(await call('where_is', { name: "%_'; --" }))
    expect(none).toEqual({ areas: [], sources: [] })
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
