import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  blurSkill,
  brierScore,
  climatologyScore,
  computeReliability,
  describeSkill,
  findBin,
  judge,
  laplace,
  normalise,
  type Prediction,
  rankedScore,
  type Season,
  scoreOdds,
  selectPredictions,
  sumSkill,
} from '#src/extensions/skill/scores.ts'
import { newFolder } from '#test/setup/folders.ts'
import { drawSeasons, type Kind, seasonsCsv } from './seasons.ts'

describe('scores by hand', () => {
  const odds = [0.2, 0.3, 0.5]

  // Squares of the odds, and of their sums from the poorest season on, less 1 from the season on that came.
  test.each([
    ['Below Normal', 0, 0.64 + 0.09 + 0.25, 0.64 + 0.25],
    ['Normal', 1, 0.04 + 0.49 + 0.25, 0.04 + 0.25],
    ['Above Normal', 2, 0.04 + 0.09 + 0.25, 0.04 + 0.25],
  ])('of odds of 20, 30 and 50 %%: %s', (_, outcome, brier, ranked) => {
    expect(brierScore({ odds, outcome })).toBeCloseTo(brier, 12)
    expect(rankedScore({ odds, outcome })).toBeCloseTo(ranked, 12)
  })

  test('a third each misses a season in the middle by 2/9, and one at the end by 5/9', () => {
    expect([0, 1, 2].map((outcome) => climatologyScore({ outcome }))).toEqual([
      expect.closeTo(5 / 9, 12),
      expect.closeTo(2 / 9, 12),
      expect.closeTo(5 / 9, 12),
    ])
  })

  test('odds that were right have all skill, and a third each has none', () => {
    const right = [0, 1, 2].map((outcome) => ({
      odds: [0, 1, 2].map((one) => Number(one === outcome)),
      outcome,
    }))
    expect(scoreOdds(right)).toEqual({ count: 3, brier: 0, rps: 0, rpss: 1 })
    const { rpss } = scoreOdds([0, 1, 2].map((outcome) => ({ odds: [1 / 3, 1 / 3, 1 / 3], outcome })))
    expect(rpss).toBeCloseTo(0, 12)
  })

  test('odds that are rounded are divided by their sum; none at all are no odds', () => {
    expect(normalise([0.33, 0.33, 0.33])).toEqual([1, 2, 3].map(() => expect.closeTo(1 / 3, 12)))
    expect(normalise([0.3, 0.3, 0.42])).toEqual([0.3 / 1.02, 0.3 / 1.02, 0.42 / 1.02])
    expect(normalise([0, 0, 0])).toBeNull()
    expect(normalise([-0.1, 0.6, 0.5])).toBeNull()
  })

  test('bins have their lower ends, also those that no double is equal to; 1 is in the last', () => {
    const ends = Array.from({ length: 11 }, (_, tenth) => findBin(tenth / 10))
    expect(ends).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 9])
    expect([0.1 + 0.2, 1 - 0.7, 0.6 / (0.1 + 0.3 + 0.6)].map(findBin)).toEqual([3, 3, 6])
    expect([0.05, 0.299, 0.999].map(findBin)).toEqual([0, 2, 9])
  })

  test('four forecasts of 60 % that came once, and one of 10 % that did not come', () => {
    const season = (normal: number, outcome: number): Season => ({
      odds: [0.95 - normal, normal, 0.05],
      outcome,
    })
    const { term, bins } = computeReliability(
      [season(0.6, 1), season(0.6, 0), season(0.6, 0), season(0.6, 2), season(0.1, 0)],
      1,
    )
    expect(bins[6]).toEqual({ count: 4, forecast: expect.closeTo(0.6, 12), observed: 0.25 })
    expect(bins[1]).toEqual({ count: 1, forecast: 0.1, observed: 0 })
    expect(bins[0]).toEqual({ count: 0, forecast: null, observed: null })
    expect(term).toBeCloseTo((4 * 0.35 ** 2 + 0.1 ** 2) / 5, 12)
  })
})

interface NumpyScores {
  brier: number
  rps: number
  rpss: number
  reliability: { term: number; counts: number[]; forecast: number[]; observed: number[] }[]
}

/** Made by odds.py of the same seasons, with numpy 2.4.6. */
const STORED: Record<Kind, NumpyScores> = JSON.parse(
  readFileSync(join(import.meta.dirname, 'odds.json'), 'utf8'),
)

const SCRIPT = join(import.meta.dirname, 'odds.py')

const run = promisify(execFile)

const withNumpy = await run('python3', ['-c', 'import numpy']).then(
  () => true,
  () => false,
)

describe('10,000 seasons that were drawn from known odds', () => {
  const drawn = (kind: Kind) => drawSeasons(kind, 10_000)
  const scored = (kind: Kind) => {
    const seasons = drawn(kind).map(({ percents, outcome }) => ({
      odds: normalise(percents.map((one) => one / 100)) as number[],
      outcome,
    }))
    return { ...scoreOdds(seasons), reliability: [0, 1, 2].map((one) => computeReliability(seasons, one)) }
  }
  const compare = (kind: Kind, theirs: NumpyScores) => {
    const { brier, rps, rpss, reliability, count } = scored(kind)
    expect(count).toBe(10_000)
    const near = (value: number) => expect.closeTo(value, 9)
    expect({ brier, rps, rpss }).toEqual({
      brier: near(theirs.brier),
      rps: near(theirs.rps),
      rpss: near(theirs.rpss),
    })
    for (const [index, { term, bins }] of reliability.entries()) {
      const {
        counts,
        forecast,
        observed,
        term: expected,
      } = theirs.reliability[index] as NumpyScores['reliability'][number]
      expect(term).toBeCloseTo(expected, 9)
      expect(bins.map((bin) => bin.count)).toEqual(counts)
      expect(bins.map((bin) => bin.forecast ?? 0)).toEqual(forecast.map(near))
      expect(bins.map((bin) => bin.observed ?? 0)).toEqual(observed.map(near))
    }
  }

  test.each(['sharp', 'climatology', 'pretended'] as const)(
    'have the scores that numpy had found, to a billionth: %s odds',
    (kind) => compare(kind, STORED[kind]),
  )

  test.skipIf(!withNumpy).each(['sharp', 'climatology', 'pretended'] as const)(
    'have the scores that numpy finds, to a billionth (needs python3 and numpy): %s odds',
    async (kind) => {
      const file = join(await newFolder(), 'seasons.csv')
      await writeFile(file, seasonsCsv(drawn(kind)))
      const { stdout } = await run('python3', [SCRIPT, file])
      compare(kind, JSON.parse(stdout))
    },
  )

  test('odds that seasons are drawn from have skill, and are reliable', () => {
    const { rpss, reliability } = scored('sharp')
    expect(rpss).toBeGreaterThan(0.2)
    for (const { term } of reliability) expect(term).toBeLessThan(0.001)
  })

  test('a third each has no skill, and is reliable', () => {
    const { rpss, reliability } = scored('climatology')
    expect(rpss).toBeCloseTo(0, 12)
    for (const { term } of reliability) expect(term).toBeLessThan(0.001)
  })

  test('odds that pretend to know are worse than a third each, and not reliable', () => {
    const { rpss, reliability } = scored('pretended')
    expect(rpss).toBeLessThan(-0.2)
    for (const { term } of reliability) expect(term).toBeGreaterThan(0.02)
  })
})

describe('what an observation is held against', () => {
  const predictions = (
    odds: [number, number, number] | null,
    values: [number, number, number] = [1000, 2000, 3000],
  ): Prediction[] =>
    ['Below Normal', 'Normal', 'Above Normal'].map((scenario, index) => ({
      scenario,
      predicted: values[index] as number,
      ...(odds && { probability: odds[index] as number }),
    }))
  const pairOf = (list: Prediction[], observed = 1400) => judge(list, { observed }).pair.predicted

  test('is the value of the most likely scenario; of equal ones normal, then below normal', () => {
    expect(pairOf(predictions([0.5, 0.3, 0.2]))).toBe(1000)
    expect(pairOf(predictions([0.2, 0.3, 0.5]))).toBe(3000)
    expect(pairOf(predictions([0.4, 0.4, 0.2]))).toBe(2000)
    expect(pairOf(predictions([0.4, 0.2, 0.4]))).toBe(1000)
  })

  test('is dominant where there are no odds, then normal, then the only one', () => {
    const dominant = { scenario: 'Dominant', predicted: 2500 }
    expect(pairOf([...predictions(null), dominant])).toBe(2500)
    expect(pairOf(predictions(null))).toBe(2000)
    expect(pairOf([{ scenario: 'Mean', predicted: 1800 }])).toBe(1800)
    // Two of three odds are none.
    expect(pairOf([...predictions([0.5, 0.3, 0.2]).slice(0, 2), dominant])).toBe(2500)
  })

  test('the season is that of the nearest value, or the one that was named', () => {
    const odds: [number, number, number] = [0.2, 0.3, 0.5]
    const outcomeOf = (observed: number, season?: string) =>
      judge(predictions(odds), { observed, season }).season?.outcome
    expect([900, 1499, 1501, 2600].map((observed) => outcomeOf(observed))).toEqual([0, 0, 1, 2])
    expect(outcomeOf(1500)).toBeUndefined()
    expect(outcomeOf(1500, 'above NORMAL')).toBe(2)
    expect(judge(predictions(odds, [1000, 2000, 2000]), { observed: 2400 }).season).toBeNull()
    expect(judge(predictions(null), { observed: 900 }).season).toBeNull()
  })

  test('a range has its ends', () => {
    const withinOf = (observed: number) =>
      judge([{ scenario: null, predicted: 2000, range: { low: 1800, high: 2900 } }], { observed }).within
    expect([1799, 1800, 2900, 2901].map(withinOf)).toEqual([false, true, true, false])
    expect(judge([{ scenario: null, predicted: 2000, range: null }], { observed: 2000 }).within).toBeNull()
  })

  test('of several conditions none is meant', () => {
    const of = (condition: string | null) => ({ scenario: 'Normal', predicted: 1, condition })
    const all = [of('foot slope'), of('mid slope'), of('hill')]
    expect(selectPredictions(all)).toEqual([])
    expect(selectPredictions([of('hill'), of(null)])).toEqual([of('hill'), of(null)])
  })

  test('sums leave out ranges and odds that may not be shown', () => {
    const [one] = [judge(predictions([0.2, 0.3, 0.5]), { observed: 2900 })]
    const list = [{ ...(one as NonNullable<typeof one>), within: true }]
    expect(sumSkill(list)).toMatchObject({ n: 1, sum_difference: 100, n_range: 1, n_within: 1, n_odds: 1 })
    expect(sumSkill(list, { range: false, odds: false })).toEqual({
      ...{ n: 1, sum_difference: 100, sum_absolute: 100, n_range: 0, n_within: 0, n_odds: 0 },
      ...{ sum_brier: 0, sum_rps: 0, sum_rps_climatology: 0 },
    })
  })

  test('noise is of the distribution of Laplace: larger than t with the chance exp(-t), to both sides alike', () => {
    for (const size of [0.001, 0.5, 1, 4, 10]) {
      expect(laplace(1 - Math.exp(-size) / 2)).toBeCloseTo(size, 9)
      expect(laplace(Math.exp(-size) / 2)).toBeCloseTo(-size, 9)
    }
  })

  const seenAs = (predicted: number, observed: number) => ({
    ...{ pair: { predicted, observed }, within: null, season: null, isSeasonNamed: false },
  })

  /** Sums with these draws, one after the other. */
  function blurBy(all: Parameters<typeof blurSkill>[0], ...draws: number[]) {
    const left = [...draws]
    return blurSkill(all, () => left.shift() ?? 0)
  }

  test('whatever is kept, another harvest would have made it with noise that differs by no more than the harvests', () => {
    const harvest = fc.integer({ min: 0, max: 9600 })
    const noise = fc.double({ min: -20, max: 20, noNaN: true })
    fc.assert(
      fc.property(harvest, harvest, noise, noise, (one, other, above, below) => {
        const others = Array.from({ length: 8 }, () => seenAs(50, 50))
        const kept = blurBy([seenAs(4800, one), ...others], above, below)
        const parts = (observed: number) =>
          [Math.max(4800 - observed, 0), Math.max(observed - 4800, 0)] as const
        const shifts = [0, 1].map((at) => ((parts(one)[at] ?? 0) - (parts(other)[at] ?? 0)) / 4800)
        const [ofAbove = 0, ofBelow = 0] = shifts
        const same = blurBy([seenAs(4800, other), ...others], above + ofAbove, below + ofBelow)
        for (const name of ['sum_difference', 'sum_absolute'] as const) {
          expect(Math.abs(same[name] - kept[name])).toBeLessThanOrEqual((2 * 4800) / 1024)
        }
        // So its chance differs by a factor of exp(this) at most: harvests half a prediction apart by 1.65.
        expect(Math.abs(ofAbove) + Math.abs(ofBelow)).toBeCloseTo(Math.abs(one - other) / 4800, 9)
      }),
    )
  })

  test('a harvest beyond all predictions counts as the largest one more than was predicted', () => {
    const sumsFor = (observed: number) => blurBy([seenAs(3000, 3000), seenAs(1000, observed)])
    expect(sumsFor(200_000)).toEqual(sumsFor(4000))
    expect(sumsFor(200_000).sum_difference).toBe(-3000)
  })

  test('the bias of 400 harvests differs by less than 1 % of the yield in nine of ten cases', () => {
    const all = Array.from({ length: 400 }, (_, index) => seenAs(2500, 2000 + index))
    const draws = Array.from({ length: 40 }, (_, index) => laplace((index + 0.5) / 40))
    const biases = draws.flatMap((one) => draws.map((other) => describeSkill(blurBy(all, one, other)).bias))
    const near = biases.filter((bias) => Math.abs(bias - 300.5) < 25)
    expect(near.length / biases.length).toBeGreaterThan(0.9)
  })

  test('figures with noise stay within what exact ones may be', () => {
    const [one] = [judge(predictions([0.2, 0.3, 0.5]), { observed: 2900 })]
    const list = [{ ...(one as NonNullable<typeof one>), within: true }]
    for (const noise of [-30, 30]) {
      const { bias, mae, within, brier, rpss } = describeSkill(
        blurBy(list, noise, noise, noise, noise, noise),
      )
      expect(mae).toBeGreaterThanOrEqual(Math.abs(bias))
      expect(within?.share).toBe(noise < 0 ? 0 : 1)
      expect([Number(brier) >= 0, Number(rpss) <= 1]).toEqual([true, true])
    }
  })
})
