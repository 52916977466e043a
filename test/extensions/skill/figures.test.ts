import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { yieldPrediction } from '#schemas/products/yield.ts'
import { readObservations } from '#src/extensions/skill/command.ts'
import { describeScorecard, type Gathered } from '#src/extensions/skill/scorecard.ts'
import { isLarge, type Observed, shownAt } from '#src/extensions/skill/scorecard-queries.ts'
import { computeScores } from '#src/extensions/skill/scores.ts'

/** Made by SciPy's `spearmanr`, and by fractions of Python for the rest. */
const CASES: { pairs: [number, number][]; bias: number; rmse: number; mae: number; rank: number }[] =
  JSON.parse(readFileSync(join(import.meta.dirname, './scores.json'), 'utf8'))

const pairsOf = (pairs: [number, number][]) => pairs.map(([predicted, observed]) => ({ predicted, observed }))

test.each(CASES)(
  'scores of $pairs.length pairs, many of them equal, are those of SciPy and of fractions',
  (one) => {
    const scores = computeScores(pairsOf(one.pairs))
    expect(scores.count).toBe(one.pairs.length)
    expect(scores.bias).toBeCloseTo(one.bias, 10)
    expect(scores.rmse).toBeCloseTo(one.rmse, 10)
    expect(scores.mae).toBeCloseTo(one.mae, 10)
    expect(scores.rank_correlation).toBeCloseTo(one.rank, 12)
  },
)

test('of what is all equal there is no correlation of ranks', () => {
  const pairs = [2, 3, 4].map((observed) => ({ predicted: 1, observed }))
  const scores = { count: 3, bias: -2, rmse: Math.sqrt(14 / 3), mae: 2, rank_correlation: null }
  expect(computeScores(pairs)).toEqual(scores)
})

/** What so many accounts have observed in each area of level 0, and in none. */
function observedIn(sizes: readonly number[], nowhere = 0): Observed[] {
  const inArea = (code: string | undefined, size: number) =>
    Array.from({ length: size }, (_, index) => observedBy(`${code} ${index}`, [code]))
  return [...sizes.flatMap((size, index) => inArea(`area ${index}`, size)), ...inArea(undefined, nowhere)]
}

function observedBy(observer: string, codes: readonly (string | undefined)[]): Observed {
  const areas = codes.map((code) => (code === undefined ? undefined : { code, name: code }))
  return { observer, areas }
}

test.each([
  ['none is small: all', [5, 6, 7], 0, [5, 6, 7]],
  ['one is small: not the next smallest, either', [7, 3, 6, 9], 0, [7, 9]],
  ['two that are enough together', [3, 4, 6], 0, [6]],
  ['two that are not', [1, 2, 6, 8], 0, [8]],
  ['few in no area', [5, 6], 2, [6]],
  ['many in no area', [3, 5, 6], 5, [5, 6]],
  ['nothing is left', [1, 5], 0, []],
] as const)('accounts of areas that may be shown beside the sum: %s', (_, sizes, nowhere, shown) => {
  const groups = shownAt(0, observedIn(sizes, nowhere))
  expect(groups.map(({ observed }) => observed.length).toSorted((a, b) => a - b)).toEqual(shown)
})

test('however scores of areas of all levels are subtracted from each other, enough accounts are left', () => {
  const code = (name: string, most: number) =>
    fc.option(
      fc.integer({ min: 0, max: most }).map((number) => `${name}${number}`),
      { nil: undefined, freq: 8 },
    )
  const one = fc
    .tuple(fc.integer({ min: 0, max: 25 }), code('r', 2), code('d', 3), fc.boolean())
    // Most districts lie in one region, and some reach into several.
    .map(([observer, region, district, isInside]) =>
      observedBy(`${observer}`, [region, isInside && district && region ? region + district : district]),
    )
  fc.assert(
    fc.property(fc.array(one, { maxLength: 80 }), (all) => {
      const shown = [0, 1].flatMap((level) => shownAt(level, all).map(({ observed }) => new Set(observed)))
      const family = isLarge(all) ? [new Set(all), ...shown] : shown
      for (const whole of family) {
        const inside = family.filter(
          (other) => other.size < whole.size && [...other].every((one) => whole.has(one)),
        )
        const left = [...whole].filter((observed) => !inside.some((other) => other.has(observed)))
        expect(left.length === 0 || isLarge(left)).toBe(true)
        // Areas within each other, and beside each other, and nothing between.
        for (const other of family) {
          const common = [...other].filter((one) => whole.has(one)).length
          expect([0, whole.size, other.size]).toContain(common)
        }
      }
    }),
    { numRuns: 200 },
  )
})

test('rows that say nothing are named by their lines, and the others are read', () => {
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

test('a row may say what the season was, and for which place of the slope; a season of another name is a mistake', () => {
  const text =
    'condition,lat,lng,yield_kg_ha,scenario\nhill,9.5,38.5,3100,above normal\n,9.5,38.5,3100,\n,9.5,38.5,3100,wet\n'
  expect(readObservations(text, 'yield_kg_ha', 200_000)).toEqual({
    rows: [
      { lat: 9.5, lng: 38.5, observed: 3100, season: 'above normal', condition: 'hill' },
      { lat: 9.5, lng: 38.5, observed: 3100 },
    ],
    errors: [{ line: 4, error: 'scenario must be one of Below Normal, Normal, Above Normal, and is "wet"' }],
  })
})

/** Five accounts whose odds of a normal season are of one bin, and others with their own. */
function gatherOdds(normal: readonly number[]): Gathered {
  const judged = normal.map((odds, index) => ({
    pair: { predicted: 1, observed: 1 },
    within: null,
    season: { odds: [0.95 - odds, odds, 0.05], outcome: index % 2 },
    isSeasonNamed: index === 0,
    key: `${index}`,
    predictions: [{ scenario: 'Normal', predicted: 1 }],
    observer: `account ${index}`,
    areas: [],
  }))
  return {
    counts: {
      from_feedback: normal.length,
      from_messages: 0,
      message_ratings: { count: 0, mean: null },
      from_file: 0,
      without_value: 0,
    },
    judged,
  }
}

const oddsOf = (normal: readonly number[]) =>
  describeScorecard({ code: 'a release' }, yieldPrediction, 0, gatherOdds(normal), []).odds

test('bins of fewer than five accounts have their number alone, and the bin that would tell them as well', () => {
  expect(oddsOf([0.3, 0.3, 0.3, 0.3])).toBeNull()
  const binsOf = (normal: readonly number[]) =>
    oddsOf(normal)?.reliability[1]?.bins.map(({ count, observed }) => [count, observed])
  const of = (count: number, odds: number) => Array.from({ length: count }, () => odds)
  const alone = binsOf(of(6, 0.3))
  expect(alone?.[3]).toEqual([6, 0.5])
  const [three, four, five] = [3, 4, 5].map(
    (bin) => binsOf([...of(6, 0.3), ...of(5, 0.4), ...of(1, 0.5)])?.[bin],
  )
  expect([three, four, five]).toEqual([
    [6, 0.5],
    [5, null],
    [1, null],
  ])
  expect(oddsOf(of(6, 0.3))).toMatchObject({ count: 6, told: 1 })
})
