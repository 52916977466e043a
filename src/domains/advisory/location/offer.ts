import type { ProductAvailability, UnavailableReason } from '#schemas/location.ts'
import type { ProductDefinition } from '#src/products/define.ts'
import type { PublishedRelease } from '../lookup/published-release.ts'
import type { Snapshot } from '../lookup/snapshot.ts'

/** What a country offers. */
export interface Offer {
  /** Whether any of its boundaries are loaded. */
  bounded: boolean
  crops: string[]
  /** The crop asked for, or else its first; null where it has none. */
  crop: string | null
  /** The releases that answer for the crop, at most one a product. */
  releases: PublishedRelease[]
}

/** By the codes of the products. */
type Availability = Record<string, ProductAvailability>

/** What is published for a country and crop; undefined where there is no such country. */
export function offerOf(
  snapshot: Snapshot,
  products: readonly ProductDefinition[],
  countryCode: string,
  wantedCrop: string | null,
): Offer | undefined {
  const country = snapshot.countries.find(({ code }) => code === countryCode)
  if (!country) return undefined
  const { crops } = country
  const crop = snapshot.cropNamed(wantedCrop) ?? crops[0] ?? null
  const releases = products.flatMap(({ code: product, seasonal }) => {
    if (seasonal && !isOffered(crop, crops)) return []
    const series = { product, countryCode, cropCode: seasonal ? crop : null, forecastPeriod: null }
    return snapshot.releaseOf(series) ?? []
  })
  return { bounded: snapshot.bounded.has(countryCode), crops, crop, releases }
}

/**
 * What each product has at a point of a country, in the words of the point endpoints' errors.
 *
 * @param withValue the products that have a value there
 */
export function availabilityOf(
  products: readonly ProductDefinition[],
  { bounded, crop, crops, releases }: Offer,
  withValue: ReadonlySet<string>,
  inside: boolean,
): Availability {
  return eachProduct(products, ({ code, seasonal }) => {
    if (seasonal && !isOffered(crop, crops)) return 'CROP_NOT_AVAILABLE'
    if (!releases.some(({ product }) => product === code)) return 'NO_RELEASE'
    // The raster decides, not the outline: rasters reach over coarse outlines.
    if (withValue.has(code)) return undefined
    return bounded && !inside ? 'OUTSIDE_COUNTRY' : 'NO_DATA'
  })
}

/** What each product has where none of the countries is. */
export function nothingAvailable(products: readonly ProductDefinition[]): Availability {
  return eachProduct(products, () => 'OUTSIDE_COUNTRY')
}

function isOffered(crop: string | null, crops: string[]): boolean {
  return crop !== null && crops.includes(crop)
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
