import type { Catalog, CatalogProduct } from '../api-types.ts'
import { normalFirst } from '../parts/values.ts'
import { ApiFailure, get, type Query } from '../shell/api.ts'

/** The answer of a product at a place, in the same form for all products. */
export interface Section {
  product: string
  unit: string
  release: string | null
  /** The month, in words. */
  period: string | null
  synthetic: boolean
  stale: boolean
  entries: { input: string | null; scenario: string | null; value: number }[]
  /** Why there is no value. */
  reason: string | null
}

/** A product's part of an answer about all products. */
interface Answered {
  release?: string
  forecast_period?: string
  synthetic?: boolean
  stale?: boolean
  error?: string
  [entries: string]: unknown
}

/** Reads the answer about all products at a point. */
export function sectionsOf(products: CatalogProduct[], answer: Record<string, Answered>): Section[] {
  return products.map(({ product, unit, value }) => {
    const section = answer[product] ?? {}
    return {
      product,
      unit,
      release: section.release ?? null,
      period: section.forecast_period ?? null,
      synthetic: section.synthetic === true,
      stale: section.stale === true,
      entries: entriesOf(section, value.key),
      reason: section.error ?? null,
    }
  })
}

/**
 * The entries of an answer about one product: its list has another name and other keys in each.
 *
 * @param key of values
 */
function entriesOf(section: object, key: string): Section['entries'] {
  const entries =
    Object.values(section).find((member) => Array.isArray(member) && key in (member[0] ?? {})) ?? []
  const read: Section['entries'] = entries.map((entry: Record<string, unknown>) => {
    const input = Object.entries(entry).find(([name]) => name !== key && name !== 'scenario')?.[1]
    return { input: input ?? null, scenario: entry.scenario ?? null, value: entry[key] }
  })
  return normalFirst(read, (entry) => entry)
}

/** Where no product has a value the answer is an error, whose details say why of each. */
export function sectionsOfFailure(products: CatalogProduct[], failure: ApiFailure): Section[] {
  return products.map(({ product, unit }) => {
    const reason = failure.details.find(({ field }) => field === product)?.message ?? failure.message
    return { product, unit, release: null, period: null, synthetic: false, stale: false, entries: [], reason }
  })
}

/** Asks what all products say at a place. */
export async function askAt({ products }: Catalog, query: Query, signal: AbortSignal) {
  try {
    return sectionsOf(products, await get('advisory/point', query, { signal }))
  } catch (error) {
    // That there is no value anywhere is an answer, too.
    if (error instanceof ApiFailure && error.status === 404) return sectionsOfFailure(products, error)
    throw error
  }
}
