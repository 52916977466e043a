import type { Catalog, CatalogProduct as Product } from '../api-types.ts'
import { newName, type Session } from '../parts/session.ts'
import type { Shape } from '../parts/shape.ts'
import type { Entry } from '../parts/values.ts'
import { whileBusy } from '../shell/api.ts'
import { TEXTS } from '../texts/en.ts'

export interface FieldAnswer {
  location: { name: string; lat: number; lng: number; area_ha: number }
  release: string
  synthetic: boolean
  forecast_period?: string
  expected?: Entry[]
  condition_source?: string
  /** Where the condition of the field is not known. */
  question?: string
  by_condition?: Alternative[]
}

/** A condition of the field, and how much of the field has it, where a map of the landscape says it. */
export interface Alternative {
  condition: string
  title: string
  share_percent?: number
}

interface Answered {
  product: Product
  answer: FieldAnswer
  /** None of a release without conditions. */
  alternatives: Alternative[]
  /** The condition that is chosen; null for that of the place. */
  chosen: string | null
}

export type ProductAdvice = Answered | { product: Product; reason: string }

/** Low, middle and high. */
const QUANTILES = [0.1, 0.5, 0.9]

export interface Wanted {
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
export async function fieldAdvice(session: Session, wanted: Wanted): Promise<ProductAdvice[]> {
  const {
    catalog: { products, releases },
    country,
    crop,
  } = wanted
  const published = ({ product, needs_crop }: Product) =>
    releases.some(
      (one) => one.product === product && one.country_code === country && (!needs_crop || one.crop === crop),
    )
  return Promise.all(
    products.map(async (product) => {
      if (!published(product)) return { product, reason: TEXTS.nothingPublished }
      try {
        const answer = await askFor(session, product, wanted, EVERY_CONDITION)
        return { product, answer, alternatives: answer.by_condition ?? [], chosen: null }
      } catch (error) {
        if (!isReason(error)) throw error
        return { product, reason: (error as Error).message }
      }
    }),
  )
}

/** With it an answer has all of them beside that of the place. */
const EVERY_CONDITION = 'all'

/** The advice of a product for the field under a condition; null for that of the place. */
export async function adviceUnder(
  session: Session,
  { product, alternatives }: Answered,
  wanted: Wanted,
  chosen: string | null,
): Promise<ProductAdvice> {
  const answer = await askFor(session, product, wanted, chosen ?? EVERY_CONDITION)
  return { product, answer, alternatives, chosen }
}

function askFor(
  session: Session,
  product: Product,
  { shape, name, country, crop, signal }: Wanted,
  condition: string,
): Promise<FieldAnswer> {
  const request = {
    ...{ geometry: shape, country_code: country, quantiles: QUANTILES, condition },
    ...(name !== '' && { name }),
    ...(product.needs_crop && crop && { crop }),
  }
  // With a login each answer is kept: one, however often it is asked for.
  const headers: HeadersInit = session.user() ? { 'idempotency-key': newName() } : {}
  const send = () => session.send<FieldAnswer>(`advisory/${product.product}`, request, { signal, headers })
  return whileBusy(send, signal)
}

/** Codes that say of one product alone why it has no value. */
const REASONS = ['NO_RELEASE', 'CROP_NOT_AVAILABLE', 'OUTSIDE_COUNTRY', 'NO_DATA']

function isReason(error: unknown) {
  return REASONS.includes((error as { code?: string }).code ?? '')
}
