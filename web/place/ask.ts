import { ApiFailure, get } from '../shell/api.ts'
import { sectionsOf, sectionsOfFailure } from './sections.ts'

/**
 * Asks what all products say at a place.
 *
 * @param {import('../api-types.ts').Catalog} catalog
 * @param {Record<string, string | number | null | undefined>} query
 * @param {AbortSignal} signal
 */
export async function askAt({ products }, query, signal) {
  try {
    return sectionsOf(products, await get('advisory/point', query, { signal }))
  } catch (error) {
    // That there is no value anywhere is an answer, too.
    if (error instanceof ApiFailure && error.status === 404) return sectionsOfFailure(products, error)
    throw error
  }
}
