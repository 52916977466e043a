import { describe, expect, test } from 'vitest'
import { Distribution } from '#src/raster/distribution.ts'
import { randomNumbers } from '#test/domains/advisory/polygon/shapes.ts'

const QUANTILES = [0, 0.1, 0.25, 0.5, 0.9, 1]

type Weighed = [value: number, weight: number]

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

const ROOM = { cells: 64, values: 10_000 }

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
    const distribution = new Distribution(...endsOf(values), { quantiles: QUANTILES, bins: 0 }, ROOM)
    for (const [value, weight] of values) distribution.add(value, weight)
    expect([...distribution.quantiles()]).toEqual(
      QUANTILES.map((quantile) => ({ quantile, value: quantileOf(values, quantile), error: 0 })),
    )
  })

  test('of more values than are kept lie as near to them as is said', () => {
    const values = randomValues(500, 5, 3)
    const distribution = new Distribution(
      ...endsOf(values),
      { quantiles: QUANTILES, bins: 0 },
      {
        cells: 64,
        values: 100,
      },
    )
    for (const [value, weight] of values) distribution.add(value, weight)
    for (const { quantile, value, error } of distribution.quantiles()) {
      expect(Math.abs(value - quantileOf(values, quantile))).toBeLessThanOrEqual(error + 1e-9)
      expect(error).toBeLessThan(5000 / 64)
    }
  })

  test('of values of which blocks are known lie as near to them as is said', () => {
    const values = randomValues(600, 11, 3).sort(([a], [b]) => a - b)
    const distribution = new Distribution(...endsOf(values), { quantiles: QUANTILES, bins: 0 }, ROOM)
    for (const [value, weight] of values.slice(0, 100)) distribution.add(value, weight)
    for (let at = 100; at < 600; at += 25) addBlock(distribution, values.slice(at, at + 25))
    const found = [...distribution.quantiles()]
    expect(found.some(({ error }) => error > 0)).toBe(true)
    for (const { quantile, value, error } of found) {
      expect(Math.abs(value - quantileOf(values, quantile))).toBeLessThanOrEqual(error + 1e-9)
      expect(error).toBeLessThan(1500)
    }
  })
})

describe('a histogram', () => {
  test('has the weight of each bin, and the last one has the largest value', () => {
    const distribution = new Distribution(0, 10, { quantiles: [], bins: 2 }, ROOM)
    for (const [value, weight] of [
      [0, 1],
      [4.9, 1],
      [5, 4],
      [10, 2],
    ] as const)
      distribution.add(value, weight)
    expect(distribution.histogram()).toEqual([
      { from: 0, to: 5, share: 0.25, error: 0 },
      { from: 5, to: 10, share: 0.75, error: 0 },
    ])
  })

  test('has classes where there are no more different values than bins', () => {
    const distribution = new Distribution(1, 7, { quantiles: [], bins: 3 }, ROOM)
    for (const [value, weight] of [
      [7, 1],
      [1, 2],
      [2, 4],
      [7, 1],
    ] as const)
      distribution.add(value, weight)
    expect(distribution.histogram()).toEqual([
      { from: 1, to: 1, share: 0.25, error: 0 },
      { from: 2, to: 2, share: 0.5, error: 0 },
      { from: 7, to: 7, share: 0.25, error: 0 },
    ])
  })

  test('of values of which blocks are known is as near as it says', () => {
    const values = randomValues(600, 13, 3).sort(([a], [b]) => a - b)
    const [least, most] = endsOf(values)
    const distribution = new Distribution(least, most, { quantiles: [], bins: 5 }, ROOM)
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
