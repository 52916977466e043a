import type { Product } from '#schemas/common.ts'

interface ProductRules {
  /** The unit of the answers; rasters in another one are scaled. */
  unit: string
  /** Decimals of the answers, where a layer does not say otherwise. */
  decimals: number
  /** What a layer's `input` names; null where layers have none. */
  input: string | null
  /** Whether it is published for a crop, a month and scenarios. Forage suitability has none of them. */
  perSeason: boolean
}

export const PRODUCT_RULES: Record<Product, ProductRules> = {
  yield: { unit: 'kg/ha', decimals: 2, input: null, perSeason: true },
  fertilizer: { unit: 'kg/ha', decimals: 2, input: 'a fertilizer, such as Urea', perSeason: true },
  isfm: { unit: 't/ha', decimals: 3, input: 'an organic input, such as Compost', perSeason: true },
  forage: { unit: 'score', decimals: 4, input: 'a forage species', perSeason: false },
}
