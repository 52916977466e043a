import type { CatalogProduct, Conditions } from '../api-types.ts'
import { type Certainty, certaintyOf, type Entry, inputOf, normalFirst } from '../parts/values.ts'

/** The answer of a product at a place, in the same form for all products. */
export interface Section {
  product: string
  unit: string
  release: string | null
  /** The month, in words. */
  period: string | null
  synthetic: boolean
  stale: boolean
  entries: SectionEntry[]
  /** The mean of the seasons by their odds, of each input and condition. */
  expected: ExpectedEntry[]
  /** Whether a map of the landscape says the condition of the place. */
  byLandscape: boolean
  /** Those of the release; undefined for a release without any. */
  conditions: Conditions | undefined
  /** Why there is no value. */
  reason: string | null
  /** Whether its release has not the condition of the query. */
  refused?: true
}

interface ExpectedEntry {
  input: string | null
  /** Of the field; null for all. */
  condition: string | null
  value: number
}

export interface SectionEntry extends ExpectedEntry, Certainty {
  scenario: string | null
}

/** A product's part of an answer about all products. */
export interface Answered {
  release?: string
  forecast_period?: string
  synthetic?: boolean
  stale?: boolean
  error?: string
  details?: { field: string }[]
  expected?: Entry[]
  condition_source?: string
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
      entries: readEntries(section, value.key),
      expected: (section.expected ?? []).map((entry) => labelsOf(entry, value.key)),
      byLandscape: section.condition_source === 'landscape layer',
      conditions: undefined,
      reason: section.error ?? null,
      ...(section.details?.[0]?.field === 'condition' && { refused: true as const }),
    }
  })
}

/**
 * The entries of an answer about one product: its list has another name and other keys in each.
 *
 * @param key of values
 */
export function readEntries(section: object, key: string): SectionEntry[] {
  const [, entries] =
    Object.entries(section).find(
      ([name, member]) => name !== 'expected' && Array.isArray(member) && key in Object(member[0]),
    ) ?? []
  const read = ((entries ?? []) as Entry[]).map((entry) => readEntry(entry, key))
  return normalFirst(read, ({ input, condition, scenario }) => ({
    input: JSON.stringify([input, condition]),
    scenario,
  }))
}

/** @param key of its value */
export function readEntry(entry: Entry, key: string): SectionEntry {
  const scenario = (entry.scenario as string | undefined) ?? null
  return { ...labelsOf(entry, key), scenario, ...certaintyOf(entry) }
}

function labelsOf(entry: Entry, key: string): ExpectedEntry {
  const condition = (entry.condition as string | undefined) ?? null
  return { input: inputOf(entry), condition, value: entry[key] as number }
}

export const scenariosOf = (sections: Section[]) =>
  sections.flatMap(({ entries }) => entries.map(({ scenario }) => scenario))

interface Failure {
  message: string
  details: { field: string; message: string }[]
}

/** Where no product has a value the answer is an error, whose details say why of each. */
export function sectionsOfFailure(products: CatalogProduct[], failure: Failure): Section[] {
  return sectionsOf(products, {}).map((section) => ({
    ...section,
    reason: failure.details.find(({ field }) => field === section.product)?.message ?? failure.message,
  }))
}
