import type { ProductAvailability, UnavailableReason } from '#schemas/location.ts'
import type { ProductDefinition } from '#src/products/define.ts'
import type { OfferAtPoint } from './queries.ts'

/** By the codes of the products. */
type Availability = Record<string, ProductAvailability>

/** What each product has at a point of a country, in the words of the point endpoints' errors. */
export function availabilityOf(
  products: readonly ProductDefinition[],
  offer: OfferAtPoint,
  inside: boolean,
): Availability {
  const { crop, crops, bounded } = offer
  return eachProduct(products, ({ code, seasonal }) => {
    if (seasonal && (crop === null || !crops.includes(crop))) return 'CROP_NOT_AVAILABLE'
    const state = offer.products.find(({ product }) => product === code)
    if (!state?.published) return 'NO_RELEASE'
    // The raster decides, not the outline: rasters reach over coarse outlines.
    if (state.hasValue) return undefined
    return bounded && !inside ? 'OUTSIDE_COUNTRY' : 'NO_DATA'
  })
}

/** What each product has where none of the countries is. */
export function nothingAvailable(products: readonly ProductDefinition[]): Availability {
  return eachProduct(products, () => 'OUTSIDE_COUNTRY')
}

function eachProduct(
  products: readonly ProductDefinition[],
  reasonOf: (product: ProductDefinition) => UnavailableReason | undefined,
): Availability {
  const entries = products.map((product) => {
    const reason = reasonOf(product)
    return [product.code, reason ? { available: false, reason } : { available: true }]
  })
  return Object.fromEntries(entries)
}
