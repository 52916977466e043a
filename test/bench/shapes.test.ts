import type { Polygon } from 'geojson'
import { expect, test } from 'vitest'
import { boundaryKm, hectareAround, star } from '#bench/rasters/shapes.ts'

const EARTH_RADIUS_KM = 6371

/** On a sphere of equal area: the strip between an edge and the equator, summed over the edges. */
function areaKm2({ coordinates: [ring = []] }: Polygon): number {
  const radians = (degrees = 0) => (degrees * Math.PI) / 180
  const strips = ring.slice(1).map(([lng, lat], index) => {
    const [fromLng, fromLat] = ring[index] ?? []
    const sines = (Math.sin(radians(lat)) + Math.sin(radians(fromLat))) / 2
    return (radians(lng) - radians(fromLng)) * sines
  })
  return Math.abs(strips.reduce((a, b) => a + b)) * EARTH_RADIUS_KM ** 2
}

test.each([
  { lat: 0, lng: 0 },
  { lat: 9.5, lng: 38.5 },
  { lat: -45, lng: 179 },
])('a hectare around $lat, $lng is one to within one part in a hundred', (point) => {
  const square = hectareAround(point)
  expect(areaKm2(square) * 100).toBeGreaterThan(0.99)
  expect(areaKm2(square) * 100).toBeLessThan(1.01)
  expect(boundaryKm(square)).toBeCloseTo(0.4, 2)
})

test('more spikes make a star’s boundary longer and hardly change its area', () => {
  const [few, many] = [star({ lat: 10, lng: 38 }, 1, 8), star({ lat: 10, lng: 38 }, 1, 128)]
  expect(many.coordinates[0]).toHaveLength(2 * 128 + 1)
  expect(areaKm2(many) / areaKm2(few)).toBeCloseTo(1, 1)
  expect(boundaryKm(many) / boundaryKm(few)).toBeGreaterThan(10)
})

test('a star twice as large has four times the area, and its ring is closed', () => {
  const [small, large] = [star({ lat: 0, lng: 38 }, 0.5, 8), star({ lat: 0, lng: 38 }, 1, 8)]
  expect(areaKm2(large) / areaKm2(small)).toBeCloseTo(4, 2)
  expect(large.coordinates[0]?.at(-1)).toEqual(large.coordinates[0]?.[0])
})
