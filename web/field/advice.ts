import { TEXTS } from '../texts/en.ts'

/** @typedef {import('../account/session.ts').Session} Session */
/** @typedef {import('../api-types.ts').CatalogProduct} Product */
/** @typedef {import('./shape.ts').Shape} Shape */

/**
 * @typedef {object} FieldAnswer
 * @property {{ name: string, lat: number, lng: number, area_ha: number }} location
 * @property {string} release
 * @property {boolean} synthetic
 * @property {string} [forecast_period]
 */

/** @typedef {{ product: Product, answer: FieldAnswer } | { product: Product, reason: string }} ProductAdvice */

/** Low, middle and high. */
export const QUANTILES = [0.1, 0.5, 0.9]

/**
 * The advice of every product for a field, or the reason why there is none.
 *
 * @param {Session} session
 * @param {object} wanted
 * @param {import('../api-types.ts').Catalog} wanted.catalog
 * @param {Shape} wanted.shape
 * @param {string} wanted.name
 * @param {string | null} wanted.country
 * @param {string | null} wanted.crop
 * @param {AbortSignal} wanted.signal
 * @returns {Promise<ProductAdvice[]>}
 * @throws {Error} where the field itself is refused, or there is no service
 */
export async function fieldAdvice(
  session,
  { catalog: { products, releases }, shape, name, country, crop, signal },
) {
  const published = (/** @type {Product} */ { product, needs_crop }) =>
    releases.some(
      (one) => one.product === product && one.country_code === country && (!needs_crop || one.crop === crop),
    )
  const place = { geometry: shape, country_code: country, quantiles: QUANTILES, ...(name !== '' && { name }) }
  const advice = await Promise.all(
    products.map(async (product) => {
      if (!published(product)) return { product, reason: TEXTS.nothingPublished }
      const request = { ...place, ...(product.needs_crop && crop && { crop }) }
      try {
        return { product, answer: await session.send(`advisory/${product.product}`, request, { signal }) }
      } catch (error) {
        if (!isReason(error)) throw error
        return { product, reason: /** @type {Error} */ (error).message }
      }
    }),
  )
  return advice
}

/** What says of one product alone that it has no value there. */
const REASONS = ['NO_RELEASE', 'CROP_NOT_AVAILABLE', 'OUTSIDE_COUNTRY', 'NO_DATA']

/** @param {unknown} error */
function isReason(error) {
  return REASONS.includes(/** @type {{ code?: string }} */ (error).code ?? '')
}
