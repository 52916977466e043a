import { describe, expect, test } from 'vitest'
import { postPoint } from '#test/advice/point/ask.ts'
import { openService } from '#test/setup/open-service.ts'
import { tellRefusals } from '#test/setup/refusals.ts'
import { bodyIn, itemTexts, MEDIA_TYPES, type MediaType, rowsOf, send } from './forms.ts'

// Runs on a server alone: what bodies may be is the same on both.
// In every run: what is refused of a batch.

const service = openService()

const FIELD = { lat: 9.5, lng: 38.5 }
const JSON_TYPE = 'application/json'
const GEOJSON = 'application/geo+json'
const NDJSON = 'application/x-ndjson'
const CSV = 'text/csv'

const OTHER_CRS =
  '{"type": "FeatureCollection", "crs": {"properties": {"name": "EPSG:32637"}}, "features": [0]}'

/** What makes a body one that cannot be read. */
const MALFORMED: Record<MediaType, (string | Buffer)[]> = {
  [JSON_TYPE]: ['{"points": [', '{"points": [{"__proto__": {"lat": 1}}]}', '{}', '{"points": {"length": 5}}'],
  [GEOJSON]: ['{"type": "Feature"}', '{"type": "FeatureCollection"}', OTHER_CRS],
  [NDJSON]: [],
  [CSV]: [
    'lat|lng\n1|2',
    'lat,LAT,lng\n1,1,2',
    'lat,lng\r\n1,2\r\n"3,4',
    'lat,lng\r\n"1"2,3',
    `lat,lng\n${'1,'.repeat(2000)}`,
  ],
}
const OF_ANY_TYPE = [Buffer.from([0x7b, 0xff, 0x7d]), 'lat,lng\n1,\0']

test('bodies that cannot be read are refused as a whole, as malformed.txt has it', async () => {
  const cases = MEDIA_TYPES.flatMap((type) =>
    [...MALFORMED[type], ...OF_ANY_TYPE].map((payload) => [type, payload] as const),
  )
  const ask = (type: string, payload: string | Buffer) =>
    service.post('/advisory/yield/points', { payload, headers: { 'content-type': type } })
  const told = await tellRefusals([
    ...cases.map(
      ([type, payload]) =>
        [`${type} ${JSON.stringify(String(payload)).slice(0, 80)}`, () => ask(type, payload)] as const,
    ),
    ['application/xml', () => ask('application/xml', 'lat=1')],
  ])
  await expect(told).toMatchFileSnapshot('malformed.txt')
})

async function refusal(type: string | undefined, payload: string | Buffer, query = '') {
  const response = await send(service.app, 'yield', { payload, ...(type && { type }), query })
  return { status: response.status, ...response.body }
}

describe('what holds for all points is refused as by the point endpoint', () => {
  test.each([
    ['?country_code=xx', FIELD],
    ['?crop=a&crop=b', FIELD],
    ['?country_code=rwa', { lat: -1.95, lng: 30.06 }],
    ['?forecast_period=2020-01', FIELD],
  ])('%s', async (query, body) => {
    const { status, body: refused } = await postPoint(service.app, 'yield', { query, body })
    for (const point of [FIELD, { lat: 'none of them valid' }]) {
      expect(await refusal(NDJSON, JSON.stringify(point), query)).toMatchObject({ status, ...refused })
    }
  })

  test('a JSON body says it, too, and wins', async () => {
    const body = JSON.stringify({ points: [FIELD], country_code: ' ETH ', crop: 'WHEAT' })
    expect((await ask(JSON_TYPE, body, JSON_TYPE, '?country_code=xx')).status).toBe(200)
    const refused = await refusal(JSON_TYPE, JSON.stringify({ points: [FIELD], crop: 5 }))
    expect(refused).toMatchObject({ status: 400, error: 'crop must be a string.' })
  })
})

describe('what is wrong with one point is its own error', () => {
  const POINTS = [
    '5',
    '{}',
    '{"lat":"9.5","lng":38.5}',
    '{"lat":9.5,"lng":1e400}',
    '{"lat":9.5,"lng":38.5,"name":"\\u0000"}',
    '{"lat":9.5,"lng":38.5,"id":[1]}',
    '{"lat":9.5,"lng":38.5,"id":9007199254740993e3}',
    `{"lat":9.5,"lng":38.5,"id":"${'x'.repeat(201)}"}`,
  ]
  const featureAt = (geometry: string) => `{"type":"Feature","id":4,"geometry":${geometry}}`
  const FEATURES = [
    '{"type":"Point","coordinates":[38.5,9.5]}',
    featureAt('null'),
    ...['"POINT"', '[]', '["38.5",null]', '[38.5,9.5,2100,true]'].map((coordinates) =>
      featureAt(`{"type":"Point","coordinates":${coordinates}}`),
    ),
  ]

  test('a point is refused by itself in JSON, as a line, as a Feature and as a row, as points.txt has it', async () => {
    const told: string[] = []
    for (const point of POINTS) {
      const item = await itemOf(JSON_TYPE, `{"points":[${point}]}`)
      expect(await itemOf(NDJSON, `${point}\r\n`)).toEqual(item)
      told.push(`${point.slice(0, 80)}\n  ${item.code}: ${item.error}`)
    }
    for (const feature of FEATURES) {
      const { id, code, error } = await itemOf(
        GEOJSON,
        `{"type":"FeatureCollection","features":[${feature}]}`,
      )
      told.push(`${feature}\n  ${id ?? 'no id'} ${code}: ${error}`)
    }
    const row = 'id,lat,lng\n7,9.5,38.5,oops'
    told.push(`${row.replace('\n', ' ')}\n  ${JSON.stringify(await itemOf(CSV, row))}`)
    await expect(`${told.join('\n')}\n`).toMatchFileSnapshot('points.txt')
  })

  test('a line that is not JSON', async () => {
    const payload = `{"lat":9.5,"lng":38.5}\n\n   {"lat":\n{"id":3,"lat":9.5,"lng":38.5}`
    const { text } = await send(service.app, 'yield', { payload, type: NDJSON })
    const [first, second, third] = itemTexts(NDJSON, text).map((item) => JSON.parse(item))
    expect(second).toEqual({
      error: 'The line is not valid JSON at column 11: close it with }.',
      code: 'MALFORMED_JSON',
    })
    expect(third).toEqual({ id: 3, ...first })
  })
})

describe('tables are read as programs write them', () => {
  test.each([
    ['with a byte order mark and CRLF', '\ufefflat,lng\r\n9.5,38.5\r\n'],
    ['with LF and without an end', 'lat,lng\n9.5,38.5'],
    ['with other names in any case', 'Latitude, LONGITUDE \n9.5,38.5'],
    ['with columns of others', 'x,lon,,lat\n1,38.5,"a\n""b""",9.5'],
    [
      'with columns that JavaScript knows',
      'constructor,toString,__proto__,constructor,lat,lng\n1,2,3,4,9.5,38.5',
    ],
    ['with quotes and spaces', '"lat","lng"\n" 9.5 ","38.5"'],
    ['with empty lines', '\n\nlat,lng\n\n9.5,38.5\n\n'],
    ['with empty cells', 'id,lat,lng,name\n,9.5,38.5,'],
  ])('%s', async (_, payload) => {
    const item = await itemOf(CSV, payload)
    expect(item.location).toEqual({ name: 'Point', ...FIELD, type: 'point' })
    expect(item).not.toHaveProperty('id')
  })
})

test.each([
  ['application/json; charset=utf-8', '{"points":[{"lat":9.5,"lng":38.5}]}'],
  ['Text/CSV; charset=UTF-8; header=present', 'lat,lng\n9.5,38.5'],
  ['application/geo+json;charset=utf-8', '{"type":"FeatureCollection","features":[0]}'],
])('a media type may have parameters: %s', async (type, payload) => {
  expect((await send(service.app, 'yield', { payload, type })).status).toBe(200)
})

describe('a point that is not valid is given back as it was sent', () => {
  const collectionOf = (features: unknown[]) => JSON.stringify({ type: 'FeatureCollection', features })

  test('with its id or name where its properties or geometry are none', async () => {
    const geometry = { type: 'Point', coordinates: [38.5, 9.5] }
    const line = { type: 'LineString', coordinates: [[1, 2]] }
    const body = collectionOf([
      { type: 'Feature', id: 0, geometry, properties: 6 },
      { type: 'Feature', id: 1, geometry, properties: [] },
      { type: 'Feature', id: 2, geometry, properties: null },
      { type: 'Feature', id: 3, geometry: line, properties: { name: 'a road' } },
      geometry,
    ])
    const error = 'properties must be an object or null.'
    expect(JSON.parse(await answer(GEOJSON, body, JSON_TYPE)).items).toMatchObject([
      { id: 0, error, code: 'INVALID_PARAMETERS' },
      { id: 1, error },
      { id: 2, location: { lat: 9.5, lng: 38.5 } },
      { id: 3, sent: { name: 'a road' }, error: 'geometry must be a Point.' },
      { error: 'type must be Feature.' },
    ])
  })

  test('with the cells as they were written, numbers and formulas among them', async () => {
    const table = 'id,name,lat,lng\n1,=A1,-91.50,+38.50\n2,x,=1+1,"-1,5"\n3,x, 9.5 ,\n5,a;=1+1,north,38.5'
    expect(rowsOf(await answer(CSV, table)).map(({ id, name, lat, lng }) => [id, name, lat, lng])).toEqual([
      ['1', "'=A1", '-91.50', '+38.50'],
      ['2', 'x', "'=1+1", "'-1,5"],
      ['3', 'x', ' 9.5 ', ''],
      ['5', "a;'=1+1", 'north', '38.5'],
    ])
  })

  test.each<[string, object | undefined]>([
    [`{"lat":"${'x'.repeat(200)}","lng":38.5}`, { lat: 'x'.repeat(200), lng: 38.5 }],
    [`{"lat":"${'x'.repeat(201)}","lng":38.5}`, { lng: 38.5 }],
    ['{"lat":true,"lng":false}', { lat: true, lng: false }],
    ['{"lat":{"deep":[]},"lng":[38.5],"name":null}', undefined],
    ['{"lat":9.5,"lng":38.5,"name":"\\u0000"}', { lat: 9.5, lng: 38.5 }],
    ['{"lat":1e400,"lng":-1e400,"name":"x"}', { name: 'x' }],
    ['"a text"', undefined],
  ])('without what is no text, number or boolean, or is long: %s', async (point, given) => {
    const item = await itemOf(NDJSON, point)
    expect([item.code, item.sent]).toEqual(['INVALID_PARAMETERS', given])
  })

  test('without a megabyte of text, in every form', async () => {
    const text = 'x'.repeat(1_000_000)
    const geometry = { type: 'Point', coordinates: [1, text] }
    const bodies: Record<MediaType, string> = {
      [JSON_TYPE]: JSON.stringify({ points: [{ lat: text, lng: 1 }] }),
      [NDJSON]: JSON.stringify({ lat: text, lng: 1 }),
      [CSV]: `lat,lng\n${text},1`,
      [GEOJSON]: collectionOf([{ type: 'Feature', properties: null, geometry }]),
    }
    for (const type of MEDIA_TYPES) {
      const body = await answer(type, bodies[type])
      expect(body).toContain('lat must be a number from -90 to 90.')
      expect(body.length).toBeLessThan(1000)
    }
  })
})

type Fields = Record<string, unknown>

/** A point with an answer, one with a reason for none, and one that is not valid. */
const POINTS = [
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

async function ask(type: MediaType, payload: string, accept: MediaType, query: string) {
  const { status, text } = await send(service.app, 'yield', { payload, type, accept, query })
  return { status: status, body: text }
}

function itemsIn(type: MediaType, body: string): Fields[] {
  if (type !== NDJSON) return JSON.parse(body)[type === JSON_TYPE ? 'items' : 'features']
  const lines = body.trimEnd().split('\n')
  return lines.map((line) => JSON.parse(line))
}

describe('what pass names comes back with the answers', () => {
  test.each([JSON_TYPE, NDJSON, GEOJSON] as const)(
    'in each form, where no formula runs: sent as %s',
    async (type) => {
      const payload = bodyIn(type, POINTS)
      const answerAs = async (accept: MediaType, query = '') => (await ask(type, payload, accept, query)).body
      const itemsOf = async (accept: MediaType, query = '') => itemsIn(accept, await answerAs(accept, query))
      for (const accept of [JSON_TYPE, NDJSON] as const) {
        const without = await itemsOf(accept)
        expect(await itemsOf(accept, `?pass=${NAMES}`)).toEqual(
          without.map((item, index) => ({ ...item, pass: PASSED[index] })),
        )
      }
      expect(await itemsOf(GEOJSON, `?pass=${NAMES}`)).toEqual(
        (await itemsOf(GEOJSON)).map((feature, index) => ({
          ...feature,
          properties: { ...(feature.properties as object), ...PASSED[index] },
        })),
      )
      const lines = (await answerAs(CSV)).trimEnd().split('\r\n')
      const cells = [NAMES, '1.25,"Amina ""A.""",true,', "-2,'=1+1,,", '0,,,']
      expect((await answerAs(CSV, `?pass=${NAMES}`)).trimEnd().split('\r\n')).toEqual(
        lines.map((line, index) => `${line},${cells[index]}`),
      )
    },
  )

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
      const { body } = await ask(JSON_TYPE, bodyIn(JSON_TYPE, POINTS, members), JSON_TYPE, query)
      return itemsIn(JSON_TYPE, body)[0]?.pass
    }
    expect(await passOf({ pass: ['farmer'] }, '?pass=area_ha')).toEqual({ farmer: 'Amina "A."' })
    expect(await passOf({ pass: null }, '?pass=area_ha')).toEqual({ area_ha: 1.25 })
    expect(await passOf({ pass: [] }, '?pass=area_ha')).toBeUndefined()
    expect(await passOf({}, '?pass=')).toBeUndefined()
  })

  test('of a product without seasons, and of points with members like those of every object', async () => {
    const { text } = await send(service.app, 'forage', {
      payload: '{"lat":-1,"lng":36.5,"__proto__":"p","toString":"t"}',
      type: NDJSON,
      query: '?country_code=ken&pass=__proto__,toString,valueOf',
    })
    expect(text.trimEnd()).toMatch(/,"pass":\{"__proto__":"p","toString":"t"\}\}$/)
    const feature = bodyIn(GEOJSON, [{ lat: 9.5, lng: 38.5 }])
    const [item] = itemsIn(NDJSON, (await ask(GEOJSON, feature, NDJSON, '?pass=constructor')).body)
    expect(item).toMatchObject({ location: { lat: 9.5 }, pass: {} })
  })

  test('point by point of a long call', async () => {
    const points = Array.from({ length: 1000 }, (_, n) => ({ id: n, lat: n % 7 ? 9.5 : 'x', lng: 38.5, n }))
    const items = itemsIn(NDJSON, (await ask(NDJSON, bodyIn(NDJSON, points), NDJSON, '?pass=n')).body)
    expect(items.map(({ id, pass }) => [id, pass])).toEqual(points.map(({ n }) => [n, { n }]))
  })
})

test.each<[string, unknown]>([
  ['an object', { a: 1 }],
  ['a long text', 'x'.repeat(1001)],
  ['a number beyond those that are exact', 2 ** 60],
])('what cannot be passed refuses its point alone: %s', async (_, plot) => {
  const point = { id: 7, lat: 9.5, lng: 38.5, farmer: 'Amina' }
  const longest = { ...point, plot: 'x'.repeat(1000) }
  const payload = bodyIn(NDJSON, [{ ...point, plot }, longest])
  const [refused, answered] = itemsIn(NDJSON, (await ask(NDJSON, payload, NDJSON, '?pass=plot,farmer')).body)
  const rule =
    'must be a text of at most 1000 characters, a number from -9007199254740991 to 9007199254740991, true, false or null to be passed'
  expect(refused).toEqual({
    ...{ id: 7, sent: { lat: 9.5, lng: 38.5 }, error: `plot ${rule}.`, code: 'INVALID_PARAMETERS' },
    details: [{ field: 'plot', message: `plot ${rule}` }],
    pass: { farmer: 'Amina' },
  })
  expect(answered?.pass).toEqual({ plot: longest.plot, farmer: 'Amina' })
})

const PASSED_OF_TABLE: [table: string, names: string[]][] = [
  [
    'id,Name,lat,lng,ERROR,yield_kg_ha Normal\n1,x,9.5,38.5,a,d',
    ['id', 'Name', 'ERROR', 'yield_kg_ha Normal'],
  ],
  ['lat,lng,farmer,x,x\n9.5,38.5,a,b,c', ['famer', 'x']],
]
const PASSED_OF_JSON: unknown[] = [
  [5],
  ['a', 'a'],
  Array.from({ length: 21 }, (_, index) => `c${index}`),
  ['ERROR'],
]

test('what pass must not name is refused, as pass.txt has it', async () => {
  const post = (type: MediaType, payload: string, query = '') =>
    service.post(`/advisory/yield/points${query}`, { payload, headers: { 'content-type': type } })
  const told = await tellRefusals([
    ...PASSED_OF_TABLE.flatMap(([table, names]) =>
      names.map(
        (name) => [`a table, ${name}`, () => post(CSV, table, `?pass=${encodeURIComponent(name)}`)] as const,
      ),
    ),
    ...PASSED_OF_JSON.map(
      (pass) => [JSON.stringify(pass), () => post(JSON_TYPE, bodyIn(JSON_TYPE, POINTS, { pass }))] as const,
    ),
  ])
  await expect(told).toMatchFileSnapshot('pass.txt')
})

async function answer(type: MediaType, payload: string, accept: MediaType = type): Promise<string> {
  const { status, text } = await send(service.app, 'yield', { payload, type, accept })
  expect(status, text).toBe(200)
  return text
}

const itemOf = async (type: MediaType, payload: string) => JSON.parse(await answer(type, payload, NDJSON))
