import { POINT_DEFAULTS, type PointRequest } from '#schemas/point-request.ts'
import { isoMonth, monthAndYear } from '#src/lib/month.ts'
import type { ProductDefinition } from '#src/products/define.ts'
import type { LayerLabel, ReleaseLabels } from './queries.ts'
import type { LayerValues } from './values.ts'

/** An entry of an answer: what says which layer it is of, then its value. */
export type Entry = Record<string, string | number | null>

/** A new entry that says which layer it is of. Assigning takes a fifth of the time that spreading does. */
export function labelsOf({ input, seasonal }: ProductDefinition, layer: LayerLabel): Entry {
  const labels: Entry = {}
  if (input) labels[input.key] = layer.input
  if (seasonal) labels.scenario = layer.scenario
  return labels
}

/** The column of a table with a number of a layer: its key, which says the unit, and what tells the layer from others. */
export function columnOf(product: ProductDefinition, layer: LayerLabel, key: string): string {
  return [key, ...Object.values(labelsOf(product, layer)).filter((label) => label !== null)].join(' ')
}

/** The entries of a point's answer, in the release's order; layers without a value are left out. */
export function entriesOf(product: ProductDefinition, release: ReleaseLabels, values: LayerValues): Entry[] {
  const { key } = product.value
  return release.layers.flatMap((layer, index) => {
    const value = values[index] as number
    if (Number.isNaN(value)) return []
    const entry = labelsOf(product, layer)
    entry[key] = value
    return [entry]
  })
}

/** What an answer says of its release, as JSON and as cells of a table. */
export type ReleaseMembers = Record<string, string | boolean | null>

/** What every answer says of its release beside the entries: country, crop, month where it has one, and what it is. */
export function releaseMembers(release: ReleaseLabels): ReleaseMembers {
  const { code, countryCode, cropCode, forecastPeriod, synthetic, stale } = release
  return {
    country_code: countryCode,
    crop: cropCode,
    ...(forecastPeriod !== null && {
      forecast_period: monthAndYear(forecastPeriod),
      forecast_month: isoMonth(forecastPeriod),
    }),
    release: code,
    synthetic,
    ...(stale && { stale }),
  }
}

/** What a release says of a point, as every answer has it. */
export function dataOf(
  product: ProductDefinition,
  release: ReleaseLabels,
  values: LayerValues,
): Record<string, unknown> {
  return {
    ...releaseMembers(release),
    [product.entries]: entriesOf(product, release, values),
  }
}

/** The location of a point's answer. */
export function locationOf({ lat, lng, name = POINT_DEFAULTS.name }: PointRequest) {
  return { name, lat, lng, type: 'point' }
}
