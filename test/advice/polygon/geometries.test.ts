import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createTestAppWithPerson, type TestAppWithPerson } from '#test/setup/people.ts'
import { askWithin } from './ask.ts'
import { FIELD, polygon, REFUSED, square } from './refused-geometries.ts'

let service: TestAppWithPerson
beforeAll(async () => {
  service = await createTestAppWithPerson()
})
afterAll(() => service.close())

const ask = (payload: object) => askWithin(service.app, service.person, 'yield', payload)

describe('a geometry is refused with its place and what is wrong with it', () => {
  test.each(REFUSED)('%s', async (_, geometry, field, rule) => {
    const { status, body } = await ask({ geometry })
    const message = `${field} ${rule}`
    expect([status, body]).toEqual([
      400,
      {
        error: `${message}.`,
        code: 'INVALID_GEOMETRY',
        details: [{ field, message }],
        request_id: expect.any(String),
      },
    ])
  })

  test('of more than 10,000 vertices', async () => {
    const ring = Array.from({ length: 10_000 }, (_, index) => [
      38 + Math.cos(index / 1600) / 10,
      9 + Math.sin(index / 1600) / 10,
    ])
    const { status, body } = await ask({ geometry: polygon([...ring, ring[0]]) })
    expect([status, body.code]).toEqual([400, 'INVALID_GEOMETRY'])
    expect(body.error).toContain('at most 10000 vertices')
  })

  test('of more bytes than the limit', async () => {
    const { status, body } = await ask({ geometry: polygon(FIELD), padding: 'x'.repeat(1_048_577) })
    expect([status, body.code]).toEqual([413, 'BODY_TOO_LARGE'])
  })

  test('outside of all countries', async () => {
    const { status, body } = await ask({ geometry: polygon(square(-60, -20, 1)) })
    expect([status, body.code]).toEqual([404, 'OUTSIDE_COUNTRY'])
    expect(body.error).toBe(
      'The polygon lies outside the countries of the service (Ethiopia, Ghana, Kenya, Rwanda).',
    )
  })

  test('in another country, which is named', async () => {
    const { status, body } = await ask({ geometry: polygon(square(36.5, -1, 0.1)), country_code: 'eth' })
    expect([status, body.code]).toEqual([404, 'OUTSIDE_COUNTRY'])
    expect(body.error).toContain('The polygon at latitude')
    expect(body.error).toContain('lies in Kenya, not in Ethiopia')
  })
})

describe('a polygon is taken as it is', () => {
  test('with heights, as a Feature, either way round, or as a MultiPolygon: the answer is the same', async () => {
    const expected = (await ask({ geometry: polygon(FIELD) })).body.yield_data
    expect(expected).toHaveLength(4)
    for (const geometry of [
      polygon(FIELD.map(([x, y]) => [x, y, 2400])),
      polygon(FIELD.toReversed()),
      { type: 'MultiPolygon', coordinates: [[FIELD]] },
      { type: 'Feature', properties: { name: 'x' }, geometry: polygon(FIELD) },
    ]) {
      expect((await ask({ geometry })).body.yield_data).toEqual(expected)
    }
  })

  test('around the whole world, of which the country is a part', async () => {
    const world = polygon([
      [-180, -90],
      [180, -90],
      [180, 90],
      [-180, 90],
      [-180, -90],
    ])
    const { status, body } = await ask({ geometry: world })
    expect(status).toBe(200)
    expect(body.location.area_ha / 51_006_562_172.4).toBeCloseTo(1, 9)
  })
})
