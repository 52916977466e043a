import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createTestApp, type TestApp } from '#test/setup/app.ts'
import { MEDIA_TYPES, type MediaType, rowsOf, send } from './forms.ts'

// Runs on a server alone: what bodies may be is the same on both.

let service: TestApp
beforeAll(async () => {
  service = await createTestApp()
})
afterAll(() => service.close())

const JSON_TYPE = 'application/json'
const NDJSON = 'application/x-ndjson'
const CSV = 'text/csv'
const GEOJSON = 'application/geo+json'

async function answer(type: MediaType, payload: string, accept: MediaType = type): Promise<string> {
  const { statusCode, body } = await send(service.app, 'yield', { payload, type, accept })
  expect(statusCode, body).toBe(200)
  return body
}

const itemOf = async (point: unknown) => JSON.parse(await answer(NDJSON, JSON.stringify(point)))

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
    expect(await itemOf(POINT)).toEqual({ id, sent, ...REASON })
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
    const item = await itemOf(point)
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
