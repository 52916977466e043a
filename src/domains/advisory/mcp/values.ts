import type { ProductDefinition } from '#src/products/define.ts'
import type { AdviceBody } from '../lookup/advice-desk.ts'
import type { Entry } from '../lookup/products.ts'

/** What stands for an input or a scenario that a layer has not. */
const NONE = 'any'

/** What one product says, as the endpoints have it. */
export interface Section {
  release: string
  forecast_month?: string
  synthetic: boolean
  stale?: boolean
  entries: Entry[]
}

/** Reads what an answer has of a product; undefined where it has a reason for having none. */
export function sectionOf(product: ProductDefinition, body: AdviceBody): Section | undefined {
  const { [product.entries]: entries, release, forecast_month, synthetic, stale } = body
  if (!Array.isArray(entries)) return undefined
  return { release, forecast_month, synthetic, stale, entries } as Section
}

/** What answers say of the release that a section is from. */
export function releaseOf({ release, forecast_month, synthetic, stale }: Section) {
  return { release, ...(forecast_month && { forecast_month }), synthetic, ...(stale && { stale }) }
}

/** Values by their input, where the product has any, and by their scenario, where it has those. */
export function valuesOf(product: ProductDefinition, entries: readonly Entry[]): object {
  const { input, seasonal, value } = product
  const byInput = new Map<string, Map<string, unknown>>()
  for (const entry of entries) {
    const name = labelOf(input ? entry[input.key] : null)
    const scenarios = byInput.get(name) ?? new Map()
    byInput.set(name, scenarios.set(labelOf(seasonal ? entry.scenario : null), entry[value.key]))
  }
  // Not by assignment: a source may call a layer __proto__.
  const named = [...byInput].map(([name, scenarios]) => {
    return [name, seasonal ? Object.fromEntries(scenarios) : scenarios.get(NONE)]
  })
  return input ? Object.fromEntries(named) : Object.fromEntries(byInput.get(NONE) ?? [])
}

/** The best come first where there is nothing but a score to choose by. */
export function inOrder(product: ProductDefinition, entries: readonly Entry[]): Entry[] {
  const { key } = product.value
  return product.seasonal ? [...entries] : [...entries].sort((a, b) => Number(b[key]) - Number(a[key]))
}

export function labelOf(label: unknown): string {
  return label === null || label === undefined ? NONE : String(label)
}
