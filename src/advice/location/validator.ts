import type { Kysely } from 'kysely'
import type {
  LocationRequest,
  LocationValidation,
  ProductAvailability,
  UnavailableReason,
} from '#schemas/location.ts'
import type { ProductDefinition } from '#schemas/products/define.ts'
import type { Tables } from '#src/data/tables.ts'
import { unknownCountry } from '#src/errors.ts'
import type { ClientKey } from '#src/lib/fair-queue.ts'
import { wordKey } from '#src/lib/names.ts'
import type { Lookup } from '#src/lookup/lookup.ts'
import type { Position } from '#src/lookup/queries.ts'
import { type PublishedRelease, positionOf } from '#src/lookup/releases.ts'
import { codesOf, countryNamed, type Snapshot } from '#src/lookup/snapshot.ts'
import { createElsewhereFinder, type Elsewhere, type Place, placeOf } from './elsewhere.ts'

/** What a country offers. */
interface Offer {
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
function offerOf(
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
function availabilityOf(
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
function nothingAvailable(products: readonly ProductDefinition[]): Availability {
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

/** Tells where a point lies, and which products have a value there. */
export interface LocationValidator {
  /**
   * From memory alone; undefined where the database has to be asked.
   *
   * @throws {ApiError} INVALID_PARAMETERS where the country that it should lie in is unknown
   */
  fromMemory(request: LocationRequest): LocationValidation | undefined
  /**
   * The same; what is not in memory is asked of the database, for all who ask meanwhile in one query.
   *
   * @param client key who waits for it: those who wait take turns
   * @throws {ApiError} OVERLOADED where too many wait, and this client key has most of them
   */
  validate(request: LocationRequest, clientKey: ClientKey): Promise<LocationValidation>
}

/** What is asked for: names without regard to case. */
interface Asked {
  position: Position
  /** The country that the point should lie in; undefined for any. */
  countryCode: string | undefined
  /** Null for the first one of the country. */
  crop: string | null
}

/** What has been found out about a point. */
interface Found {
  place: Place | undefined
  /** Undefined where no country is asked about, and it lies in none. */
  offer: Offer | undefined
  /** The products that have a value there. */
  withValue: ReadonlySet<string>
  /** What is said of a point in no country. */
  elsewhere: Elsewhere | undefined
}

export function createLocationValidator(
  db: Kysely<Tables>,
  lookup: Lookup,
  products: readonly ProductDefinition[],
): LocationValidator {
  const elsewhereFinder = createElsewhereFinder(db, lookup)

  return {
    fromMemory(request) {
      const snapshot = lookup.known()
      if (!snapshot) return undefined
      const asked = askedBy(request)
      const { position, countryCode } = asked
      const areas = lookup.areas.fromMemory(position, snapshot.boundaries)
      if (!areas) return undefined
      const place = placeOf(areas, countryCode)
      const elsewhere = place ? undefined : elsewhereFinder.fromMemory(position, countryCode, snapshot)
      if (!place && !elsewhere) return undefined
      const offer = offerIn(products, snapshot, asked, place)
      const withValue = new Set<string>()
      for (const release of offer?.releases ?? []) {
        const values = lookup.valuesFromMemory(release, position)
        if (values === undefined) return undefined
        if (values) withValue.add(release.product)
      }
      return answerOf(products, snapshot, asked, { place, offer, withValue, elsewhere })
    },
    validate(request, clientKey) {
      const asked = askedBy(request)
      const { position, countryCode } = asked
      return lookup.inSnapshotQueued(clientKey, async (snapshot) => {
        const areas = await lookup.areas.find(position, snapshot.boundaries, clientKey)
        const place = placeOf(areas, countryCode)
        const offer = offerIn(products, snapshot, asked, place)
        const elsewhere = place
          ? undefined
          : await elsewhereFinder.find(position, countryCode, snapshot, clientKey)
        const found = (offer?.releases ?? []).map(async (release) => {
          const [values] = await lookup.valuesAt(release, [position], clientKey)
          return values ? [release.product] : []
        })
        const withValue = new Set((await Promise.all(found)).flat())
        return answerOf(products, snapshot, asked, { place, offer, withValue, elsewhere })
      })
    },
  }
}

function askedBy(request: LocationRequest): Asked {
  return {
    position: positionOf(request),
    countryCode: request.country_code?.trim().toLowerCase(),
    crop: request.crop === undefined ? null : wordKey(request.crop),
  }
}

/** @throws {ApiError} INVALID_PARAMETERS */
function offerIn(
  products: readonly ProductDefinition[],
  snapshot: Snapshot,
  asked: Asked,
  place: Place | undefined,
): Offer | undefined {
  const countryCode = asked.countryCode ?? place?.countryCode
  if (countryCode === undefined) return undefined
  const offer = offerOf(snapshot, products, countryCode, asked.crop)
  if (!offer) throw unknownCountry('country_code', codesOf(snapshot))
  return offer
}

function answerOf(
  products: readonly ProductDefinition[],
  snapshot: Snapshot,
  asked: Asked,
  { place, offer, withValue, elsewhere }: Found,
): LocationValidation {
  const inside = place !== undefined && place.countryCode === (asked.countryCode ?? place.countryCode)
  const available = offer ? availabilityOf(products, offer, withValue, inside) : nothingAvailable(products)
  return {
    // Where no boundaries are loaded that could tell, a value of the country's rasters does.
    valid: offer && !offer.bounded ? withValue.size > 0 : inside,
    country_code: place?.countryCode ?? null,
    country: (place && countryNamed(snapshot, place.countryCode)) ?? null,
    admin: place?.admin ?? [],
    crop: offer ? offer.crop : snapshot.cropNamed(asked.crop),
    products: available,
    ...elsewhere,
  }
}
