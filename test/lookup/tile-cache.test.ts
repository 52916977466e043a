import fc from 'fast-check'
import { expect, test } from 'vitest'
import { createTileCache, ENTRY_BYTES } from '#src/lookup/tiles.ts'
import type { InterleavedTile } from '#src/raster/tiles.ts'

/** A tile of one row. */
function tileOf(pixels: Float32Array | Float64Array): InterleavedTile {
  return { width: pixels.length, bands: 1, start: 0, pixels, length: pixels.length }
}

/** The pixels of a tile that is there. */
function pixelsOf(tile: InterleavedTile | null | undefined): number[] {
  if (!tile) throw new Error('there is no tile')
  return [...tile.pixels.subarray(tile.start, tile.start + tile.length)]
}

test('a tile comes back as it was put in, a missing one as missing, and another as unknown', () => {
  const cache = createTileCache(2000, 2000)
  const pixels = new Float32Array([1, 2, 3])
  cache.set(7, tileOf(pixels))
  cache.set(8, null)
  cache.set(9, tileOf(new Float32Array(0)))
  cache.set(10, { width: 1, bands: 2, start: 0, pixels: new Float64Array([0.1, Number.NaN, 7]), length: 2 })
  pixels[0] = 9
  expect(pixelsOf(cache.get(7))).toEqual([1, 2, 3])
  expect(cache.get(8)).toBeNull()
  expect(pixelsOf(cache.get(9))).toEqual([])
  expect(pixelsOf(cache.get(10))).toEqual([0.1, Number.NaN])
  expect(cache.get(10)).toMatchObject({ width: 1, bands: 2 })
  expect(cache.get(11)).toBeUndefined()
})

test('what has been asked for outlives what has not', () => {
  const room = 2 * (ENTRY_BYTES + 96)
  const cache = createTileCache(2 * room, room)
  for (const key of [1, 2, 3, 4]) cache.set(key, tileOf(new Float32Array(24)))
  cache.get(1)
  cache.get(3)
  for (const key of [5, 6]) cache.set(key, tileOf(new Float32Array(24)))
  expect([1, 2, 3, 4, 5, 6].filter((key) => cache.get(key) !== undefined)).toEqual([1, 3, 5, 6])
})

test('a cache without room for a single tile keeps nothing', () => {
  for (const cache of [createTileCache(0), createTileCache(1000, 500)]) {
    cache.set(1, tileOf(new Float32Array(125)))
    expect(cache.get(1)).toBeUndefined()
  }
})

test('it never keeps more than its limit, and never answers with another tile', () => {
  const operations = fc.array(
    fc.record({
      key: fc.integer({ min: 0, max: 30 }),
      length: fc.integer({ min: -10, max: 200 }),
      double: fc.boolean(),
    }),
    { maxLength: 300 },
  )
  fc.assert(
    fc.property(
      fc.integer({ min: 0, max: 8 }),
      fc.integer({ min: 25, max: 250 }),
      operations,
      (segments, words, tiles) => {
        const size = 8 * words
        const cache = createTileCache(segments * size + 100, size)
        const last = new Map<number, InterleavedTile | null>()
        for (const [index, { key, length, double }] of tiles.entries()) {
          const pixels = double ? Float64Array : Float32Array
          const tile =
            length < 0 ? null : tileOf(new pixels(length).map((_, position) => index + position / 1024))
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
            expect(found && pixelsOf(found)).toEqual(expected && pixelsOf(expected))
            kept += ENTRY_BYTES + (expected?.pixels.byteLength ?? 0)
          }
          expect(kept).toBeLessThanOrEqual(segments * size)
        }
      },
    ),
  )
})
