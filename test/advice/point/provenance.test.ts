import { beforeAll, describe, expect, test } from 'vitest'
import type { Provenance } from '#schemas/advisory.ts'
import { loadRelease } from '#src/ingest/load.ts'
import type { Called, Sent } from '#test/setup/calls.ts'
import { openService } from '#test/setup/open-service.ts'
import { gridOf, layerOf, releaseDescription } from '#test/setup/releases.ts'

/** A grid in UTM 37N beside one in degrees, each with a layer; the numbers of pixels count up from the first. */
const UTM = gridOf(32637, [400_000, 1_060_000], [250, -500], [400, 200])
const DEGREES = gridOf(4326, [38, 10], [0.25, -0.5], [4, 2])

const service = openService({ template: 'empty' })
beforeAll(async () => {
  const { database } = service
  const coverage = (grid: typeof UTM, input: string, scale: number, offset: number) => ({
    grid,
    layers: [layerOf(input, { scale, offset, pixelType: '32BSI' })],
    windows: [{ column: 0, row: 0, width: grid.width, height: grid.height }],
    read: async () => [Int32Array.from({ length: grid.width * grid.height }, (_, index) => index)],
  })
  await loadRelease(database, {
    description: releaseDescription(),
    coverages: [coverage(UTM, 'Urea', 0.5, 1), coverage(DEGREES, 'DAP', 2, -10)],
  })
})

describe('of a release with a grid in metres and one in degrees', () => {
  // At 451209.77, 989386.89 in UTM, by `gdaltransform -s_srs EPSG:4326 -t_srs EPSG:32637`.
  const PLACE = { lng: 38.55617, lat: 8.9503 }

  test('each grid has the pixel that its layer was read from', async () => {
    const { body } = await ask(`lat=${PLACE.lat}&lng=${PLACE.lng}&provenance=true`)
    const [{ pixels, ...source }] = body.provenance as [Provenance]
    expect(source).toMatchObject({ source: 'A test', licence: 'CC0-1.0', checksum: 'a test' })
    // The other grid ends at 9 degrees.
    expect(pixels.map(({ srid }) => srid)).toEqual([32637])
    const [pixel] = pixels as [Provenance['pixels'][number]]
    const { column, row, centre } = pixel
    expect([column, row]).toEqual([204, 141])
    expect(centre).toMatchObject({ x: 451_125, y: 989_250 })
    expect(Math.abs(centre.lng - PLACE.lng)).toBeLessThan(0.0013)
    expect(Math.abs(centre.lat - PLACE.lat)).toBeLessThan(0.0025)
    expect(pixel.size).toEqual({ x: 250, y: 500, unit: 'metre' })
    const found = { input: 'Urea', scenario: 'Normal', raw: 56_604, scale: 0.5, offset: 1 }
    expect(pixel.layers).toEqual([{ layer: 2, ...found }])
    const entry = { fertilizer_type: 'Urea', scenario: 'Normal', rate_kg_ha: 28_303 }
    expect(body.fertilizer_data).toEqual([entry])
  })

  test('where both have a value, both say so, and 0 is a value', async () => {
    const { body } = await ask('lat=9.45&lng=38.3&provenance=true')
    expect(body.fertilizer_data).toEqual([
      { fertilizer_type: 'DAP', scenario: 'Normal', rate_kg_ha: 0 },
      { fertilizer_type: 'Urea', scenario: 'Normal', rate_kg_ha: expect.any(Number) },
    ])
    const [{ pixels }] = body.provenance as [Provenance]
    expect(pixels.map(({ srid }) => srid)).toEqual([32637, 4326])
    expect(pixels[1]).toEqual({
      srid: 4326,
      column: 1,
      row: 1,
      centre: { x: 38.375, y: 9.25, lng: 38.375, lat: 9.25 },
      size: { x: 0.25, y: 0.5, unit: 'degree' },
      layers: [
        { layer: expect.any(Number), input: 'DAP', scenario: 'Normal', raw: 5, scale: 2, offset: -10 },
      ],
    })
  })

  test('a point outside of both has no data: without an outline nothing says that it lies elsewhere', async () => {
    for (const place of ['lat=9.5&lng=41', 'lat=-90&lng=-180']) {
      const { status, body } = await get(place)
      expect([status, body.code]).toEqual([404, 'NO_DATA'])
    }
  })
})

const QUERY = 'lat=9.45&lng=38.3'
const PREFERRED = { headers: { prefer: 'return=provenance' } }

test('it is told where it is asked for, and has a tag of its own', async () => {
  const plain = await ask(QUERY)
  expect(plain.body).not.toHaveProperty('provenance')
  expect((await ask(`${QUERY}&provenance=false`)).body).toEqual(plain.body)
  const asked = await ask(`${QUERY}&provenance=true`)
  const { provenance, ...rest } = asked.body
  expect(rest).toEqual(plain.body)
  expect(provenance).toHaveLength(1)
  expect(asked.headers.etag).not.toBe(plain.headers.etag)
  const wrong = await get(`${QUERY}&provenance=yes`)
  expect(wrong.body).toMatchObject({ code: 'INVALID_PARAMETERS', error: 'provenance must be a boolean.' })
})

test('it can be preferred, and is in no shared cache then', async () => {
  const preferred = await ask(QUERY, PREFERRED)
  expect(preferred.body).toEqual((await ask(`${QUERY}&provenance=true`)).body)
  expect(preferred.headers).toMatchObject({
    'preference-applied': 'return=provenance',
    'cache-control': 'no-store',
  })
  const posted = await service.post(`/advisory/point?${QUERY}`, PREFERRED)
  expect(posted.body.provenance).toEqual(preferred.body.provenance)
})

test.each([
  ['fertilizer/points?provenance=true', { points: [{ lat: 9.45, lng: 38.3 }] }],
  ['fertilizer', { admin: { country_code: 'eth', code: 'ETH-01' }, provenance: true }],
  ['fertilizer/polygons?provenance=true', { admin: { country_code: 'eth', level: 1 } }],
])('where many pixels answer it is refused: %s', async (path, payload) => {
  const { status, body } = await service.post(`/advisory/${path}`, { by: service.person, payload })
  const error = 'provenance must be left out: only the answer for one point has it.'
  expect([status, body.error]).toEqual([400, error])
})

test('a table refuses it, and a preference for it is none there', async () => {
  const refused = await get(`${QUERY}&format=csv&provenance=true`)
  expect([refused.status, refused.body.details[0].field]).toEqual([400, 'provenance'])
  const table = await get(`${QUERY}&format=csv`, PREFERRED)
  expect([table.status, table.headers['preference-applied']]).toEqual([200, undefined])
})

test('it is recorded with the answer, and the request says so', async () => {
  const { person: by } = service
  const { history_id, ...answer } = (await get(QUERY, { by, ...PREFERRED })).body
  const { body: item } = await service.get(`/history/${history_id}`, { by })
  expect(item).toMatchObject({ request: { provenance: true } })
  expect(item.answer).toEqual(answer)
})

interface Answer {
  release: string
  fertilizer_data: { fertilizer_type: string; rate_kg_ha: number }[]
  provenance: Provenance[]
}

const get = (query: string, sent?: Sent) => service.get(`/advisory/fertilizer/point?${query}`, sent)

async function ask(query: string, sent?: Sent): Promise<Called & { body: Answer }> {
  const answer = await get(query, sent)
  expect(answer.status, answer.text).toBe(200)
  return answer
}
