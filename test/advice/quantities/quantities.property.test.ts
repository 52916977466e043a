import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { fertilizer } from '#schemas/products/fertilizer.ts'
import { computeQuantities, costOfShare, largestShare } from '#src/advice/quantities/compute.ts'
import { readPlan } from '#src/advice/quantities/plan.ts'
import { compare, type Decimal, quotient, times, toDecimal, toNumber } from '#src/lib/decimal.ts'

/** An exact rational, as a fraction of whole numbers: the oracle. */
type Rational = readonly [top: bigint, bottom: bigint]

const decimals = (most: number, places: number) =>
  fc.integer({ min: 0, max: most * 10 ** places }).map((digits) => Number(`${digits}e-${places}`))
const positive = (most: number, places: number) => decimals(most, places).filter((value) => value > 0)

const RATES = fc.array(fc.tuple(decimals(400, 2), decimals(400, 2)), { minLength: 1, maxLength: 4 })
const SEASONS = ['Above Normal', 'Normal', 'Below Normal', 'Dominant']

describe('quantities are those of exact fractions, rounded once', () => {
  const LAYERS = (count: number) =>
    SEASONS.slice(0, count).flatMap((scenario) =>
      ['Urea', 'DAP'].map((input) => ({ input, scenario, condition: null, decimals: 2 })),
    )

  test('amounts, bags, costs and their mean', () => {
    const request = fc.record({
      rates: RATES,
      area: positive(500, 4),
      urea: positive(100, 1),
      perBag: decimals(9000, 2),
      perKg: decimals(200, 3),
      weights: fc.array(fc.integer({ min: 0, max: 9 }), { minLength: 4, maxLength: 4 }),
    })
    fc.assert(
      fc.property(request, ({ rates, area, urea, perBag, perKg, weights }) => {
        const scenarios = SEASONS.slice(0, rates.length)
        fc.pre(weights.slice(0, rates.length).some((weight) => weight > 0))
        const plan = readPlan({
          area: { value: area, unit: 'ha' },
          bags: { urea },
          prices: { currency: 'ETB', per_bag: { Urea: perBag }, per_kg: { DAP: perKg } },
          scenario_weights: Object.fromEntries(
            SEASONS.map((name, index) => [name, weights[index] as number]),
          ),
        })
        if (!plan?.area) throw new Error('there is a plan')
        const hectares = plan.area
        const amounts = rates.flat().map((rate) => times(toDecimal(rate), hectares.hectares))
        const rules = { plan, compositions: [] }
        const { entries, quantities } = computeQuantities(
          rules,
          fertilizer,
          LAYERS(rates.length),
          amounts,
          hectares,
        )

        const costs = rates.map(([ofUrea, ofDap], index) => {
          const [kgUrea, kgDap] = [ofUrea, ofDap].map((rate) => multiply(rational(rate), rational(area)))
          if (!kgUrea || !kgDap) throw new Error('two rates')
          const bags = ceiling(divide(kgUrea, rational(urea)))
          const ureaCost = multiply(bags, rational(perBag))
          const dapCost = multiply(kgDap, rational(perKg))
          const [rest] = [add(multiply(bags, rational(urea)), multiply(kgUrea, [-1n, 1n]))]
          expect(entries[2 * index]).toEqual({
            kg: roundedTo(kgUrea, 3),
            bags: Number(bags[0]),
            bag_kg: urea,
            rest_kg: roundedTo(rest, 3),
            cost: roundedTo(ureaCost, 2),
          })
          expect(entries[2 * index + 1]).toEqual({ kg: roundedTo(kgDap, 3), cost: roundedTo(dapCost, 2) })
          return add(ureaCost, dapCost)
        })
        const told = costs.map((cost) => roundedTo(cost, 2))
        expect(quantities.scenarios).toEqual(scenarios.map((scenario, at) => ({ scenario, cost: told[at] })))
        const least = costs.reduce(
          (best, cost, at) => (isAtMost(costs[best] as Rational, cost) ? best : at),
          0,
        )
        const most = costs.reduce(
          (best, cost, at) => (isAtMost(cost, costs[best] as Rational) ? best : at),
          0,
        )
        expect(quantities.least).toEqual({ scenario: scenarios[least], cost: told[least] })
        expect(quantities.most).toEqual({ scenario: scenarios[most], cost: told[most] })
        const weighed = costs.map((cost, at) => multiply(cost, rational(weights[at] as number)))
        const weight = weights.slice(0, rates.length).reduce((sum, one) => sum + one, 0)
        expect(quantities.expected).toEqual({
          scenario: 'Mean by scenario_weights',
          cost: roundedTo(divide(weighed.reduce(add), rational(weight)), 2),
        })
      }),
      { numRuns: 100 },
    )
  })
})

type Purchase = Parameters<typeof costOfShare>[0][number]

describe('the share of a budget', () => {
  const purchase = fc
    .record({ kilograms: decimals(300, 1), bag: fc.option(positive(60, 1)), price: decimals(500, 1) })
    .map(
      ({ kilograms, bag, price }): Purchase => ({
        kilograms: toDecimal(kilograms),
        bag: bag === null ? null : toDecimal(bag),
        price: toDecimal(price),
      }),
    )

  test('is paid for, and the next one of four decimals is not', () => {
    fc.assert(
      fc.property(
        fc.array(purchase, { minLength: 1, maxLength: 4 }),
        decimals(20_000, 1),
        (purchases, money) => {
          const budget = toDecimal(money)
          const costs = (share: Decimal) => costOfShare(purchases, share)
          const share = largestShare(purchases, budget)
          const digits = quotient(share, { digits: 1n, scale: 4 }, 0, 'down').digits
          expect(compare(costs(share), budget)).toBeLessThanOrEqual(0)
          if (digits === 10_000n) return
          expect(compare(costs({ digits: digits + 1n, scale: 4 }), budget)).toBeGreaterThan(0)
        },
      ),
      { numRuns: 200 },
    )
  })

  test('takes few steps, however many bags there are', () => {
    const grains: Purchase = { kilograms: toDecimal(2e9), bag: toDecimal(1e-12), price: toDecimal(1) }
    const one: Purchase = { kilograms: toDecimal(2e9), bag: toDecimal(1e4), price: toDecimal(1e9) }
    expect(toNumber(largestShare([grains, one], toDecimal(1e12)))).toBe(0)
    expect(toNumber(largestShare([one], toDecimal(1e14)))).toBe(0.5)
  })
})

test('an area that is longer than any is refused before it is read', () => {
  expect(readPlan({ area: `${' '.repeat(100)}2.5 ha` })?.area).toMatchObject({ unit: 'ha' })
  expect(() => readPlan({ area: `${'1'.repeat(3999)}!` })).toThrow('area must be at most 150 characters long')
})

/** Read digit by digit from the text of a number, and not as the code reads it. */
function rational(value: number): Rational {
  const [, sign, digits = '', fraction = '', exponent = '0'] =
    /^(-?)(\d+)\.?(\d*)e([+-]\d+)$/.exec(value.toExponential()) ?? []
  const shift = Number(exponent) - fraction.length
  const whole = BigInt(digits + fraction) * (sign === '-' ? -1n : 1n)
  return shift >= 0 ? [whole * 10n ** BigInt(shift), 1n] : [whole, 10n ** BigInt(-shift)]
}

const add = ([a, b]: Rational, [c, d]: Rational): Rational => [a * d + c * b, b * d]
const multiply = ([a, b]: Rational, [c, d]: Rational): Rational => [a * c, b * d]
const divide = ([a, b]: Rational, [c, d]: Rational): Rational => [a * d, b * c]
const isAtMost = ([a, b]: Rational, [c, d]: Rational) => a * d <= c * b
const ceiling = ([a, b]: Rational): Rational => [(a + b - 1n) / b, 1n]

/** What a number that is at least 0 is rounded to. */
function roundedTo([top, bottom]: Rational, decimals: number): number {
  const scaled = (2n * top * 10n ** BigInt(decimals) + bottom) / (2n * bottom)
  return Number(`${scaled}e-${decimals}`)
}
