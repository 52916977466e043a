import fc from 'fast-check'
import { expect, test } from 'vitest'
import { createTileCache, EMPTY_ENTRY_BYTES, ENTRY_BYTES } from '#src/lookup/pixels.ts'
import type { InterleavedTile } from '#src/raster/tiles.ts'

function tileOf(pixels: Float32Array | Float64Array): InterleavedTile {
  return { width: pixels.length, bands: 1, start: 0, pixels, length: pixels.length }
}

test('a tile comes back as it was put in, and another as unknown', () => {
  const cache = createTileCache(10_000)
  const pixels = new Float32Array([1, 2, 3])
  cache.set(7, tileOf(pixels))
  cache.set(10, { width: 1, bands: 2, start: 1, pixels: new Float64Array([7, 0.1, Number.NaN]), length: 2 })
  pixels[0] = 9
  expect(cache.get(7)).toEqual({ width: 3, bands: 1, pixels: new Float32Array([1, 2, 3]) })
  expect(cache.get(10)).toEqual({ width: 1, bands: 2, pixels: new Float64Array([0.1, Number.NaN]) })
  cache.set(11, null)
  expect(cache.get(11)).toMatchObject({ width: 0, bands: 0 })
  expect(cache.get(12)).toBeUndefined()
})

test('it never keeps more than its limit, and never answers with another tile', () => {
  const operations = fc.array(
    fc.record({
      key: fc.integer({ min: 0, max: 30 }),
      length: fc.integer({ min: 0, max: 200 }),
      double: fc.boolean(),
    }),
    { maxLength: 300 },
  )
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 8 * ENTRY_BYTES }), operations, (limit, tiles) => {
      const cache = createTileCache(limit)
      const last = new Map<number, Float32Array | Float64Array>()
      for (const [index, { key, length, double }] of tiles.entries()) {
        const pixels = new (double ? Float64Array : Float32Array)(length).map((_, at) => index + at / 1024)
        if (cache.get(key) === undefined) {
          last.set(key, length === 0 ? new Float32Array(0) : pixels)
          cache.set(key, length === 0 ? null : tileOf(pixels))
        }
        let kept = 0
        for (const [each, expected] of last) {
          const found = cache.peek(each)
          if (found === undefined) continue
          expect(found.pixels).toEqual(expected)
          kept += expected.length === 0 ? EMPTY_ENTRY_BYTES : ENTRY_BYTES + expected.byteLength
        }
        expect(kept).toBe(cache.state().bytes)
        expect(kept).toBeLessThanOrEqual(limit)
      }
    }),
  )
})
