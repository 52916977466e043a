import type { Catalog } from '../api-types.ts'
import { ApiFailure, get, type Query } from '../shell/api.ts'
import { sectionsOf, sectionsOfFailure } from './sections.ts'

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
