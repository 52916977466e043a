import { type Decimal, numberOf, quotient, type Rounding, rounded } from '#src/lib/decimal.ts'

/** What amounts are told in. */
export type MassKey = 'kg' | 't'

/** Decimals of amounts, to the gram. */
const MASS_DECIMALS = { kg: 3, t: 6 } as const
const MONEY_DECIMALS = 2

/** A sum of money, as it is told. */
export function moneyOf(value: Decimal): number {
  return numberOf(rounded(value, MONEY_DECIMALS))
}

/** An amount, as it is told. */
export function massOf(value: Decimal, key: MassKey): number {
  return numberOf(rounded(value, MASS_DECIMALS[key]))
}

const HALF: Rounding = 'half away from zero'

/** A mean of money, from the sum and the weight. */
export function meanMoneyOf(sum: Decimal, weight: Decimal): number {
  return numberOf(quotient(sum, weight, MONEY_DECIMALS, HALF))
}

/** A mean of amounts, from the sum and the weight. */
export function meanMassOf(sum: Decimal, weight: Decimal, key: MassKey): number {
  return numberOf(quotient(sum, weight, MASS_DECIMALS[key], HALF))
}
