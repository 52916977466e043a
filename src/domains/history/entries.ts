import type { ProductDefinition } from '#src/products/define.ts'
import type { HistoryRow } from './queries.ts'
import { isSynthetic, monthOf, type ReleaseSection } from './recorded-answer.ts'

/** A value, or none. */
export type Cell = string | number | null

/** One value of an advisory, the same for all products. */
export interface Entry {
  product: string
  /** The release it is of, where the answer is of several. */
  release: Cell
  synthetic: boolean | null
  forecastPeriod: Cell
  forecastMonth: Cell
  input: Cell
  scenario: Cell
  value: Cell
  unit: string
  /** Of a polygon: over the pixels that it overlaps, in the unit. */
  min: Cell
  max: Cell
  stddev: Cell
  coveredPercent: Cell
  /** Over the covered area, in the unit that the product is totalled in. */
  total: Cell
}

type Section = ReleaseSection & Record<string, unknown>

/** The values of an answer in its order; where it is of several products, one product after the other. */
export function entriesOf(products: readonly ProductDefinition[], row: HistoryRow): Entry[] {
  const whole = row.answer as Section
  return products.flatMap((product) => {
    // Where one call asked for every product, each has its part of the answer, or the reason for none.
    const section = (product.code in whole ? whole[product.code] : whole) as Section
    const entries = (section[product.entries] ?? []) as Section[]
    return entries.map((entry) => entryOf(product, row, section, entry))
  })
}

function entryOf(
  product: ProductDefinition,
  row: HistoryRow,
  section: Section,
  entry: Record<string, unknown>,
): Entry {
  const cell = (key: string | undefined) => (key === undefined ? null : (entry[key] ?? null)) as Cell
  return {
    product: product.code,
    release: section.release ?? null,
    synthetic: isSynthetic(section, row) ?? null,
    forecastPeriod: section.forecast_period ?? null,
    forecastMonth: monthOf(section) ?? null,
    input: cell(product.input?.key),
    scenario: cell('scenario'),
    value: cell(product.value.key),
    unit: product.unit,
    min: cell('min'),
    max: cell('max'),
    stddev: cell('stddev'),
    coveredPercent: cell('covered_percent'),
    total: cell(product.total?.key),
  }
}
