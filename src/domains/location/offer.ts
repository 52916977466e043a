import { PRODUCTS, type Product } from '#schemas/common.ts'
import type { ProductAvailability, UnavailableReason } from '#schemas/location.ts'
import { PRODUCT_RULES } from '#src/products/rules.ts'
import type { OfferAtPoint } from './queries.ts'

/** What each product has at a point of a country, in the words of the point endpoints' errors. */
export function availabilityOf(
  { crop, crops, bounded, products }: OfferAtPoint,
  inside: boolean,
): Record<Product, ProductAvailability> {
  return eachProduct((product) => {
    const needsCrop = PRODUCT_RULES[product].perSeason
    if (needsCrop && (crop === null || !crops.includes(crop))) return 'CROP_NOT_AVAILABLE'
    const state = products.find((entry) => entry.product === product)
    if (!state?.published) return 'NO_RELEASE'
    // The raster decides, not the outline: rasters reach over coarse outlines.
    if (state.hasValue) return undefined
    return bounded && !inside ? 'OUTSIDE_COUNTRY' : 'NO_DATA'
  })
}

/** What each product has where none of the countries is. */
export function nothingAvailable(): Record<Product, ProductAvailability> {
  return eachProduct(() => 'OUTSIDE_COUNTRY')
}

function eachProduct(
  reasonOf: (product: Product) => UnavailableReason | undefined,
): Record<Product, ProductAvailability> {
  const entries = PRODUCTS.map((product) => {
    const reason = reasonOf(product)
    return [product, reason ? { available: false, reason } : { available: true }]
  })
  return Object.fromEntries(entries)
}
