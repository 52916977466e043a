import fc from 'fast-check'
import { expect, test } from 'vitest'
import { countYears, ODDS_TOLERANCE, ODDS_YEARS, SEASONS } from '#schemas/glossary.ts'

const [ABOVE, NORMAL, BELOW] = SEASONS as [string, string, string]

const years = (...odds: [above: number, normal: number, below: number]) => {
  const counted = countYears(SEASONS.map((season, at) => [season, odds[at] as number]))
  return SEASONS.map((season) => counted.get(season))
}

/** Odds of any number of decimals, that miss 1 by what rounded ones may. */
const ODDS = fc
  .tuple(
    fc.array(fc.oneof(fc.nat(1000), fc.double({ min: 0, max: 1000, noNaN: true })), {
      minLength: 3,
      maxLength: 3,
    }),
    fc.double({ min: 1 - ODDS_TOLERANCE + 1e-6, max: 1 + ODDS_TOLERANCE - 1e-6, noNaN: true }),
  )
  .filter(([parts]) => parts.some((part) => part > 0.01))
  .map(([parts, sum]) => {
    const total = parts.reduce((all, part) => all + part, 0)
    return parts.map((part) => (part / total) * sum)
  })

test('the years of all seasons are ten, and each is less than one from its share', () => {
  fc.assert(
    fc.property(ODDS, (odds) => {
      const counted = years(...(odds as [number, number, number]))
      const total = odds.reduce((sum, one) => sum + one, 0)
      expect(counted.reduce((sum: number, one) => sum + (one as number), 0)).toBe(ODDS_YEARS)
      for (const [at, one] of odds.entries()) {
        expect(Math.abs((counted[at] as number) - (ODDS_YEARS * one) / total)).toBeLessThan(1 + 1e-6)
      }
    }),
    { numRuns: 2000 },
  )
})

test('greater odds never have fewer years, and the order of the seasons changes nothing', () => {
  fc.assert(
    fc.property(ODDS, fc.shuffledSubarray([0, 1, 2], { minLength: 3 }), (odds, order) => {
      const counted = countYears(SEASONS.map((season, at) => [season, odds[at] as number]))
      const shuffled = countYears(order.map((at) => [SEASONS[at] as string, odds[at] as number]))
      for (const season of SEASONS) expect(shuffled.get(season)).toBe(counted.get(season))
      for (const [at, one] of odds.entries()) {
        for (const [other, two] of odds.entries()) {
          const [a, b] = [at, other].map((index) => counted.get(SEASONS[index] as string) as number)
          if (one > two + 1e-8) expect(a).toBeGreaterThanOrEqual(b as number)
        }
      }
    }),
    { numRuns: 1000 },
  )
})

test.each([
  // README's own point: 4, 4 and 3 were 11 before.
  [
    [0.36, 0.39, 0.25],
    [4, 4, 2],
  ],
  // Of equal remainders the greater odds win.
  [
    [0.35, 0.4, 0.25],
    [4, 4, 2],
  ],
  [
    [0.45, 0.35, 0.2],
    [5, 3, 2],
  ],
  // Of equal odds Normal comes first, then Below Normal.
  [
    [1 / 3, 1 / 3, 1 / 3],
    [3, 4, 3],
  ],
  [
    [0.333, 0.333, 0.333],
    [3, 4, 3],
  ],
  [
    [0.25, 0.5, 0.25],
    [2, 5, 3],
  ],
  [
    [0.05, 0.05, 0.9],
    [0, 1, 9],
  ],
  [
    [0.02, 0.96, 0.02],
    [0, 10, 0],
  ],
  [
    [0, 1, 0],
    [0, 10, 0],
  ],
  // The sum misses 1, as rounded odds may.
  [
    [0.42, 0.42, 0.15],
    [4, 4, 2],
  ],
  [
    [0.34, 0.34, 0.34],
    [3, 4, 3],
  ],
] as [[number, number, number], number[]][])('%j are %j years', (odds, expected) => {
  expect(years(...odds)).toEqual(expected)
})

test('a season without odds has the rest of the years', () => {
  expect([
    ...countYears([
      [NORMAL, 0.55],
      [BELOW, 0.3],
    ]),
  ]).toEqual([
    [NORMAL, 6],
    [BELOW, 3],
  ])
  expect([
    ...countYears([
      [NORMAL, 0.55],
      [BELOW, 0.45],
    ]),
  ]).toEqual([
    [NORMAL, 6],
    [BELOW, 4],
  ])
  expect([...countYears([[ABOVE, 0.36]])]).toEqual([[ABOVE, 4]])
  expect([...countYears([])]).toEqual([])
})

test('each is rounded by itself where they sum to more than 1, and where one restates another', () => {
  expect([
    ...countYears([
      [NORMAL, 0.66],
      [BELOW, 0.66],
    ]),
  ]).toEqual([
    [NORMAL, 7],
    [BELOW, 7],
  ])
  const odds = [
    [ABOVE, 0.36],
    [NORMAL, 0.39],
    [BELOW, 0.25],
    ['Dominant', 0.39],
  ] as const
  expect(Object.fromEntries(countYears(odds))).toEqual({
    ...{ [ABOVE]: 4, [NORMAL]: 4, [BELOW]: 2 },
    Dominant: 4,
  })
})

test('names of other scenarios are as good', () => {
  expect(
    Object.fromEntries(
      countYears([
        ['wet', 0.35],
        ['dry', 0.35],
        ['fair', 0.3],
      ]),
    ),
  ).toEqual({
    ...{ wet: 4, dry: 3 },
    fair: 3,
  })
})
