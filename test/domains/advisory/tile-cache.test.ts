import fc from 'fast-check'
import { expect, test } from 'vitest'
import { createTileCache, ENTRY_BYTES } from '#src/domains/advisory/tile-cache.ts'

test('a tile comes back as it was put in, a missing one as missing, and another as unknown', () => {
  const cache = createTileCache(10_000)
  const tile = Buffer.from([1, 2, 3])
  cache.set(7, tile)
  cache.set(8, null)
  tile[0] = 9
  expect([...(cache.get(7) as Uint8Array)]).toEqual([1, 2, 3])
  expect(cache.get(8)).toBeNull()
  expect(cache.get(9)).toBeUndefined()
  expect(cache.bytes).toBe(2 * ENTRY_BYTES + 3)
})

test('what has been asked for outlives what has not', () => {
  const cache = createTileCache(4 * (ENTRY_BYTES + 100))
  for (const key of [1, 2, 3, 4]) cache.set(key, new Uint8Array(100))
  cache.get(1)
  cache.get(3)
  for (const key of [5, 6]) cache.set(key, new Uint8Array(100))
  expect([1, 2, 3, 4, 5, 6].filter((key) => cache.get(key) !== undefined)).toEqual([1, 3, 5, 6])
})

test('it never grows over its limit, and never answers with another tile', () => {
  const operations = fc.array(fc.tuple(fc.integer({ min: 0, max: 30 }), fc.integer({ min: 0, max: 800 })), {
    maxLength: 300,
  })
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 8000 }), operations, (limit, tiles) => {
      const cache = createTileCache(limit)
      const last = new Map<number, number>()
      for (const [key, size] of tiles) {
        const known = cache.get(key)
        if (known) expect([known.length, known[0] ?? key]).toEqual([last.get(key), key])
        else {
          last.set(key, size)
          cache.set(key, new Uint8Array(size).fill(key))
        }
        expect(cache.bytes).toBeLessThanOrEqual(limit)
      }
    }),
  )
})
