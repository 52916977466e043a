import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createTestApp, type TestApp } from '#test/setup/app.ts'
import { itemTexts, MEDIA_TYPES, type MediaType, rowsOf, send } from './forms.ts'

// Runs on a server alone: what bodies may be is the same on both.

let service: TestApp
beforeAll(async () => {
  service = await createTestApp()
})
afterAll(() => service.close())

const FIELD = { lat: 9.5, lng: 38.5 }
const JSON_TYPE = 'application/json'
const GEOJSON = 'application/geo+json'
const NDJSON = 'application/x-ndjson'
const CSV = 'text/csv'

async function refusal(type: string | undefined, payload: string | Buffer, query = '') {
  const response = await send(service.app, 'yield', { payload, ...(type && { type }), query })
  return { status: response.statusCode, ...response.json() }
}

/** What is said about the one point of a call. */
async function itemOf(type: MediaType, payload: string) {
  const response = await send(service.app, 'yield', { payload, type, accept: NDJSON })
  expect(response.statusCode, response.body).toBe(200)
  return JSON.parse(response.body)
}

describe('a body that cannot be read is refused as a whole', () => {
  const MALFORMED: [MediaType, string | Buffer, string, string][] = [
    [JSON_TYPE, '{"points": [', 'MALFORMED_JSON', 'The body is not valid JSON.'],
    [JSON_TYPE, '{"points": [{"__proto__": {"lat": 1}}]}', 'MALFORMED_JSON', 'The body is not valid JSON.'],
    [JSON_TYPE, '[]', 'INVALID_PARAMETERS', 'The body must be a JSON object.'],
    [JSON_TYPE, '{}', 'INVALID_PARAMETERS', 'points is required.'],
    [JSON_TYPE, '{"points": {"length": 5}}', 'INVALID_PARAMETERS', 'points must be an array.'],
    [GEOJSON, '{"type": "Feature"}', 'INVALID_PARAMETERS', 'type must be FeatureCollection.'],
    [GEOJSON, '{"type": "FeatureCollection"}', 'INVALID_PARAMETERS', 'features is required.'],
    [
      GEOJSON,
      '{"type": "FeatureCollection", "crs": {"properties": {"name": "EPSG:32637"}}, "features": [0]}',
      'INVALID_PARAMETERS',
      'crs must be left out: GeoJSON coordinates are longitude and latitude in WGS 84.',
    ],
    [
      GEOJSON,
      '{"type": "FeatureCollection", "crs": {"properties": {"name": {"toString": 1}}}, "features": [0]}',
      'INVALID_PARAMETERS',
      'crs must be left out: GeoJSON coordinates are longitude and latitude in WGS 84.',
    ],
    [CSV, 'a,b\n1,2', 'MALFORMED_BODY', 'The first line must name the columns, lat and lng among them.'],
    [
      CSV,
      'lat;lng\n1;2',
      'MALFORMED_BODY',
      'The first line must name the columns, lat and lng among them. Cells are separated by commas.',
    ],
    [CSV, 'lat,LAT,lng\n1,1,2', 'MALFORMED_BODY', 'The first line names more than one column for lat.'],
    [
      CSV,
      'lat,lng\r\n1,2\r\n"3,4',
      'MALFORMED_BODY',
      'The body is not valid CSV: on line 3 a quote is opened and never closed.',
    ],
    [
      CSV,
      'lat,lng\r\n"1"2,3',
      'MALFORMED_BODY',
      'The body is not valid CSV: on line 2 text follows a closing quote.',
    ],
    [
      CSV,
      `lat,lng\n${','.repeat(2000)}`,
      'MALFORMED_BODY',
      'The body is not valid CSV: on line 2 there are more than 1000 cells.',
    ],
    ...MEDIA_TYPES.flatMap((type): [MediaType, string | Buffer, string, string][] => [
      [type, Buffer.from([0x7b, 0xff, 0x7d]), 'MALFORMED_BODY', 'The body is not valid UTF-8.'],
      [type, Buffer.from([0xed, 0xa0, 0x80]), 'MALFORMED_BODY', 'The body is not valid UTF-8.'],
      [type, 'lat,lng\n1,\0', 'MALFORMED_BODY', 'The body contains NUL characters.'],
    ]),
  ]
  test.each(MALFORMED)('%s %j', async (type, payload, code, error) => {
    expect(await refusal(type, payload)).toMatchObject({ status: 400, code, error })
  })

  test.each(['text/plain', 'application/x-www-form-urlencoded', 'application/xml'])('%s', async (type) => {
    const { status, code, error } = await refusal(type, 'lat=1')
    expect([status, code]).toEqual([415, 'UNSUPPORTED_MEDIA_TYPE'])
    expect(error).toBe(`Send the body as one of ${MEDIA_TYPES.join(', ')}.`)
  })
})

describe('what holds for all points is refused as by the point endpoint', () => {
  test.each([
    ['?country_code=xx', 400, 'INVALID_PARAMETERS', 'country_code must be one of eth, gha, ken, rwa.'],
    [
      '?forecast_period=July',
      400,
      'INVALID_PARAMETERS',
      'forecast_period must be a month such as 2026-07 or July 2026.',
    ],
    ['?crop=a&crop=b', 400, 'INVALID_PARAMETERS', 'crop must be given once.'],
    [
      '?country_code=rwa',
      400,
      'CROP_NOT_AVAILABLE',
      'The crop is not available for Rwanda; its crops are: potato.',
    ],
    [
      '?forecast_period=2020-01',
      404,
      'NO_RELEASE',
      'There are no yield predictions of wheat for Ethiopia in 2020-01; published are: 2026-07.',
    ],
  ])('%s', async (query, status, code, error) => {
    for (const point of [FIELD, { lat: 'none of them valid' }]) {
      expect(await refusal(NDJSON, JSON.stringify(point), query)).toMatchObject({ status, code, error })
    }
  })

  test('a JSON body says it, too, and wins', async () => {
    const body = JSON.stringify({ points: [FIELD], country_code: ' ETH ', crop: 'WHEAT' })
    const response = await send(service.app, 'yield', {
      payload: body,
      type: JSON_TYPE,
      query: '?country_code=xx',
    })
    expect(response.statusCode).toBe(200)
    expect(await refusal(JSON_TYPE, JSON.stringify({ points: [FIELD], crop: 5 }))).toMatchObject({
      status: 400,
      error: 'crop must be a string.',
    })
  })
})

describe('what is wrong with one point is its own error', () => {
  test.each([
    ['5', 'The point must be an object.'],
    ['null', 'The point must be an object.'],
    ['[9.5,38.5]', 'The point must be an object.'],
    ['{}', 'lat is required; lng is required.'],
    ['{"lat":"9.5","lng":38.5}', 'lat must be a number from -90 to 90.'],
    ['{"lat":9.5,"lng":1e400}', 'lng must be a number from -180 to 180.'],
    [
      '{"lat":9.5,"lng":38.5,"name":"\\u0000"}',
      'name must not contain NUL characters or unpaired surrogates.',
    ],
    [
      '{"lat":9.5,"lng":38.5,"name":"\\ud800"}',
      'name must not contain NUL characters or unpaired surrogates.',
    ],
    ['{"lat":9.5,"lng":38.5,"id":[1]}', 'id must be a string or a number.'],
    ['{"lat":9.5,"lng":38.5,"id":9007199254740993e3}', 'id must be a string or a number.'],
    [`{"lat":9.5,"lng":38.5,"id":"${'x'.repeat(201)}"}`, 'id must be at most 200 characters long.'],
  ])('%s', async (point, error) => {
    for (const [type, payload] of [
      [JSON_TYPE, `{"points":[${point}]}`],
      [NDJSON, `${point}\r\n`],
    ] as const) {
      expect(await itemOf(type, payload)).toMatchObject({ error, code: 'INVALID_PARAMETERS' })
    }
  })

  test('a line that is not JSON', async () => {
    const payload = `{"lat":9.5,"lng":38.5}\n\n{"lat":\n{"id":3,"lat":9.5,"lng":38.5}`
    const { body } = await send(service.app, 'yield', { payload, type: NDJSON })
    const [first, second, third] = itemTexts(NDJSON, body).map((item) => JSON.parse(item))
    expect(second).toEqual({ error: 'The line is not valid JSON.', code: 'MALFORMED_JSON' })
    expect(third).toEqual({ id: 3, ...first })
  })

  test('a row with more cells than columns keeps its id', async () => {
    expect(await itemOf(CSV, 'id,lat,lng\n7,9.5,38.5,oops')).toEqual({
      id: '7',
      sent: { lat: '9.5', lng: '38.5' },
      error: 'The row has 4 cells, and the first line names 3.',
      code: 'INVALID_PARAMETERS',
      details: [{ field: 'row', message: 'the row has 4 cells, and the first line names 3' }],
    })
  })

  test.each([
    ['{"type":"Point","coordinates":[38.5,9.5]}', 'type must be Feature.'],
    ['{"type":"Feature","id":4,"geometry":null}', 'geometry must be a Point.'],
    ['{"type":"Feature","id":4,"geometry":{"type":"Polygon","coordinates":[]}}', 'geometry must be a Point.'],
    [
      '{"type":"Feature","id":4,"geometry":{"type":"Point","coordinates":"POINT"}}',
      'geometry must be a Point.',
    ],
    [
      '{"type":"Feature","id":4,"geometry":{"type":"Point","coordinates":[]}}',
      'lat is required; lng is required.',
    ],
    [
      '{"type":"Feature","id":4,"geometry":{"type":"Point","coordinates":["38.5",null]}}',
      'lat must be a number from -90 to 90; lng must be a number from -180 to 180.',
    ],
    [
      '{"type":"Feature","id":4,"geometry":{"type":"Point","coordinates":[38.5,9.5,2100,true]}}',
      'geometry must be a Point with numbers as coordinates.',
    ],
  ])('%s', async (feature, error) => {
    const item = await itemOf(GEOJSON, `{"type":"FeatureCollection","features":[${feature}]}`)
    expect(item).toMatchObject({
      ...(feature.includes('id') && { id: 4 }),
      error,
      code: 'INVALID_PARAMETERS',
    })
  })

  test('names of 200 characters are right, however long they are in memory', async () => {
    const item = await itemOf(NDJSON, JSON.stringify({ ...FIELD, name: '🌾'.repeat(200) }))
    expect(item.location.name).toBe('🌾'.repeat(200))
    expect(await itemOf(NDJSON, JSON.stringify({ ...FIELD, name: '🌾'.repeat(201) }))).toMatchObject({
      error: 'name must be at most 200 characters long.',
    })
  })
})

describe('tables are read as programs write them', () => {
  test.each([
    ['with a byte order mark and CRLF', '\ufefflat,lng\r\n9.5,38.5\r\n'],
    ['with LF and without an end', 'lat,lng\n9.5,38.5'],
    ['with CR', 'lat,lng\r9.5,38.5\r'],
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
  expect((await send(service.app, 'yield', { payload, type })).statusCode).toBe(200)
})

test('no body whatever makes the service fail', async () => {
  const anything = fc.oneof(
    fc.string({ unit: 'binary', maxLength: 60 }),
    fc.json({ maxDepth: 4 }),
    fc
      .json({ maxDepth: 3 })
      .map((json) => `{"points":[${json}],"type":"FeatureCollection","features":[${json}]}`),
    fc.stringMatching(/^lat,lng(\r?\n[-0-9a.,"\s]{0,12}){0,5}$/),
  )
  await fc.assert(
    fc.asyncProperty(fc.constantFrom(...MEDIA_TYPES), anything, async (type, payload) => {
      const { statusCode, body } = await send(service.app, 'forage', { payload: Buffer.from(payload), type })
      expect([200, 400, 413], body).toContain(statusCode)
    }),
    { numRuns: 300 },
  )
})

async function answer(type: MediaType, payload: string, accept: MediaType = type): Promise<string> {
  const { statusCode, body } = await send(service.app, 'yield', { payload, type, accept })
  expect(statusCode, body).toBe(200)
  return body
}

const itemOfPoint = async (point: unknown) => JSON.parse(await answer(NDJSON, JSON.stringify(point)))

/** What is said of a point whose latitude is text. */
const REASON = {
  error: 'lat must be a number from -90 to 90.',
  code: 'INVALID_PARAMETERS',
  details: [{ field: 'lat', message: 'lat must be a number from -90 to 90' }],
}

describe('a point that is not valid is given back as it was sent', () => {
  const POINT = { id: 'A3', name: 'Lower field', lat: 'north', lng: 38.5 }
  const { id, ...sent } = POINT

  test('as an item of JSON and NDJSON', async () => {
    const body = JSON.parse(await answer(JSON_TYPE, JSON.stringify({ points: [POINT] })))
    expect(body.items).toEqual([{ id, sent, ...REASON }])
    expect(await itemOfPoint(POINT)).toEqual({ id, sent, ...REASON })
  })

  test('as a row', async () => {
    for (const [type, payload] of [
      [CSV, 'name,id,lat,lng\nLower field,A3,north,38.5'],
      [NDJSON, JSON.stringify(POINT)],
    ] as const) {
      expect(rowsOf(await answer(type, payload, CSV))).toMatchObject([
        { id, ...sent, lng: '38.5', 'yield_kg_ha Normal': '', error: REASON.error, code: REASON.code },
      ])
    }
  })

  test('as the properties of a Feature', async () => {
    const feature = {
      type: 'Feature',
      id,
      geometry: { type: 'Point', coordinates: [POINT.lng, POINT.lat] },
      properties: { name: POINT.name, owner: 'Amina' },
    }
    const { error, code } = REASON
    for (const [type, payload] of [
      [GEOJSON, JSON.stringify({ type: 'FeatureCollection', features: [feature] })],
      [NDJSON, JSON.stringify(POINT)],
    ] as const) {
      expect(JSON.parse(await answer(type, payload, GEOJSON)).features).toEqual([
        { type: 'Feature', id, geometry: null, properties: { ...sent, error, code } },
      ])
    }
  })

  test('with its id where its properties are none', async () => {
    const geometry = { type: 'Point', coordinates: [38.5, 9.5] }
    const features = [6, [], 'x', null, undefined].map((properties, id) => {
      return { type: 'Feature', id, geometry, properties }
    })
    const body = await answer(GEOJSON, JSON.stringify({ type: 'FeatureCollection', features }), JSON_TYPE)
    const { items } = JSON.parse(body)
    const refused = items.slice(0, 3).map(({ id, error, code }: Record<string, unknown>) => [id, error, code])
    const reason = ['properties must be an object or null.', 'INVALID_PARAMETERS']
    expect(refused).toEqual([0, 1, 2].map((id) => [id, ...reason]))
    expect(items.slice(3)).toMatchObject([3, 4].map((id) => ({ id, location: { lat: 9.5, lng: 38.5 } })))
  })

  test('with its name where the geometry is none of a point', async () => {
    const line = { type: 'LineString', coordinates: [[1, 2]] }
    const features = [
      { type: 'Feature', id: 4, geometry: line, properties: { name: 'a road' } },
      { type: 'Point', coordinates: [38.5, 9.5] },
    ]
    const body = await answer(GEOJSON, JSON.stringify({ type: 'FeatureCollection', features }), JSON_TYPE)
    expect(JSON.parse(body).items).toMatchObject([
      { id: 4, sent: { name: 'a road' }, error: 'geometry must be a Point.' },
      { error: 'type must be Feature.' },
    ])
  })

  test('with the cells as they were written, numbers and formulas among them', async () => {
    const table =
      'id,name,lat,lng\n1,=A1,-91.50,+38.50\n2,x,=1+1,"-1,5"\n3,x, 9.5 ,\n4,x,9.5,38.5,more\n5,a;=1+1,north,38.5'
    expect(rowsOf(await answer(CSV, table)).map(({ id, name, lat, lng }) => [id, name, lat, lng])).toEqual([
      ['1', "'=A1", '-91.50', '+38.50'],
      ['2', 'x', "'=1+1", "'-1,5"],
      ['3', 'x', ' 9.5 ', ''],
      ['4', 'x', '9.5', '38.5'],
      ['5', "a;'=1+1", 'north', '38.5'],
    ])
  })
})

describe('what is no text, number or boolean, or is long, is left out', () => {
  test.each<[unknown, object | undefined]>([
    [
      { lat: 'x'.repeat(200), lng: 38.5 },
      { lat: 'x'.repeat(200), lng: 38.5 },
    ],
    [{ lat: 'x'.repeat(201), lng: 38.5 }, { lng: 38.5 }],
    [
      { lat: true, lng: false },
      { lat: true, lng: false },
    ],
    [{ lat: { deep: [] }, lng: [38.5], name: null }, undefined],
    [
      { lat: 9.5, lng: 38.5, name: '\u0000' },
      { lat: 9.5, lng: 38.5 },
    ],
    [
      { lat: 9.5, lng: 38.5, name: 5 },
      { name: 5, lat: 9.5, lng: 38.5 },
    ],
    [
      { lat: 9.5, lng: 38.5, id: [1] },
      { lat: 9.5, lng: 38.5 },
    ],
    [{}, undefined],
    ['a text', undefined],
  ])('%j', async (point, sent) => {
    const item = await itemOfPoint(point)
    expect(item.code).toBe('INVALID_PARAMETERS')
    expect(item.sent).toEqual(sent)
  })

  test('a number that JSON can write and JavaScript cannot hold', async () => {
    const item = JSON.parse(await answer(NDJSON, '{"lat":1e400,"lng":-1e400,"name":"x"}'))
    expect(item.sent).toEqual({ name: 'x' })
  })

  test('a megabyte of text, in every form', async () => {
    const text = 'x'.repeat(1_000_000)
    const geometry = { type: 'Point', coordinates: [1, text] }
    const bodies: Record<MediaType, string> = {
      [JSON_TYPE]: JSON.stringify({ points: [{ lat: text, lng: 1 }] }),
      [NDJSON]: JSON.stringify({ lat: text, lng: 1 }),
      [CSV]: `lat,lng\n${text},1`,
      [GEOJSON]: JSON.stringify({
        type: 'FeatureCollection',
        features: [{ type: 'Feature', properties: null, geometry }],
      }),
    }
    for (const type of MEDIA_TYPES) {
      const body = await answer(type, bodies[type])
      expect(body).toContain(REASON.error)
      expect(body.length).toBeLessThan(1000)
    }
  })
})
