import { POINT_DEFAULTS, type PointRequest } from '#schemas/advisory.ts'
import type { Product } from '#schemas/common.ts'
import type { LayerLabel, ReleaseLabels } from './queries.ts'
import type { LayerValues } from './values.ts'

/** How the answers of a product read. */
export interface ProductAnswer {
  /** The key of the entries. */
  entries: string
  /** The key of an entry's value. */
  value: string
  /** What says which layer an entry is of. */
  labels(layer: LayerLabel): Record<string, string | null>
}

export const PRODUCT_ANSWERS: Record<Product, ProductAnswer> = {
  yield: {
    entries: 'yield_data',
    value: 'yield_kg_ha',
    labels: ({ scenario }) => ({ scenario }),
  },
  fertilizer: {
    entries: 'fertilizer_data',
    value: 'rate_kg_ha',
    labels: ({ input, scenario }) => ({ fertilizer_type: input, scenario }),
  },
  isfm: {
    entries: 'isfm_data',
    value: 'rate_tons_ha',
    labels: ({ input, scenario }) => ({ isfm_type: input, scenario }),
  },
  forage: {
    entries: 'forage_data',
    value: 'suitability_score',
    labels: ({ input }) => ({ forage_variety: input }),
  },
}

/** The entries of a point's answer, in the release's order; layers without a value are left out. */
export function entriesOf(
  product: Product,
  release: ReleaseLabels,
  values: LayerValues,
): Record<string, unknown>[] {
  const { value: key, labels } = PRODUCT_ANSWERS[product]
  return release.layers.flatMap((layer, index) => {
    const value = values[index] as number
    return Number.isNaN(value) ? [] : [{ ...labels(layer), [key]: value }]
  })
}

/** What a release says of a point, as every answer has it: its month, where it has one, and the entries. */
export function dataOf(
  product: Product,
  release: ReleaseLabels,
  values: LayerValues,
): Record<string, unknown> {
  return {
    ...(release.forecastPeriod && { forecast_period: monthAndYear(release.forecastPeriod) }),
    [PRODUCT_ANSWERS[product].entries]: entriesOf(product, release, values),
  }
}

/** The location of a point's answer. */
export function locationOf({ lat, lng, name = POINT_DEFAULTS.name }: PointRequest) {
  return { name, lat, lng, type: 'point' }
}

const MONTH_AND_YEAR = new Intl.DateTimeFormat('en', { month: 'long', year: 'numeric', timeZone: 'UTC' })

/** Month and year in English, "July 2026", of an ISO date. */
export function monthAndYear(date: string): string {
  return MONTH_AND_YEAR.format(new Date(`${date}T00:00:00Z`))
}
