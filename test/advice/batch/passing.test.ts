import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createTestApp, type TestApp } from '#test/setup/app.ts'
import { MEDIA_TYPES, type MediaType, rowsOf, send } from './forms.ts'

let service: TestApp
beforeAll(async () => {
  service = await createTestApp()
})
afterAll(() => service.close())

const JSON_TYPE = 'application/json'
const NDJSON = 'application/x-ndjson'
const CSV = 'text/csv'
const GEOJSON = 'application/geo+json'

type Fields = Record<string, unknown>

/** A point with an answer, one with a reason for none, and one that is not valid. */
const POINTS: Fields[] = [
  { id: 'A1', lat: 9.5, lng: 38.5, area_ha: 1.25, farmer: 'Amina "A."', irrigated: true, note: null },
  { id: 'A2', lat: -1, lng: 36.5, area_ha: -2, farmer: '=1+1', plot: { a: 1 } },
  { id: 'A3', lat: 'north', lng: 38.5, area_ha: 0, farmer: '' },
]
const NAMES = 'area_ha,farmer,irrigated,note'
const PASSED = [
  { area_ha: 1.25, farmer: 'Amina "A."', irrigated: true, note: null },
  { area_ha: -2, farmer: '=1+1' },
  { area_ha: 0, farmer: '' },
]

/** Points in one of the forms that have more than text. */
function bodyOf(type: MediaType, points: Fields[], members: Fields = {}): string {
  if (type === JSON_TYPE) return JSON.stringify({ points, ...members })
  if (type === NDJSON) return points.map((point) => JSON.stringify(point)).join('\n')
  return JSON.stringify({
    type: 'FeatureCollection',
    features: points.map(({ id, lat, lng, ...properties }) => ({
      type: 'Feature',
      id,
      geometry: { type: 'Point', coordinates: [lng, lat] },
      properties,
    })),
  })
}

async function ask(type: MediaType, payload: string, accept: MediaType, query: string) {
  const { statusCode, body } = await send(service.app, 'yield', { payload, type, accept, query })
  return { status: statusCode, body }
}

function itemsIn(type: MediaType, body: string): Fields[] {
  if (type !== NDJSON) return JSON.parse(body)[type === JSON_TYPE ? 'items' : 'features']
  const lines = body.trimEnd().split('\n')
  return lines.map((line) => JSON.parse(line))
}

describe('what pass names comes back with the answers', () => {
  const SENT_AS = [JSON_TYPE, NDJSON, GEOJSON] as const

  test.each(SENT_AS)('in a member of its own of JSON and NDJSON: sent as %s', async (type) => {
    const payload = bodyOf(type, POINTS)
    for (const accept of [JSON_TYPE, NDJSON] as const) {
      const without = itemsIn(accept, (await ask(type, payload, accept, '')).body)
      const items = itemsIn(accept, (await ask(type, payload, accept, `?pass=${NAMES}`)).body)
      expect(items).toEqual(without.map((item, index) => ({ ...item, pass: PASSED[index] })))
    }
  })

  test.each(SENT_AS)('among the properties of GeoJSON: sent as %s', async (type) => {
    const payload = bodyOf(type, POINTS)
    const without = itemsIn(GEOJSON, (await ask(type, payload, GEOJSON, '')).body)
    const features = itemsIn(GEOJSON, (await ask(type, payload, GEOJSON, `?pass=${NAMES}`)).body)
    expect(features).toEqual(
      without.map((feature, index) => ({
        ...feature,
        properties: { ...(feature.properties as object), ...PASSED[index] },
      })),
    )
  })

  test.each(SENT_AS)('in the last columns of CSV, where no formula runs: sent as %s', async (type) => {
    const payload = bodyOf(type, POINTS)
    const lines = (await ask(type, payload, CSV, '')).body.trimEnd().split('\r\n')
    const { body } = await ask(type, payload, CSV, `?pass=${NAMES}`)
    const cells = [NAMES, '1.25,"Amina ""A.""",true,', "-2,'=1+1,,", '0,,,']
    expect(body.trimEnd().split('\r\n')).toEqual(lines.map((line, index) => `${line},${cells[index]}`))
  })

  test('cell by cell of a table, unchanged', async () => {
    const table =
      'Farmer, area_ha ,lat,lng,constructor\n"Amina, A.",-01.50,9.5,38.5,x\n,,9.5,38.5\n@x,7,9,x,\n'
    const query = '?pass=Farmer&pass=area_ha,constructor'
    const rows = rowsOf((await ask(CSV, table, CSV, query)).body)
    expect(rows.map((row) => ['Farmer', 'area_ha', 'constructor'].map((name) => row[name]))).toEqual([
      ['Amina, A.', '-01.50', 'x'],
      ['', '', ''],
      ["'@x", '7', ''],
    ])
    const items = itemsIn(NDJSON, (await ask(CSV, table, NDJSON, query)).body)
    expect(items.map(({ pass }) => pass)).toEqual<unknown[]>([
      { Farmer: 'Amina, A.', area_ha: '-01.50', constructor: 'x' },
      {},
      { Farmer: '@x', area_ha: '7' },
    ])
  })

  test('as a member of a JSON body, which outweighs the query', async () => {
    const passOf = async (members: Fields, query: string) => {
      const { body } = await ask(JSON_TYPE, bodyOf(JSON_TYPE, POINTS, members), JSON_TYPE, query)
      return itemsIn(JSON_TYPE, body)[0]?.pass
    }
    expect(await passOf({ pass: ['farmer'] }, '?pass=area_ha')).toEqual({ farmer: 'Amina "A."' })
    expect(await passOf({ pass: null }, '?pass=area_ha')).toEqual({ area_ha: 1.25 })
    expect(await passOf({ pass: [] }, '?pass=area_ha')).toBeUndefined()
    expect(await passOf({}, '?pass=')).toBeUndefined()
  })

  test('of a product without seasons, and of points with members like those of every object', async () => {
    const { body } = await send(service.app, 'forage', {
      payload: '{"lat":-1,"lng":36.5,"__proto__":"p","toString":"t"}',
      type: NDJSON,
      query: '?country_code=ken&pass=__proto__,toString,valueOf',
    })
    expect(body.trimEnd()).toMatch(/,"pass":\{"__proto__":"p","toString":"t"\}\}$/)
    const feature = bodyOf(GEOJSON, [{ lat: 9.5, lng: 38.5 }])
    const [item] = itemsIn(NDJSON, (await ask(GEOJSON, feature, NDJSON, '?pass=constructor')).body)
    expect(item).toMatchObject({ location: { lat: 9.5 }, pass: {} })
  })

  test('point by point of a long call', async () => {
    const points = Array.from({ length: 1000 }, (_, n) => ({ id: n, lat: n % 7 ? 9.5 : 'x', lng: 38.5, n }))
    const items = itemsIn(NDJSON, (await ask(NDJSON, bodyOf(NDJSON, points), NDJSON, '?pass=n')).body)
    expect(items.map(({ id, pass }) => [id, pass])).toEqual(points.map(({ n }) => [n, { n }]))
  })
})

describe('what cannot be passed refuses its point alone', () => {
  const RULE =
    'must be a text of at most 1000 characters, a number from -9007199254740991 to 9007199254740991, true, false or null to be passed'

  test.each<[string, unknown]>([
    ['an object', { a: 1 }],
    ['a list', [1]],
    ['a long text', 'x'.repeat(1001)],
    ['NUL', 'a\0b'],
    ['a number beyond those that are exact', 2 ** 60],
  ])('%s', async (_, plot) => {
    const point = { id: 7, lat: 9.5, lng: 38.5, farmer: 'Amina' }
    const payload = bodyOf(NDJSON, [
      { ...point, plot },
      { ...point, plot: 'x'.repeat(1000) },
    ])
    const { body } = await ask(NDJSON, payload, NDJSON, '?pass=plot,farmer')
    const [refused, answered] = itemsIn(NDJSON, body)
    expect(refused).toEqual({
      id: 7,
      sent: { lat: 9.5, lng: 38.5 },
      error: `plot ${RULE}.`,
      code: 'INVALID_PARAMETERS',
      details: [{ field: 'plot', message: `plot ${RULE}` }],
      pass: { farmer: 'Amina' },
    })
    expect(answered?.pass).toEqual({ plot: 'x'.repeat(1000), farmer: 'Amina' })
  })
})

describe('names are refused', () => {
  const OWN = ['id', 'Name', 'lat', 'ERROR', 'code', 'forecast_period', 'yield_kg_ha Normal']
  test.each(OWN)('that the answer has anyway: %s', async (name) => {
    const message = `pass must not name ${name}, which the answer has anyway`
    for (const type of MEDIA_TYPES) {
      const payload =
        type === CSV
          ? 'id,Name,lat,lng,ERROR,code,forecast_period,yield_kg_ha Normal\n1,x,9.5,38.5,a,b,c,d'
          : bodyOf(type, [{ id: 1, lat: 9.5, lng: 38.5 }])
      const { status, body } = await ask(type, payload, type, `?pass=${encodeURIComponent(name)}`)
      expect([status, JSON.parse(body)]).toEqual([
        400,
        {
          error: `${message}.`,
          code: 'INVALID_PARAMETERS',
          details: [{ field: 'pass', message }],
          request_id: expect.any(String),
        },
      ])
    }
  })

  test.each([
    ['famer', 'pass names famer, which no column is called'],
    ['x', 'pass names x, which several columns are called'],
  ])('that a table does not have once: %s', async (name, message) => {
    const { status, body } = await ask(CSV, 'lat,lng,farmer,x,x\n9.5,38.5,a,b,c', CSV, `?pass=${name}`)
    expect([status, JSON.parse(body).details]).toEqual([400, [{ field: 'pass', message }]])
  })

  test.each<[unknown, string, string]>([
    ['farmer', 'pass', 'must be an array'],
    [[5], 'pass.0', 'must be a string'],
    [[''], 'pass.0', 'must not be empty'],
    [['x'.repeat(101)], 'pass.0', 'must be at most 100 characters long'],
    [['a', 'a'], 'pass', 'must not have the same item twice'],
    [Array.from({ length: 21 }, (_, index) => `c${index}`), 'pass', 'must have at most 20 items'],
  ])('that are none, or too many: %j', async (pass, field, rule) => {
    const { status, body } = await ask(JSON_TYPE, bodyOf(JSON_TYPE, POINTS, { pass }), JSON_TYPE, '')
    expect([status, JSON.parse(body).details]).toEqual([400, [{ field, message: `${field} ${rule}` }]])
  })
})
