import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import type { Area, Catalog, Position } from '../../../web/api-types.ts'
import { boundsOf, contains, createAreas, pixelAt, placeInside } from '../../../web/geo/areas.ts'
import { catalogOf } from './catalog.ts'

function areaOf(name: string, level: number, ...polygons: Position[][][]): Area {
  const geometry = { type: 'MultiPolygon' as const, coordinates: polygons }
  return { code: name, name, level, country_code: 'eth', parent: null, geometry }
}

const rectangle = (west: number, south: number, east: number, north: number): Position[] => [
  [west, south],
  [east, south],
  [east, north],
  [west, north],
  [west, south],
]

/** Two squares, the second of which has a hole in its middle. */
const TWO = areaOf('Two', 1, [rectangle(0, 0, 1, 1)], [rectangle(2, 0, 6, 4), rectangle(3, 1, 5, 3)])

test.each([
  [0.5, 0.5, true],
  [2, 2.5, true],
  [2, 4, false],
  [0.5, 1.5, false],
  [5, 3, false],
])('latitude %d, longitude %d is in an area of two parts with a hole: %s', (lat, lng, inside) => {
  expect(contains(TWO, { lat, lng })).toBe(inside)
})

test('a place that stands for an area lies in it, also where its middle does not', () => {
  const place = placeInside(TWO)
  expect(contains(TWO, place)).toBe(true)
  expect(boundsOf(TWO)).toEqual([0, 0, 6, 4])
})

test('the outline of a pixel is that of the grid around the place', () => {
  const resolution = { metres_x: null, metres_y: null }
  const grid = {
    srid: 4326,
    width: 4,
    height: 2,
    resolution,
    extent: [10, 0, 12, 1] as [number, number, number, number],
  }
  expect(pixelAt([grid], { lat: 0.9, lng: 11.2 })).toEqual(rectangle(11, 0.5, 11.5, 1))
  expect(pixelAt([grid], { lat: 0.9, lng: 12.2 })).toBeUndefined()
  expect(pixelAt([{ ...grid, srid: 32637 }], { lat: 0.9, lng: 11.2 })).toBeUndefined()
})

describe('areas are asked for', () => {
  let answers: Response[]

  beforeEach(() => {
    vi.useFakeTimers()
    vi.stubGlobal('document', { baseURI: 'http://service.test/' })
    vi.stubGlobal('fetch', async () => answers.shift() ?? Response.error())
  })
  afterEach(() => {
    vi.useRealTimers()
    vi.unstubAllGlobals()
  })

  const boundaries = [{ country_code: 'eth', level: 0, areas: 1 }] as Catalog['boundaries']
  const busy = (headers = {}) => Response.json({ error: 'Busy.' }, { status: 503, headers })

  test('again where the service is busy, when it says or later each time', async () => {
    const { geometry, ...properties } = TWO
    answers = [busy({ 'retry-after': '4' }), busy(), Response.json({ features: [{ geometry, properties }] })]
    const began = Date.now()
    const areas = createAreas({ ...catalogOf([]), boundaries })('eth', 0)
    await vi.runAllTimersAsync()
    expect([await areas, Date.now() - began]).toEqual([[TWO], 6000])
  })

  test('not for ever', async () => {
    answers = Array.from({ length: 10 }, () => busy())
    const areas = createAreas({ ...catalogOf([]), boundaries })('eth', 0)
    const refused = expect(areas).rejects.toThrow('Busy.')
    await vi.runAllTimersAsync()
    await refused
    expect(answers).toHaveLength(5)
  })
})
