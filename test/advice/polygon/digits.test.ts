import { afterAll, beforeAll, expect, test } from 'vitest'
import { createTestAppWithPerson, type TestAppWithPerson } from '#test/setup/people.ts'
import { askWithin } from './ask.ts'

let service: TestAppWithPerson
beforeAll(async () => {
  service = await createTestAppWithPerson()
})
afterAll(() => service.close())

const ask = (payload: object) => askWithin(service.app, service.person, 'fertilizer', payload)

/** A triangle whose inner point and area end in no decimals. */
const triangle = (size: number) => ({
  type: 'Polygon',
  coordinates: [
    [
      [38.5, 9.5],
      [38.5 + size, 9.5],
      [38.5 + size / 3, 9.5 + size / 7],
      [38.5, 9.5],
    ],
  ],
})

/** How many decimals a number is written with. */
const decimalsOf = (value: number) => String(value).split('.')[1]?.length ?? 0

test.each([
  ['a polygon', { geometry: triangle(0.1) }],
  ['an area', { admin: { country_code: 'eth', code: 'ETH-02' } }],
])('the numbers of %s have the digits that mean something', async (_, payload) => {
  const { status, body } = await ask(payload)
  expect(status).toBe(200)
  const { lat, lng, area_ha } = body.location
  for (const degrees of [lat, lng]) expect(decimalsOf(degrees)).toBeLessThanOrEqual(7)
  expect(decimalsOf(area_ha)).toBeLessThanOrEqual(4)
  for (const entry of body.fertilizer_data) {
    expect(decimalsOf(entry.total_kg)).toBeLessThanOrEqual(4)
    expect(decimalsOf(entry.covered_percent)).toBeLessThanOrEqual(4)
  }
})

test('what a square decimetre comes to is not 0', async () => {
  const { status, body } = await ask({ geometry: triangle(5e-6) })
  expect(status).toBe(200)
  const { area_ha } = body.location
  // Half of base and height, with degrees of 109,789 m of longitude and 110,604 m of latitude.
  const expected = (5e-6 * 109_789 * ((5e-6 / 7) * 110_604)) / 2 / 10_000
  expect(area_ha / expected).toBeCloseTo(1, 2)
  const [entry] = body.fertilizer_data
  expect(entry.total_kg / (entry.rate_kg_ha * area_ha)).toBeCloseTo(1, 1)
})

test('the position in a refusal has them, too', async () => {
  const { status, body } = await ask({
    geometry: {
      type: 'Polygon',
      coordinates: [
        [
          [38.5, 9.5],
          [38.6, 9.57],
          [38.6, 9.51],
          [38.5, 9.53],
          [38.5, 9.5],
        ],
      ],
    },
  })
  expect(status).toBe(400)
  expect(body.error).toBe(
    'geometry crosses itself or another of its rings, at longitude 38.5333333, latitude 9.5233333.',
  )
})
