import { type Decimal, decimalOf, numberOf, rounded, times } from '#src/lib/decimal.ts'
import type { Composition } from './queries.ts'
import { keyOf } from './reading.ts'

const GRAMS = 3

/** The nutrients in some kilograms of a product; undefined where its composition is not known. */
export function nutrientsOf(
  compositions: readonly Composition[],
  input: string,
  kilograms: Decimal,
): Record<string, number> | undefined {
  const found = compositions.find(({ name }) => keyOf(name) === keyOf(input))
  if (!found) return undefined
  const { n, p2o5, k2o, s } = found
  const of = (percent: number) => {
    const { digits, scale } = times(kilograms, decimalOf(percent))
    return numberOf(rounded({ digits, scale: scale + 2 }, GRAMS))
  }
  return { N: of(n), P2O5: of(p2o5), K2O: of(k2o), S: of(s) }
}
