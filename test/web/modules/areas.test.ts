import { expect, onTestFinished, test, vi } from 'vitest'
import type { Area, Position } from '../../../web/api-types.ts'
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

test('no area is there without an extension that gives them out', async () => {
  vi.stubGlobal('document', { querySelector: () => null })
  onTestFinished(() => {
    vi.unstubAllGlobals()
  })
  const boundaries = [{ country_code: 'eth', level: 0, areas: 1, approximate: false }]
  expect(await createAreas({ ...catalogOf([]), boundaries })('eth', 0)).toEqual([])
})
