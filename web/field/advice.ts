import type { Session } from '../account/session.ts'
import type { Catalog, CatalogProduct as Product } from '../api-types.ts'
import type { Entry } from '../parts/values.ts'
import { TEXTS } from '../texts/en.ts'
import type { Shape } from './shape.ts'

export interface FieldAnswer {
  location: { name: string; lat: number; lng: number; area_ha: number }
  release: string
  synthetic: boolean
  forecast_period?: string
  expected?: Entry[]
  condition_source?: string
  /** Where several conditions of the field answer. */
  question?: string
}

export type ProductAdvice = { product: Product; answer: FieldAnswer } | { product: Product; reason: string }

/** Low, middle and high. */
const QUANTILES = [0.1, 0.5, 0.9]

interface Wanted {
  catalog: Catalog
  shape: Shape
  name: string
  country: string | null
  crop: string | null
  signal: AbortSignal
}

/**
 * The advice of every product for a field, or the reason why there is none.
 *
 * @throws {Error} where the field itself is refused, or there is no service
 */
export async function fieldAdvice(
  session: Session,
  { catalog: { products, releases }, shape, name, country, crop, signal }: Wanted,
): Promise<ProductAdvice[]> {
  const published = ({ product, needs_crop }: Product) =>
    releases.some(
      (one) => one.product === product && one.country_code === country && (!needs_crop || one.crop === crop),
    )
  const place = { geometry: shape, country_code: country, quantiles: QUANTILES, ...(name !== '' && { name }) }
  return Promise.all(
    products.map(async (product) => {
      if (!published(product)) return { product, reason: TEXTS.nothingPublished }
      const request = { ...place, ...(product.needs_crop && crop && { crop }) }
      try {
        return {
          product,
          answer: await session.send<FieldAnswer>(`advisory/${product.product}`, request, { signal }),
        }
      } catch (error) {
        if (!isReason(error)) throw error
        return { product, reason: (error as Error).message }
      }
    }),
  )
}

/** Codes that say of one product alone why it has no value. */
const REASONS = ['NO_RELEASE', 'CROP_NOT_AVAILABLE', 'OUTSIDE_COUNTRY', 'NO_DATA']

function isReason(error: unknown) {
  return REASONS.includes((error as { code?: string }).code ?? '')
}
