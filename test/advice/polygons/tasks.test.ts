import { expect, test } from 'vitest'
import { createTasks, type LocatedPolygon } from '#src/advice/polygons/sources.ts'
import type { Snapshot } from '#src/lookup/snapshot.ts'

test.each([
  ['many small ones', { areaHa: 1, storedBytes: 20 }, [200, 100]],
  ['few with many pixels', { areaHa: 1, storedBytes: 30_000 }, Array(150).fill(2)],
  // Their pixels were few on the grid that they are weighed on; the release may be on another one.
  ['few large ones, whose pixels were few', { areaHa: 2500, storedBytes: 20 }, Array(150).fill(2)],
])('saved fields that were weighed are computed together: %s', async (_, size, expected) => {
  const sizes: number[] = []
  const fields = Array.from({ length: 300 }, () => fieldOf(size))
  const { ofPolygons } = createTasks({ work: {} } as Parameters<typeof createTasks>[0], {} as Snapshot)
  let left = fields.length
  for (const _ of ofPolygons(fields)) {
    sizes.push(left - fields.length)
    left = fields.length
  }
  expect(sizes).toEqual(expected)
})

const source = {} as LocatedPolygon['source']

function fieldOf(size: { areaHa: number; storedBytes: number }): LocatedPolygon {
  const place = { longitude: 38, latitude: 9 }
  const unread = () => Promise.reject(new Error('Nothing is computed here.'))
  const measured = { ...size, ...place, polygons: unread, recall: unread }
  return { id: '', name: undefined, outline: { type: 'MultiPolygon', polygons: [] }, measured, source }
}
