import type { Catalog, CatalogProduct, Conditions } from '../api-types.ts'
import { ApiFailure, get, type Query } from '../shell/api.ts'
import { type Section, sectionsOf, sectionsOfFailure } from './answered.ts'

type ConditionsOf = (release: string) => Promise<Conditions | undefined>

/**
 * Asks what all products say at a place.
 *
 * @param query its `condition` may be one that only some releases have, or none
 */
export async function askAt(
  { products }: Catalog,
  query: Query,
  conditionsOf: ConditionsOf,
  signal: AbortSignal,
): Promise<Section[]> {
  const find = async (asked: Query) =>
    Promise.all(
      (await askAll(products, asked, signal)).map(async (section) => ({
        ...section,
        conditions: hasConditions(section) ? await conditionsOf(section.release ?? '') : undefined,
      })),
    )
  const { condition: _, ...others } = query
  try {
    const sections = await find(query)
    if (!sections.some(({ refused }) => refused)) return sections
    const again = await find(others)
    return sections.map((section, index) => (section.refused ? (again[index] ?? section) : section))
  } catch (error) {
    // No product has a value, and a release has not the condition.
    if (!isAboutCondition(error)) throw error
    return find(others)
  }
}

async function askAll(products: CatalogProduct[], query: Query, signal: AbortSignal) {
  try {
    return sectionsOf(products, await get(pathOf(query), query, { signal }))
  } catch (error) {
    // That there is no value anywhere is an answer, too.
    if (error instanceof ApiFailure && error.status === 404) return sectionsOfFailure(products, error)
    throw error
  }
}

/** The operation for a position, or for the area of a place. */
export const pathOf = (query: Query) => (query.place ? 'advisory' : 'advisory/point')

const hasConditions = ({ entries }: Section) => entries.some(({ condition }) => condition !== null)

/** The details of all products name the product, and begin their message with the field. */
const isAboutCondition = (error: unknown) =>
  error instanceof ApiFailure &&
  error.details.some(({ field, message }) => field === 'condition' || message.startsWith('condition '))
