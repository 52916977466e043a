import { expect, test, vi } from 'vitest'
import { readGeoJson, refuseInvalid } from '#src/advice/polygon/geometry.ts'
import type { Rings } from '#src/raster/rings.ts'
import { RingEdges } from '#src/raster/sweep.ts'
import type { Polygons, Ring } from './brute-force.ts'
import { HOSTILE_SHAPES } from './hostile-shapes.ts'

const CIRCLE = Array.from({ length: 9990 }, (_, corner): Ring[number] => {
  const angle = (2 * Math.PI * (corner % 9989)) / 9989
  return [38 + Math.cos(angle), 9 + Math.sin(angle)]
})

test.each(Object.entries(HOSTILE_SHAPES))(
  'no shape takes ten times as many comparisons as a circle of as many vertices: %s',
  async (_, make) => {
    const [shape, circle] = [ringsOf(make()), ringsOf([[CIRCLE]])]
    expect(await costOf(shape)).toBeLessThan(10 * (await costOf(circle)))
  },
)

test('others have a turn about forty times while 10,000 vertices are examined', async () => {
  let turns = 0
  await refuseInvalid(ringsOf([[CIRCLE]]), async () => {
    turns++
  })
  expect(turns).toBeGreaterThanOrEqual(39)
})

test('a polygon that is given up is examined no further', async () => {
  const gone = new Error('gone')
  await expect(refuseInvalid(ringsOf([[CIRCLE]]), () => Promise.reject(gone))).rejects.toBe(gone)
})

const ringsOf = (coordinates: Polygons) =>
  readGeoJson({ value: { type: 'MultiPolygon', coordinates }, at: 'geometry' }).polygons

/** How often it is asked on which side of an edge a vertex lies, to examine polygons. */
async function costOf(polygons: Rings[]): Promise<number> {
  const side = vi.spyOn(RingEdges.prototype, 'side')
  try {
    await refuseInvalid(polygons, async () => {})
    return side.mock.calls.length
  } finally {
    side.mockRestore()
  }
}
