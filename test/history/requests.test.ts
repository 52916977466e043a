import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createTestAppWithPerson, type TestAppWithPerson } from '#test/setup/people.ts'
import { SQUARE } from '#test/setup/square.ts'
import { advise, history } from './advisories.ts'

let service: TestAppWithPerson
beforeAll(async () => {
  service = await createTestAppWithPerson()
})
afterAll(() => service.close())

/** What a request may carry along and no answer needs. */
const BALLAST = 'x'.repeat(50_000)

const polygon = { ...SQUARE, bbox: [38.5, 9.5, 38.6, 9.6], note: BALLAST }
const feature = (geometry: object) => ({
  type: 'Feature',
  id: BALLAST,
  geometry,
  properties: { note: BALLAST },
})

/** The ring with a height and a measure at each position. */
const inMetres = SQUARE.coordinates.map((ring) => ring.map((position) => [...position, 2400, 7]))

/** Asks within a polygon or an area, and gives back what the history has of the request. */
async function keptOf(payload: object, query = '') {
  const { person } = service
  const response = await advise(service, person, `yield${query}`, payload)
  expect(response.statusCode, response.body).toBe(200)
  const { history_id: id } = response.json()
  const { bytes } = await service.database.writer
    .selectFrom('advisory_history')
    .select('bytes')
    .where('id', '=', id)
    .executeTakeFirstOrThrow()
  return { request: (await history(service, person, id)).json().request, bytes }
}

describe('of a request the history keeps', () => {
  test.each([
    ['a polygon with foreign members', { geometry: polygon }],
    ['a Feature with properties', { geometry: feature(polygon) }],
    ['a Feature as the body', feature(polygon)],
    ['a FeatureCollection', { type: 'FeatureCollection', features: [feature(polygon)], note: BALLAST }],
    ['heights and measures', { geometry: { type: 'Polygon', coordinates: inMetres } }],
    ['parameters that nobody knows', { geometry: SQUARE, note: BALLAST }],
  ])('the type and the longitudes and latitudes alone: %s', async (_, payload) => {
    const { request, bytes } = await keptOf(payload)
    expect(request).toEqual({ geometry: SQUARE })
    expect(bytes).toBeLessThan(2000)
  })

  const multi = { type: 'MultiPolygon', coordinates: [SQUARE.coordinates] }
  const parameters = { crop: 'Wheat', country_code: 'ETH', name: 'Plot', forecast_period: 'July 2026' }
  const named = { type: 'Feature', geometry: SQUARE, properties: { name: 'North field', note: BALLAST } }
  const [west, south] = [38.512345678901234, 9.5000000000000018]
  const ring = [
    [west, south],
    [38.6, south],
    [38.6, 9.6],
    [west, 9.6],
    [west, south],
  ]
  const exact = { geometry: { type: 'Polygon', coordinates: [ring] } }

  test.each([
    [
      'all parameters, and a MultiPolygon as one',
      { geometry: feature(multi), ...parameters },
      '',
      { geometry: multi, ...parameters },
    ],
    [
      'the name that a Feature gives',
      named,
      '?crop=wheat',
      { geometry: SQUARE, crop: 'wheat', name: 'North field' },
    ],
    ['every digit of the coordinates', exact, '', exact],
  ])('%s', async (_, payload, query, expected) => {
    expect((await keptOf(payload, query)).request).toEqual(expected)
  })

  test.each([
    [{ country_code: 'ETH', code: ' ETH-01 ' }],
    [{ country_code: 'eth', code: 'ETH-01', level: 1 }],
  ])('which administrative area it was about: %j', async (admin) => {
    const { request, bytes } = await keptOf({ admin: { ...admin, note: BALLAST } })
    expect(request).toEqual({ admin })
    expect(bytes).toBeLessThan(2000)
  })
})
