import { describe, expect, test } from 'vitest'
import { type Outline, toGeoJson, writeGeoJson, writeWkt } from '#src/advice/polygon/geometry.ts'
import { readWkt } from '#src/http/wkt.ts'
import type { Rings } from '#src/raster/rings.ts'

const ring = (vertices: number, size: number) =>
  Float64Array.from({ length: 2 * vertices }, (_, at) => size * Math.sin(at) * 10 ** -(at % 9))

const SHAPES: [name: string, polygons: Rings[]][] = [
  ['a field', [[ring(5, 38)]]],
  ['a field with holes', [[ring(5, 38), ring(4, 1), ring(4, 1e-9)]]],
  ['several, with negative zero and large exponents', [[ring(700, -0)], [ring(4, 1e21), ring(1300, 1)]]],
  ['the most vertices', [[ring(10_000, 38)]]],
]

describe.each(SHAPES)('%s', (_, polygons) => {
  const vertices = polygons.flat().reduce((sum, { length }) => sum + length / 2, 0)

  test.each(['Polygon', 'MultiPolygon'] as const)(
    'is written as the JSON of a %s, with pauses',
    async (type) => {
      const { pause, count } = counter()
      const outline: Outline = { type, polygons: type === 'Polygon' ? polygons.slice(0, 1) : polygons }
      expect(await writeGeoJson(outline, pause)).toBe(JSON.stringify(toGeoJson(outline)))
      expect(count()).toBeGreaterThanOrEqual(type === 'Polygon' ? 1 : vertices / 500)
    },
  )

  test('is written as well-known text that has all of its digits, with pauses', async () => {
    const { pause, count } = counter()
    const text = await writeWkt({ polygons }, pause)
    expect(readWkt('wkt', text, 'POLYGON')).toEqual(
      polygons.map((rings) => rings.map((one) => JSON.parse(JSON.stringify(listPositions(one))))),
    )
    expect(count()).toBeGreaterThanOrEqual(vertices / 500)
  })
})

const listPositions = (one: Float64Array) =>
  Array.from({ length: one.length / 2 }, (_, at) => [one[2 * at], one[2 * at + 1]])

/** Pauses that were asked for. */
function counter() {
  let pauses = 0
  const pause = async () => {
    pauses++
  }
  return { pause, count: () => pauses }
}
