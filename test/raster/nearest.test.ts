import { describe, expect, test } from 'vitest'
import { BoxTree, geodesicLength, nearestOnSphere, onSphere } from '#src/raster/rings.ts'
import { randomNumbers } from '#test/advice/polygon/shapes.ts'

describe('a tree of boxes', () => {
  test.each([0, 1, 15, 16, 17, 300, 5000])('of %i finds those nearest to a position', (count) => {
    const random = randomNumbers(count + 1)
    const boxes = Array.from({ length: count }, () => {
      const [west, south] = [360 * random() - 180, 180 * random() - 90]
      return { west, south, east: west + 3 * random(), north: south + 3 * random() }
    })
    const tree = new BoxTree(boxes)
    for (let asked = 0; asked < 50; asked++) {
      const [x, y] = [360 * random() - 180, 180 * random() - 90]
      const distances = boxes.map(
        ({ west, south, east, north }) =>
          Math.max(west - x, 0, x - east) ** 2 + Math.max(south - y, 0, y - north) ** 2,
      )
      const sorted = [...distances].sort((a, b) => a - b)
      const squaredDistanceTo = (item: number) => distances[item] as number
      const found = tree.nearest(x, y, 20, 0, squaredDistanceTo)
      expect(found.map(({ squaredDistance }) => squaredDistance)).toEqual(sorted.slice(0, 20))
      expect(found.map(({ item }) => distances[item])).toEqual(sorted.slice(0, 20))
      expect(tree.isInAny(x, y, 0)).toBe(sorted[0] === 0)
    }
  })

  test('finds all that are as near as the last one of those that are wanted', () => {
    const tree = new BoxTree([1, 2, 2, 2.5, 4].map((at) => ({ west: at, south: 0, east: at + 1, north: 1 })))
    const nearest = (count: number, margin: number) =>
      tree
        .nearest(0, 0.5, count, margin, (item) => ([1, 2, 2, 2.5, 4][item] as number) ** 2)
        .map(({ item }) => item)
    expect(nearest(1, 0)).toEqual([0])
    expect(nearest(2, 0).sort()).toEqual([0, 1, 2])
    expect(nearest(2, 0.6).sort()).toEqual([0, 1, 2, 3])
    expect(nearest(9, 0).sort()).toEqual([0, 1, 2, 3, 4])
  })
})

/** By PostGIS 3.3.2 with PROJ 9.1.1: `ST_Distance` of points as geography, in metres. */
const LENGTHS: [from: [number, number], to: [number, number], metres: number][] = [
  [[30, -2], [30, -1.5], 55287.6591833],
  [[0, 0], [10, 0], 1113194.90793274],
  [[0, 0], [0, 89.9], 9990796.33147146],
  [[-0.2, 5], [0.123, 5.6], 75393.86405951],
  [[-170, 60], [38, 9], 11963966.32628792],
  [[179.9, -10], [-179.9, -10.1], 24556.57965288],
  [[38, 9], [38.000001, 9.000001], 0.15595973],
  [[33.5, 0.2], [-120, -40], 14849241.59060958],
  [[0, 0.3], [179.8, -0.1], 19979050.31911034],
  [[0, 0], [180, 0], 20003931.45862545],
]

const positionOf = ([longitude, latitude]: [number, number]) => ({ longitude, latitude })

describe('a geodesic', () => {
  test.each(LENGTHS)('from %j to %j is as long as PostGIS says', (from, to, metres) => {
    const length = geodesicLength(positionOf(from), positionOf(to))
    expect(length).toBeCloseTo(metres, 3)
  })

  test('to where it begins has no length', () => {
    expect(geodesicLength(positionOf([30, 40]), positionOf([30, 40]))).toBe(0)
  })
})

test('the nearest position of an outline lies on an edge or is a corner, by great circles', () => {
  const ring = onSphere(Float64Array.of(10, 0, 20, 0, 20, 10, 10, 10, 10, 0))
  const nearest = (longitude: number, latitude: number) => nearestOnSphere([ring], { longitude, latitude })
  const below = nearest(15, -5)
  expect([below.longitude, below.latitude, below.angle]).toEqual([
    expect.closeTo(15, 12),
    expect.closeTo(0, 12),
    expect.closeTo((5 * Math.PI) / 180, 14),
  ])
  const corner = nearest(25, -5)
  expect([corner.longitude, corner.latitude]).toEqual([expect.closeTo(20, 12), expect.closeTo(0, 12)])
  // The great circle between two positions at 10 degrees north bends towards the pole.
  expect(nearest(15, 30).latitude).toBeGreaterThan(10.03)
})
