import { ALL_PRODUCTS } from '#schemas/product.ts'
import { ApiError } from '#src/errors.ts'
import type { Products } from '#src/products/define.ts'
import type { ReadRules } from './rules.ts'

/** A request that was answered, as the history has it. */
interface AnsweredRequest {
  kind: 'point' | 'polygon'
  /** The code of the product; `all` where one call answered for every product. */
  product: string
  /** Of the releases that answered. */
  codes: string[]
  request: Record<string, unknown>
}

/** Whether a request that was answered is taken, with the releases named that have answered it. */
export type StillTaken = (answered: AnsweredRequest) => Promise<boolean>

/**
 * Makes what tells whether a request that names the releases that have answered it is taken: what it says of quantities may
 * be refused now, and a version before has taken it. Whether the releases are still there is another question.
 */
export function createStillTaken(readRules: ReadRules, { list }: Products): StillTaken {
  return async ({ kind, product, codes, request }) => {
    const products = list.filter(({ code }) => product === ALL_PRODUCTS || product === code)
    const areasOf = kind === 'polygon' ? 'polygons' : 'request'
    try {
      await readRules({ ...request, release: codes.join(', ') }, products, areasOf)
      return true
    } catch (error) {
      if (!(error instanceof ApiError)) throw error
      if (error.code === 'INVALID_PARAMETERS') return false
      if (error.code === 'NOT_FOUND' || error.code === 'RELEASE_GONE') return true
      throw error
    }
  }
}
