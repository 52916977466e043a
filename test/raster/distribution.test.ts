import { describe, expect, test } from 'vitest'
import { Distribution, type DistributionMemory, type Quantile } from '#src/raster/distribution.ts'
import { randomNumbers } from '#test/advice/polygon/shapes.ts'

const QUANTILES = [0, 0.1, 0.25, 0.5, 0.9, 1]

type Weighed = [value: number, weight: number]

/** Too few cells for the values, so that each has several. */
const KEPT = { cells: 64, keepsValues: true }
const NOT_KEPT = { cells: 64, keepsValues: false }

describe('quantiles', () => {
  test.each([
    [300, 2],
    [300, 0],
    [301, -3],
    [1, 2],
  ])('of %i values with %i digits are those of their definition', (count, digits) => {
    const values = randomValues(count, 7 * count, Math.max(0, digits)).map(
      ([value, weight]): Weighed => [digits < 0 ? Math.round(value / 1000) * 1000 : value, weight],
    )
    const found = quantilesOf(distributionOf(values, { quantiles: QUANTILES }, KEPT))
    expect(found.map(({ quantile, error }) => [quantile, error])).toEqual(QUANTILES.map((part) => [part, 0]))
    for (const { quantile, value } of found) expect(value).toBeCloseTo(quantileOf(values, quantile), 9)
  })

  test('of many values close to each other beside a few far away are those of their definition', () => {
    const values = [...randomValues(500, 3, 4).map(([value, weight]): Weighed => [value / 1e6, weight])]
    values.push([9e6, 0.1], [-9e6, 0.1])
    const found = quantilesOf(distributionOf(values, { quantiles: QUANTILES }, KEPT))
    expect(found.map(({ error }) => error)).toEqual(QUANTILES.map(() => 0))
    for (const { quantile, value } of found) expect(value).toBeCloseTo(quantileOf(values, quantile), 9)
  })

  test('of values that are not kept lie as near to them as is said', () => {
    const values = randomValues(500, 5, 3)
    const found = quantilesOf(distributionOf(values, { quantiles: QUANTILES }, NOT_KEPT))
    expect(found.map(({ quantile }) => quantile)).toEqual(QUANTILES)
    for (const { quantile, value, error } of found) {
      expect(Math.abs(value - quantileOf(values, quantile))).toBeLessThanOrEqual(error + 1e-9)
      expect(error).toBeLessThan(5000 / 64)
    }
  })

  test('of values of which blocks are known lie as near to them as is said', () => {
    const values = randomValues(600, 11, 3).sort(([a], [b]) => a - b)
    const all = { quantiles: QUANTILES, ends: endsOf(values) }
    const distribution = distributionOf(values.slice(0, 100), all, NOT_KEPT)
    for (let at = 100; at < 600; at += 25) addBlock(distribution, values.slice(at, at + 25))
    const found = quantilesOf(distribution)
    expect(found.some(({ error }) => error > 0)).toBe(true)
    for (const { quantile, value, error } of found) {
      expect(Math.abs(value - quantileOf(values, quantile))).toBeLessThanOrEqual(error + 1e-9)
      expect(error).toBeLessThan(1500)
    }
  })
})

describe('a histogram', () => {
  test('has the weight of each bin, and the last one has the largest value', () => {
    const values: Weighed[] = [
      [0, 1],
      [4.9, 1],
      [5, 4],
      [10, 2],
    ]
    expect(distributionOf(values, { bins: 2 }, KEPT).histogram()).toEqual([
      { from: 0, to: 5, share: 0.25, error: 0 },
      { from: 5, to: 10, share: 0.75, error: 0 },
    ])
  })

  test('has classes where there are no more different values than bins', () => {
    const values: Weighed[] = [
      [7, 1],
      [1, 2],
      [2, 4],
      [7, 1],
    ]
    expect(distributionOf(values, { bins: 3 }, KEPT).histogram()).toEqual([
      { from: 1, to: 1, share: 0.25, error: 0 },
      { from: 2, to: 2, share: 0.5, error: 0 },
      { from: 7, to: 7, share: 0.25, error: 0 },
    ])
  })

  test('of values of which blocks are known is as near as it says', () => {
    const values = randomValues(600, 13, 3).sort(([a], [b]) => a - b)
    const distribution = distributionOf([], { bins: 5, ends: endsOf(values) }, NOT_KEPT)
    for (let at = 0; at < 600; at += 20) addBlock(distribution, values.slice(at, at + 20))
    const total = values.reduce((sum, [, weight]) => sum + weight, 0)
    const bins = distribution.histogram()
    expect(bins.reduce((sum, { share }) => sum + share, 0)).toBeCloseTo(1, 12)
    for (const [index, { from, to, share, error }] of bins.entries()) {
      const inside = values.filter(([value]) => value >= from && (value < to || index === 4))
      const exact = inside.reduce((sum, [, weight]) => sum + weight, 0) / total
      expect(Math.abs(share - exact)).toBeLessThanOrEqual(error + 1e-9)
    }
  })
})

function addBlock(distribution: Distribution, values: Weighed[]): void {
  const weight = values.reduce((sum, [, of]) => sum + of, 0)
  const mean = values.reduce((sum, [value, of]) => sum + value * of, 0) / weight
  const squares = values.reduce((sum, [value, of]) => sum + of * (value - mean) ** 2, 0)
  const [minimum, maximum] = endsOf(values)
  distribution.addRange({ minimum, maximum, mean, deviation: Math.sqrt(squares / weight), weight })
}

/** By definition: the smallest value with which the weight of all that are not larger reaches the part. */
function quantileOf(values: Weighed[], part: number): number {
  const total = values.reduce((sum, [, weight]) => sum + weight, 0)
  const reached = values.filter(([value]) => {
    const upTo = values.reduce((sum, [other, weight]) => (other <= value ? sum + weight : sum), 0)
    return upTo >= part * total - 1e-9 * total
  })
  return Math.min(...reached.map(([value]) => value))
}

function randomValues(count: number, seed: number, digits: number): Weighed[] {
  const random = randomNumbers(seed)
  return Array.from({ length: count }, () => [
    Number((random() ** 3 * 5000).toFixed(digits)),
    random() + 0.01,
  ])
}

function endsOf(values: Weighed[]): [number, number] {
  return [Math.min(...values.map(([value]) => value)), Math.max(...values.map(([value]) => value))]
}

function distributionOf(
  values: Weighed[],
  { quantiles = [] as number[], bins = 0, ends = endsOf(values) },
  room: DistributionMemory,
): Distribution {
  const [minimum, maximum] = ends
  const distribution = new Distribution({ minimum, maximum }, { quantiles, bins }, room)
  for (let at = 0; at < values.length; at += PART) addValues(distribution, values.slice(at, at + PART))
  return distribution
}

const PART = 70

/** As pixels that have to be scaled, and others among them that do not count. */
function addValues(distribution: Distribution, values: Weighed[]): void {
  const pixels = values.flatMap(([value]) => [value / 2 - 5, NODATA, 7])
  distribution.addPixels({
    count: pixels.length,
    areas: Float64Array.from([...values.flatMap(([, weight]) => [weight, 1, 0]), 9]),
    pixels: Float64Array.from([...pixels, 3]),
    nodata: NODATA,
    scale: 2,
    offset: 10,
  })
}

const NODATA = -99

function quantilesOf(distribution: Distribution): Quantile[] {
  return [...distribution.quantiles()].filter((quantile) => quantile !== undefined)
}
