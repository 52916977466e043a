import fc from 'fast-check'
import { expect, test } from 'vitest'
import { createTileCache, ENTRY_BYTES } from '#src/domains/advisory/tile-cache.ts'
import type { StoredTile } from '#src/domains/advisory/tiles/decode.ts'

/** The bytes of a tile that is there. */
function bytesOf(tile: StoredTile | null | undefined): Uint8Array {
  if (!tile) throw new Error('there is no tile')
  return new Uint8Array(tile.view.buffer, tile.view.byteOffset + tile.start, tile.length)
}

test('a tile comes back as it was put in, a missing one as missing, and another as unknown', () => {
  const cache = createTileCache(1000, 1000)
  const tile = Buffer.from([1, 2, 3])
  cache.set(7, tile)
  cache.set(8, null)
  cache.set(9, new Uint8Array(0))
  tile[0] = 9
  expect([...bytesOf(cache.get(7))]).toEqual([1, 2, 3])
  expect(cache.get(8)).toBeNull()
  expect([...bytesOf(cache.get(9))]).toEqual([])
  expect(cache.get(10)).toBeUndefined()
})

test('what has been asked for outlives what has not', () => {
  const room = 2 * (ENTRY_BYTES + 100)
  const cache = createTileCache(2 * room, room)
  for (const key of [1, 2, 3, 4]) cache.set(key, new Uint8Array(100))
  cache.get(1)
  cache.get(3)
  for (const key of [5, 6]) cache.set(key, new Uint8Array(100))
  expect([1, 2, 3, 4, 5, 6].filter((key) => cache.get(key) !== undefined)).toEqual([1, 3, 5, 6])
})

test('a cache without room for a single tile keeps nothing', () => {
  for (const cache of [createTileCache(0), createTileCache(1000, 500)]) {
    cache.set(1, new Uint8Array(500))
    expect(cache.get(1)).toBeUndefined()
  }
})

test('it never keeps more than its limit, and never answers with another tile', () => {
  const operations = fc.array(fc.tuple(fc.integer({ min: 0, max: 30 }), fc.integer({ min: -50, max: 800 })), {
    maxLength: 300,
  })
  fc.assert(
    fc.property(
      fc.integer({ min: 0, max: 8 }),
      fc.integer({ min: 200, max: 2000 }),
      operations,
      (segments, size, tiles) => {
        const cache = createTileCache(segments * size + 100, size)
        const last = new Map<number, Uint8Array | null>()
        for (const [index, [key, length]] of tiles.entries()) {
          const tile = length < 0 ? null : new Uint8Array(length).fill(index)
          if (cache.get(key) === undefined) {
            last.set(key, tile)
            cache.set(key, tile)
          }
          let kept = 0
          for (const [each, expected] of last) {
            // Asking would mark all as used: only every now and then.
            if (index % 10 !== 0) break
            const found = cache.get(each)
            if (found === undefined) continue
            expect(found && bytesOf(found)).toEqual(expected)
            kept += ENTRY_BYTES + (found?.length ?? 0)
          }
          expect(kept).toBeLessThanOrEqual(segments * size)
        }
      },
    ),
  )
})
