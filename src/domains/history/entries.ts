import { PRODUCTS, type Product } from '#schemas/common.ts'
import { PRODUCT_RULES } from '#src/products/rules.ts'

/** How the entries of a product read in the answers that were kept. */
interface EntryKeys {
  entries: string
  input: string | null
  value: string
  total: string | null
}

const ENTRY_KEYS: Record<Product, EntryKeys> = {
  yield: { entries: 'yield_data', input: null, value: 'yield_kg_ha', total: null },
  fertilizer: {
    entries: 'fertilizer_data',
    input: 'fertilizer_type',
    value: 'rate_kg_ha',
    total: 'total_kg',
  },
  isfm: { entries: 'isfm_data', input: 'isfm_type', value: 'rate_tons_ha', total: 'total_tons' },
  forage: { entries: 'forage_data', input: 'forage_variety', value: 'suitability_score', total: null },
}

type Cell = string | number | null

/** One value of an advisory, the same for all products. */
export interface Entry {
  product: Product
  /** The release it is of, where the answer is of several. */
  release: Cell
  forecastPeriod: Cell
  input: Cell
  scenario: Cell
  value: Cell
  unit: string
  /** Of a polygon: over the pixels that it overlaps, in the unit. */
  min: Cell
  max: Cell
  stddev: Cell
  coveredPercent: Cell
  /** Over the covered area: kilograms of fertilizers, metric tons of organic inputs. */
  total: Cell
}

type Section = Record<string, unknown>

/** The values of an answer in its order; where it is of several products, one product after the other. */
export function entriesOf(answer: object): Entry[] {
  const whole = answer as Section
  return PRODUCTS.flatMap((product) => {
    // Where one call asked for every product, each has its part of the answer, or the reason for none.
    const section = (product in whole ? whole[product] : whole) as Section
    const keys = ENTRY_KEYS[product]
    const entries = (section[keys.entries] ?? []) as Section[]
    return entries.map((entry) => entryOf(product, keys, section, entry))
  })
}

function entryOf(
  product: Product,
  { input, value, total }: EntryKeys,
  section: Section,
  entry: Section,
): Entry {
  const cell = (key: string | null) => ((key !== null && entry[key]) ?? null) as Cell
  return {
    product,
    release: (section.release ?? null) as Cell,
    forecastPeriod: (section.forecast_period ?? null) as Cell,
    input: input === null ? null : cell(input),
    scenario: cell('scenario'),
    value: cell(value),
    unit: PRODUCT_RULES[product].unit,
    min: cell('min'),
    max: cell('max'),
    stddev: cell('stddev'),
    coveredPercent: cell('covered_percent'),
    total: total === null ? null : cell(total),
  }
}
