import { describe, expect, test } from 'vitest'
import {
  DEMO_POSITIONS,
  DEMO_QUANTITIES,
  type DemoQuantity,
  type DemoSeason,
  demoOdds,
  demoPosition,
  demoRange,
  demoValue,
} from '#src/ingest/demo/formula.ts'
import { demoTerrain } from '#src/ingest/demo/outlines.ts'
import { describeLand } from '#src/ingest/demo/relief.ts'
import { openService } from '#test/setup/open-service.ts'
import { tellRefusals } from '#test/setup/refusals.ts'
import { FIELD, postPoint } from './ask.ts'

// In every run: what is refused of a point.

const service = openService()

/** The centres of the pixel that FIELD lies in, and of its square of the seasonal forecast. */
const LAND = describeLand(demoTerrain('eth'), 38.525, 9.525)
const ODDS = demoOdds(describeLand(demoTerrain('eth'), 38.625, 9.625))

const SEASONS: DemoSeason[] = ['Above Normal', 'Normal', 'Below Normal']
const LIKELIEST = SEASONS.toSorted((one, other) => ODDS[other] - ODDS[one])[0] as DemoSeason

const oddsOf = (season: DemoSeason) => ({ probability: ODDS[season] / 100 })

function findQuantity(series: string, input: string | null): DemoQuantity {
  const quantity = DEMO_QUANTITIES[series]?.find((candidate) => candidate.input === input)
  if (!quantity) throw new Error(`no demo quantity ${series} ${input}`)
  return quantity
}

/** The demo's value, as a raster of 32 bits has it. */
function expected(
  series: string,
  input: string | null,
  season: DemoSeason,
  decimals: number,
  factor = 1,
): number {
  return Number(Math.fround(demoValue(findQuantity(series, input), season, LAND, factor)).toFixed(decimals))
}

/** By the odds, which sum to 1. */
function findMean(read: (season: DemoSeason) => number, decimals: number): number {
  const sum = SEASONS.reduce((total, season) => total + read(season) * ODDS[season], 0)
  return Number((sum / 100).toFixed(decimals))
}

/** Entries of the three seasons, and of the likeliest. */
function entriesOf(
  key: string,
  read: (season: DemoSeason) => number,
  more = (_: DemoSeason): object => ({}),
) {
  const entries = SEASONS.map((scenario) => ({
    scenario,
    [key]: read(scenario),
    ...oddsOf(scenario),
    ...more(scenario),
  }))
  return [...entries, { scenario: 'Dominant', [key]: read(LIKELIEST), scenario_of: LIKELIEST }]
}

const YIELD = (season: DemoSeason) => expected('yield eth wheat', null, season, 2)
const POSITION = DEMO_POSITIONS.find(
  ({ value }) => value === demoPosition(LAND),
) as (typeof DEMO_POSITIONS)[number]
const RATE = (type: string) => (season: DemoSeason) =>
  expected('fertilizer eth wheat', type, season, 2, POSITION.rateFactor)
const MASS = (type: string) => (season: DemoSeason) => expected('isfm eth wheat', type, season, 3)

describe('the four point endpoints answer as the interface says', () => {
  const WHEAT = { crop: 'wheat', forecast_period: 'July 2026', forecast_month: '2026-07' }

  test.each<[string, object, string, object[], object]>([
    [
      'yield',
      WHEAT,
      'synthetic-yield-eth-wheat-2026-07-v1',
      entriesOf('yield_kg_ha', YIELD, (season) => ({
        range: { ...demoRange(findQuantity('yield eth wheat', null), season, LAND), level: 0.8 },
      })),
      { expected: [{ scenario: 'Mean by odds', yield_kg_ha: findMean(YIELD, 2) }] },
    ],
    [
      'fertilizer',
      WHEAT,
      'synthetic-fertilizer-eth-wheat-2026-07-v1',
      ['DAP', 'Urea'].flatMap((type) =>
        entriesOf('rate_kg_ha', RATE(type)).map((entry) => ({
          fertilizer_type: type,
          condition: POSITION.name,
          ...entry,
        })),
      ),
      {
        expected: ['DAP', 'Urea'].map((type) => ({
          fertilizer_type: type,
          condition: POSITION.name,
          scenario: 'Mean by odds',
          rate_kg_ha: findMean(RATE(type), 2),
        })),
        condition_source: 'landscape layer',
      },
    ],
    [
      'isfm',
      WHEAT,
      'synthetic-isfm-eth-wheat-2026-07-v1',
      ['Compost', 'Vermicompost'].flatMap((type) =>
        entriesOf('rate_tons_ha', MASS(type)).map((entry) => ({ isfm_type: type, ...entry })),
      ),
      {
        expected: ['Compost', 'Vermicompost'].map((type) => ({
          isfm_type: type,
          scenario: 'Mean by odds',
          rate_tons_ha: findMean(MASS(type), 3),
        })),
      },
    ],
    [
      'forage',
      { crop: null },
      'synthetic-forage-eth-v1',
      (DEMO_QUANTITIES.forage ?? []).map(({ input }) => ({
        forage_variety: input,
        suitability_score: expected('forage', input, 'Normal', 4),
      })),
      {},
    ],
  ])(
    '%s: place, series, release and entries in their order',
    async (product, series, release, entries, beside) => {
      const name = 'Tef & teff ፩'
      const { status, headers, body } = await postPoint(service.app, product, { body: { ...FIELD, name } })
      expect(status).toBe(200)
      expect(headers['content-type']).toBe('application/json; charset=utf-8')
      expect(headers['advisory-release']).toBe(release)
      expect(body).toEqual({
        location: { name, ...FIELD, type: 'point' },
        country_code: 'eth',
        ...series,
        release,
        synthetic: true,
        [`${product}_data`]: entries,
        ...beside,
      })
    },
  )
})

test('a table has a column for each input and scenario, and names the position on the slope', async () => {
  const { lat, lng } = FIELD
  const { text } = await service.get(`/advisory/fertilizer/point?lat=${lat}&lng=${lng}&format=csv`)
  const [names, cells] = text.split('\r\n').map((line) => line.split(',')) as [string[], string[]]
  expect(DEMO_POSITIONS.some(({ name }) => names.some((column) => column.endsWith(` ${name}`)))).toBe(false)
  // Of two inputs: four scenarios, the expected rate, and the season of Dominant.
  const ofInputs = names.filter((column) => / (Urea|DAP)\b/.test(column))
  expect(ofInputs).toHaveLength(12)
  expect(ofInputs.filter((column) => cells[names.indexOf(column)] === '')).toEqual([])
  const said = ['condition', 'condition_source'].map((column) => cells[names.indexOf(column)])
  expect(said).toEqual([POSITION.name, 'landscape layer'])
})

describe('parameters come as a body, as a query or as both', () => {
  test('field by field, and the body wins, even over a query value that is not valid', async () => {
    const { status, body } = await postPoint(service.app, 'yield', {
      body: { lat: 9.52, name: 'body' },
      query: '?lat=nonsense&lng=38.53&name=query',
    })
    expect(status).toBe(200)
    expect(body.location).toEqual({ name: 'body', ...FIELD, type: 'point' })
  })

  test.each(['application/json', 'application/x-www-form-urlencoded'])(
    'an empty body of type %s is no body',
    async (type) => {
      const sent = { query: '?lat=9.52&lng=38.53', headers: { 'content-type': type }, body: '' }
      expect((await postPoint(service.app, 'yield', sent)).status).toBe(200)
    },
  )

  test('numbers at the bounds and in every decimal notation are read', async () => {
    for (const query of ['?lat=90&lng=180', '?lat=-90&lng=-180']) {
      expect((await postPoint(service.app, 'yield', { query })).body.code).toBe('OUTSIDE_COUNTRY')
    }
    for (const lat of ['%2B9.52', '09.520', '952e-2', '.952E1']) {
      expect((await postPoint(service.app, 'yield', { query: `?lat=${lat}&lng=38.53` })).status).toBe(200)
    }
  })
})

test('the query of a POST takes all parameters of GET, also those that its document leaves to the body', async () => {
  const query = new URLSearchParams({
    ...{ lat: '9.5', lng: '38.5', crop: 'wheat', country_code: 'eth', name: 'A field' },
    ...{ forecast_period: '2026-07', provenance: 'true', area: '2.5 ha', bags: 'Urea:50,DAP:50' },
    ...{ prices: 'ETB Urea:2250/bag,DAP:2600/bag', budget: '15000', nutrients: 'true' },
    scenario_weights: 'Normal:2,Below Normal:1',
  })
  /** The answer to a POST, which is that to a GET. */
  async function answerTo(path: string, headers = {}) {
    const post = await service.post(path, { headers })
    expect(post.text).toBe((await service.get(path, { headers })).text)
    return post
  }
  const { status, body } = await answerTo(`/advisory/fertilizer/point?${query}`)
  expect(status).toBe(200)
  expect(body).toMatchObject({ quantities: { currency: 'ETB' }, provenance: [{}] })

  const release = 'synthetic-yield-eth-wheat-2026-07-v1'
  const message = `/advisory/yield/point?lat=9.5&lng=38.5&max_segments=2&release=${release}`
  const { headers } = await answerTo(message, { accept: 'text/plain' })
  expect(headers['content-type']).toContain('text/plain')
})

const LATITUDES = ['', ' 9', '0x10', '1e400', '-90.001']
const BODIES = [
  '{"lat": "9.1", "lng": 138.5}',
  '{"lat": 1e400, "lng": 138.5}',
  '[{"lat":9,"lng":38}]',
  'null',
  '{"lat": 9.5,',
  '{"__proto__": {"lat": 9}, "lat": 9.5, "lng": 38.5}',
  '{"constructor": {"prototype": {"lat": 1}}, "lat": 9.5, "lng": 38.5}',
]
const REFUSED: Record<string, object> = {
  'a long name': { name: 'x'.repeat(201) },
  'a NUL character': { name: 'a\0b' },
  'half a surrogate pair': { name: '\ud800' },
  'an empty crop': { crop: '' },
  'a number as a country': { country_code: 7 },
  'a country that there is not': { country_code: "'; drop table release; --" },
  'no coordinates': { lat: undefined, lng: undefined },
  'a latitude that may be the longitude': { lat: 138.5, lng: 9.5 },
  'a latitude that is no longitude': { lat: 95, lng: 95 },
  'a crop that the country does not offer': { crop: 'potato' },
  'no crop, for a country that has another': { country_code: 'rwa' },
  'a crop, for a country with forage alone': { country_code: 'gha', crop: 'maize' },
  'a point in a country without a crop': { lat: -1, lng: 36.5 },
  'a point in another country': { lat: -1.95, lng: 30.06 },
  'a point in no country': { lat: 0, lng: 0 },
}

/** Forage is asked for without a crop. */
const OUTSIDE: Record<string, object> = {
  'swapped coordinates': { lat: 38.5, lng: 9.5, country_code: 'eth' },
  'swapped coordinates, from memory': { lat: 38.5, lng: 9.5, country_code: 'eth' },
  'a point that is outside either way': { lat: 38.5, lng: 9.5, country_code: 'gha' },
  'a point in another country than is named': { lat: 9.5, lng: 38.5, country_code: 'gha' },
}

test('a point is refused with its field, or a reason for no answer, also beside a query that is right, as refused.txt has it', async () => {
  const ask = (sent: Parameters<typeof postPoint>[2]) => postPoint(service.app, 'yield', sent)
  const headers = { 'content-type': 'application/json' }
  const told = await tellRefusals([
    ...LATITUDES.map(
      (lat) => [`?lat=${lat}`, () => ask({ query: `?lat=${encodeURIComponent(lat)}&lng=138.5` })] as const,
    ),
    ...BODIES.map((body) => [body, () => ask({ query: '?lat=9.5', headers, body })] as const),
    ...Object.entries(REFUSED).map(
      ([name, fields]) => [name, () => ask({ body: { ...FIELD, ...fields } })] as const,
    ),
    [
      'a latitude that may be the longitude, by GET',
      () => service.get('/advisory/yield/point?lat=138.5&lng=9.5'),
    ],
    ...Object.entries(OUTSIDE).map(
      ([name, body]) => [name, () => postPoint(service.app, 'forage', { body })] as const,
    ),
  ])
  await expect(told).toMatchFileSnapshot('refused.txt')
})

test.each(['🌾'.repeat(200), '', '<b>"\\\u2028', ' spaced '])(
  'the name %j comes back as it was sent',
  async (name) => {
    const { status, body } = await postPoint(service.app, 'yield', { body: { ...FIELD, name } })
    expect([status, body.location.name]).toEqual([200, name])
  },
)

test('what the sentence about a point in another country says to send is answered', async () => {
  const body = { lat: -1.95, lng: 30.06 }
  const { body: refused } = await postPoint(service.app, 'yield', { body })
  const [, works] = refused.error.slice(0, -1).split(': send ')
  const query = `?${works.replace(' and ', '&')}`
  expect((await postPoint(service.app, 'yield', { query, body })).status).toBe(200)
})
