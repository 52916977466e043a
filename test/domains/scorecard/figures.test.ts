import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { readObservations } from '#src/cli/observations.ts'
import { scoresOf } from '#src/domains/scorecard/figures.ts'
import { shownAmong } from '#src/domains/scorecard/groups.ts'

/** Made by SciPy's `spearmanr`, and by fractions of Python for the rest. */
const CASES: { pairs: [number, number][]; bias: number; rmse: number; mae: number; rank: number }[] =
  JSON.parse(readFileSync(join(import.meta.dirname, 'scores.json'), 'utf8'))

const pairsOf = (pairs: [number, number][]) => pairs.map(([predicted, observed]) => ({ predicted, observed }))

test.each(CASES)(
  'scores of $pairs.length pairs, many of them equal, are those of SciPy and of fractions',
  (one) => {
    const scores = scoresOf(pairsOf(one.pairs))
    expect(scores.count).toBe(one.pairs.length)
    expect(scores.bias).toBeCloseTo(one.bias, 10)
    expect(scores.rmse).toBeCloseTo(one.rmse, 10)
    expect(scores.mae).toBeCloseTo(one.mae, 10)
    expect(scores.rank_correlation).toBeCloseTo(one.rank, 12)
  },
)

test('of what is all equal there is no correlation of ranks', () => {
  const scores = scoresOf(
    pairsOf([
      [1, 2],
      [1, 3],
      [1, 4],
    ]),
  )
  expect(scores).toEqual({ count: 3, bias: -2, rmse: Math.sqrt(14 / 3), mae: 2, rank_correlation: null })
})

test('ranks know the order alone, and what is the other way round has the other sign', () => {
  const pairs = fc.array(fc.tuple(fc.integer({ min: -50, max: 50 }), fc.integer({ min: -50, max: 50 })), {
    minLength: 2,
  })
  fc.assert(
    fc.property(pairs, (some) => {
      const rank = scoresOf(pairsOf(some)).rank_correlation
      expect(scoresOf(pairsOf(some.map(([a, b]) => [a ** 3, b]))).rank_correlation).toBe(rank)
      const turned = scoresOf(pairsOf(some.map(([a, b]) => [a, -b]))).rank_correlation
      if (rank === null) expect(turned).toBeNull()
      else {
        expect(turned).toBeCloseTo(-rank, 12)
        expect(Math.abs(rank)).toBeLessThanOrEqual(1 + 1e-12)
      }
    }),
  )
})

test.each([
  ['none is small: all', [5, 6, 7], 0, [5, 6, 7]],
  ['one is small: not the next smallest, either', [7, 3, 6, 9], 0, [7, 9]],
  ['two that are enough together', [3, 4, 6], 0, [6]],
  ['two that are not', [1, 2, 6, 8], 0, [8]],
  ['few in no area', [5, 6], 2, [6]],
  ['many in no area', [3, 5, 6], 5, [5, 6]],
  ['nothing is left', [1, 5], 0, []],
] as const)('accounts of areas that may be shown beside the sum: %s', (_, sizes, outside, shown) => {
  const groupOf = (size: number, name: string) => ({
    pairs: [],
    observers: new Set(Array.from({ length: size }, (_, index) => `${name} ${index}`)),
  })
  const groups = sizes.map((size, index) => groupOf(size, `area ${index}`))
  expect(shownAmong(groups, groupOf(outside, 'none')).map(({ observers }) => observers.size)).toEqual(shown)
})

test('rows that say nothing are told by their lines, and the others are read', () => {
  const text =
    '\ufeffplot,lat,lng,yield_kg_ha\na,9.5,38.5,3100\nb,95,38.5,1\n\n"c\nd",9.5,x,1\ne,9.5,38.5\nf,-1,30,0\n'
  expect(readObservations(text, 'yield_kg_ha', 200_000)).toEqual({
    rows: [
      { lat: 9.5, lng: 38.5, observed: 3100 },
      { lat: -1, lng: 30, observed: 0 },
    ],
    errors: [
      { line: 3, error: 'lat must be a number from -90 to 90, and is "95"' },
      { line: 6, error: 'lng must be a number from -180 to 180, and is "x"' },
      { line: 7, error: 'yield_kg_ha must be a number from 0 to 200000, and is ""' },
    ],
  })
  expect(() => readObservations('lat,lon\n1,2\n', 'yield_kg_ha', 1)).toThrow(
    'The observations have no column lng, yield_kg_ha.',
  )
})
