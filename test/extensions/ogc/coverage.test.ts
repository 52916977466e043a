import { parse } from 'csv-parse/sync'
import { expect, test } from 'vitest'
import { loadRelease } from '#src/ingest/load.ts'
import { boundaryFile, feature, loadFile, rectangle } from '#test/setup/boundaries.ts'
import type { Called } from '#test/setup/calls.ts'
import { openService } from '#test/setup/open-service.ts'
import { layerOf, releaseOn } from '#test/setup/releases.ts'

const [OLD, NOW] = ['fertilizer-eth-wheat-2026-07-v1', 'fertilizer-eth-wheat-2026-07-v2']

const NONE = -9999

/** Three pixels, 38..41 E and 9..10 N, of which some have a value. */
const GRID = { srid: 4326, originX: 38, originY: 10, pixelWidth: 1, pixelHeight: -1, width: 3, height: 1 }
// The first layer has a value in fewer pixels than the second.
const LAYERS = [layerOf('DAP', { nodata: NONE }), layerOf('Urea', { nodata: NONE })]
const pixels = (...values: number[]) =>
  releaseOn(GRID, LAYERS, [Float32Array.of(NONE, NONE, NONE), Float32Array.from(values)], {
    checksum: values.join(),
  })

const AREAS = [
  { code: 'A', name: 'Whole', geometry: rectangle(38, 9, 38.5, 10) },
  { code: 'B', name: 'Half', geometry: rectangle(38.5, 9, 39.5, 10) },
  { code: 'C', name: 'Masked', geometry: rectangle(40, 9, 41, 10) },
  { code: 'D', name: 'Elsewhere', geometry: rectangle(45, 9, 46, 10) },
]

const service = openService({
  template: 'empty',
  prepare: async (database) => {
    const features = AREAS.map(({ geometry, ...properties }) => feature(properties, geometry))
    await loadFile(database, await boundaryFile(features), 'eth', 1)
    const kenya = [feature({ code: 'K', name: 'Coast' }, rectangle(39, -4, 40, -3))]
    await loadFile(database, await boundaryFile(kenya), 'ken', 1)
    await loadRelease(database, pixels(1, 1, 1))
    await loadRelease(database, pixels(2, NONE, NONE))
  },
})

interface Item {
  country_code: string
  code: string
  products: { covered_percent: number; code?: string; reason?: string }[]
}

test('each area has the share of it with values, or the reason why it has none', async () => {
  const found = await items('?country_code=ETH&product=fertilizer')
  expect(shares(found)).toEqual([
    ['A', 100, undefined],
    ['B', 50, undefined],
    ['C', 0, 'NO_DATA'],
    ['D', 0, 'OUTSIDE_GRID'],
  ])
  expect(found[0]).toEqual({
    country_code: 'eth',
    level: 1,
    code: 'A',
    name: 'Whole',
    products: [
      {
        product: 'fertilizer',
        crop: 'wheat',
        release: NOW,
        forecast_period: '2026-07',
        covered_percent: 100,
      },
    ],
  })
  // From memory it is the same.
  expect(await items('?country_code=eth&product=fertilizer')).toEqual(found)
})

test('of one area the reasons for a gap are there, product by product', async () => {
  const [area, ...others] = await items('?area=D')
  expect(others).toEqual([])
  expect(area?.products).toEqual([
    {
      ...{ product: 'yield', crop: 'wheat', release: null, forecast_period: null, covered_percent: 0 },
      code: 'NO_RELEASE',
      reason: 'No yield predictions of wheat for Ethiopia have been published yet.',
    },
    {
      ...{
        product: 'fertilizer',
        crop: 'wheat',
        release: NOW,
        forecast_period: '2026-07',
        covered_percent: 0,
      },
      code: 'OUTSIDE_GRID',
      reason: `The area lies outside the grid of ${NOW}.`,
    },
    expect.objectContaining({ product: 'isfm', code: 'NO_RELEASE' }),
    expect.objectContaining({ product: 'forage', crop: null, code: 'NO_RELEASE' }),
  ])
  const [kenya] = await items('?country_code=ken&product=yield')
  expect(kenya?.products).toEqual([
    expect.objectContaining({
      code: 'CROP_NOT_AVAILABLE',
      reason: 'The crop is not available for Kenya; it has none.',
    }),
  ])
  const [potato] = await items('?country_code=eth&product=yield&crop=potato&area=A')
  expect(potato?.products[0]?.reason).toBe('The crop is not available for Ethiopia; its crops are: wheat.')
})

test('a release that is not published any more is said where it is named', async () => {
  const found = await items(`?release=${OLD}&country_code=eth&product=fertilizer`)
  expect(shares(found)).toEqual([
    ['A', 100, undefined],
    ['B', 100, undefined],
    ['C', 100, undefined],
    ['D', 0, 'OUTSIDE_GRID'],
  ])
  expect((await get('?release=nothing')).status).toBe(404)
  // It is of one country, product and crop: nothing is said of others.
  expect(await items(`?release=${OLD}`)).toEqual(found)
  for (const [query, rule] of [
    ['country_code=ken', 'country_code must be eth'],
    ['product=yield', 'product must be fertilizer'],
    ['crop=potato', 'crop must be wheat'],
  ]) {
    const error = `${rule} or left out: ${OLD} is of ${rule?.split(' ').at(-1)}.`
    expect(await get(`?release=${OLD}&${query}`)).toMatchObject({ status: 400, body: { error } })
  }
})

test('pages go from country to country', async () => {
  const seen: string[] = []
  let url: string | undefined = '?limit=2'
  let pages = 0
  for (; url !== undefined; pages++) {
    const { body: page, headers }: Called = await get(url)
    seen.push(...page.items.map(({ country_code, code }: Item) => `${country_code} ${code}`))
    const [, next] = /^<\/coverage([^>]+)>; rel="next"$/.exec(String(headers.link ?? '')) ?? []
    expect(next === undefined).toBe(page.next_cursor === null)
    url = next
  }
  expect(seen).toEqual(['eth A', 'eth B', 'eth C', 'eth D', 'ken K'])
  expect(pages).toBe(3)
})

test('CSV has a row for each area and release', async () => {
  const { text, headers } = await get('?country_code=eth&product=fertilizer', { accept: 'text/csv' })
  expect(headers['content-type']).toBe('text/csv; charset=utf-8')
  expect(parse(text, { columns: true })).toEqual(
    [
      ['A', 'Whole', '100', ''],
      ['B', 'Half', '50', ''],
      ['C', 'Masked', '0', 'NO_DATA'],
      ['D', 'Elsewhere', '0', 'OUTSIDE_GRID'],
    ].map(([code, name, covered_percent, reason]) => ({
      ...{ country_code: 'eth', level: '1', code, name, product: 'fertilizer', crop: 'wheat', release: NOW },
      ...{ forecast_period: '2026-07', covered_percent, reason },
    })),
  )
})

test('what is not there is refused, and what is the same is 304', async () => {
  for (const [query, status, code] of [
    ['?country_code=xyz', 400, 'INVALID_PARAMETERS'],
    ['?country_code=eth&level=2', 404, 'NO_AREAS'],
    ['?level=3', 404, 'NO_AREAS'],
    ['?area=Z', 404, 'UNKNOWN_AREA'],
    ['?level=9', 400, 'INVALID_PARAMETERS'],
    ['?cursor=x', 400, 'INVALID_PARAMETERS'],
  ] as const) {
    const found = await get(query)
    expect([query, found.status, found.body.code]).toEqual([query, status, code])
  }
  const { headers } = await get('')
  expect((await get('', { 'if-none-match': headers.etag })).status).toBe(304)
})

const get = (query: string, headers = {}) => service.get(`/coverage${query}`, { headers })

async function items(query: string): Promise<Item[]> {
  const { status, text, body } = await get(query)
  expect(status, text).toBe(200)
  return body.items
}

const shares = (found: Item[]) =>
  found.map(({ code, products }) => [code, products[0]?.covered_percent, products[0]?.code])
