import { expect, test } from 'vitest'
import { readGeoJson, refuseInvalid } from '#src/advice/polygon/geometry.ts'
import type { Rings } from '#src/raster/rings.ts'
import type { Polygons, Ring } from './brute-force.ts'
import { HOSTILE_SHAPES } from './hostile-shapes.ts'

const ringsOf = (coordinates: Polygons) =>
  readGeoJson({ value: { type: 'MultiPolygon', coordinates }, at: 'geometry' }).polygons

/** What it takes to examine polygons, as computing time: the least of some attempts. */
async function costOf(polygons: Rings[]): Promise<number> {
  let least = Number.POSITIVE_INFINITY
  for (let attempt = 0; attempt < 5; attempt++) {
    const before = process.cpuUsage()
    await refuseInvalid(polygons, async () => {})
    const { user, system } = process.cpuUsage(before)
    least = Math.min(least, user + system)
  }
  return least
}

const CIRCLE = Array.from({ length: 9990 }, (_, corner): Ring[number] => {
  const angle = (2 * Math.PI * (corner % 9989)) / 9989
  return [38 + Math.cos(angle), 9 + Math.sin(angle)]
})

test.each(Object.entries(HOSTILE_SHAPES))(
  'no shape takes ten times as long as a circle of as many vertices: %s',
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
