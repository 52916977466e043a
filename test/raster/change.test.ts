import { describe, expect, test } from 'vitest'
import { type BoundedArea, ChangeTally } from '#src/raster/change.ts'
import { summarizePixels } from '#src/raster/summary.ts'
import type { TileBand } from '#src/raster/tiles.ts'
import { randomNumbers } from '#test/advice/polygon/shapes.ts'

const SIDE = 8
const NODATA = -9999
const AS_IT_IS = { scale: 1, offset: 0 }

/** Areas that differ from row to row, as those of degrees do. */
const AREAS = Float64Array.from({ length: SIDE * SIDE }, (_, pixel) => 1 + Math.floor(pixel / SIDE) / 10)
const ALL = AREAS.reduce((sum, area) => sum + area)

describe('what becomes of the pixels of a tile', () => {
  test('is counted by their areas: what is gained, lost and changed by more than the threshold', () => {
    const tally = new ChangeTally({ scale: 2, offset: 0 }, AS_IT_IS, 0.1)
    tally.addPixels(
      bandOf([50, 50, NODATA, 5, 50, NODATA, 50, 50]),
      bandOf([110, 111, 7, 100, NODATA, NODATA, 7, 7]),
      { indexes: Int32Array.of(0, 1, 2, 3, 4, 5, 7), areas: Float64Array.of(1, 2, 4, 8, 16, 32, 0) },
    )
    expect(tally.change).toEqual({
      before: { area: 1 + 2 + 8 + 16, sum: 100 * 1 + 100 * 2 + 10 * 8 + 100 * 16 },
      after: { area: 1 + 2 + 4 + 8, sum: 110 + 222 + 28 + 800 },
      gained: exact(4),
      lost: exact(16),
      beyond: exact(2 + 8),
    })
  })
})

describe('what becomes of a block', () => {
  test.each([
    ['all change', 10, 12, ALL],
    ['all stay', 10, 10.5, 0],
    ['below 0', -10, -12, ALL],
    ['to the threshold and no further', 3, 3.3, 0],
  ])('is known where its values decide it: %s', (_, before, after, expected) => {
    const same = (value: number) => bandOf(Array.from({ length: SIDE * SIDE }, () => value))
    const { beyond } = bothWays(same(before), same(after), 0.1).block
    for (const bound of Object.values(beyond)) expect(bound).toBeCloseTo(expected, 9)
  })

  test('is bounded by its summaries: what its pixels come to lies between, whatever they are', () => {
    const random = randomNumbers(11)
    let decided = 0
    for (let round = 0; round < 400; round++) {
      const spread = random() ** 3
      const level = random() < 0.2 ? -100 : random() < 0.1 ? 0 : 100
      const missing = random() < 0.5 ? 0 : random()
      const tile = (shift: number) =>
        bandOf(
          Array.from({ length: SIDE * SIDE }, () =>
            random() < missing ? NODATA : level * shift + 100 * spread * (random() - 0.5),
          ),
        )
      const threshold = random() * 0.5
      const scales = [
        { scale: 2, offset: 1 },
        { scale: -1, offset: random() },
      ]
      const { pixels, block } = bothWays(
        tile(1),
        tile(0.5 + random()),
        threshold,
        random() < 0.7 ? undefined : scales,
      )
      for (const side of ['before', 'after'] as const) {
        expect(block[side].area).toBeCloseTo(pixels[side].area, 9)
        expect(block[side].sum).toBeCloseTo(pixels[side].sum, 6)
      }
      for (const kind of ['gained', 'lost', 'beyond'] as const) {
        const { least, likely, most } = block[kind]
        expect(least).toBeLessThanOrEqual(pixels[kind].likely + 1e-9)
        expect(most).toBeGreaterThanOrEqual(pixels[kind].likely - 1e-9)
        expect([least <= likely + 1e-9, likely <= most + 1e-9]).toEqual([true, true])
      }
      if (block.beyond.most - block.beyond.least < 1e-9) decided++
    }
    expect(decided).toBeGreaterThan(40)
  })
})

test('values that differ by rounding alone have not changed at a threshold of 0', () => {
  const tenths = bandOf(Array(SIDE * SIDE).fill(3))
  const values = bandOf(Array(SIDE * SIDE).fill(0.3))
  const { pixels, block } = bothWays(tenths, values, 0, [{ scale: 0.1, offset: 0 }, AS_IT_IS])
  expect([pixels.beyond, block.beyond]).toEqual([exact(0), exact(0)])
})

function bandOf(values: number[]): TileBand {
  return { pixels: Float64Array.from(values), nodata: NODATA }
}

const WHOLE = { indexes: Int32Array.from(AREAS.keys()), areas: AREAS }

/** What becomes of two tiles, pixel by pixel, and by their summaries. */
function bothWays(before: TileBand, after: TileBand, threshold: number, scales = [AS_IT_IS, AS_IT_IS]) {
  const [old, now] = scales as [typeof AS_IT_IS, typeof AS_IT_IS]
  const pixels = new ChangeTally(old, now, threshold)
  pixels.addPixels(before, after, WHOLE)
  const block = new ChangeTally(old, now, threshold)
  block.addBlock(summarizePixels(before, WHOLE), summarizePixels(after, WHOLE), ALL)
  return { pixels: pixels.change, block: block.change }
}

const exact = (area: number): BoundedArea => ({ least: area, likely: area, most: area })
