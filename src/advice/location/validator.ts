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
import { countryNamed, listCodes, type Snapshot } from '#src/lookup/snapshot.ts'
import { type CountryAndAreas, chooseAreas, createElsewhereFinder, type Elsewhere } from './elsewhere.ts'

/** The crops and releases of a country. */
interface Offer {
  /** Whether any of its boundaries are loaded. */
  bounded: boolean
  crops: string[]
  /** The requested crop, or else the first; null without any. */
  crop: string | null
  /** The releases that answer for the crop, at most one a product. */
  releases: PublishedRelease[]
}

/** By the codes of the products. */
type Availability = Record<string, ProductAvailability>

/** The offer of a country and crop; undefined where the service has no such country. */
function findOffer(
  snapshot: Snapshot,
  products: readonly ProductDefinition[],
  countryCode: string,
  requestedCrop: string | null,
): Offer | undefined {
  const country = snapshot.countries.find(({ code }) => code === countryCode)
  if (!country) return undefined
  const { crops } = country
  const crop = snapshot.cropNamed(requestedCrop) ?? crops[0] ?? null
  const releases = products.flatMap(({ code: product, seasonal }) => {
    if (seasonal && !isOffered(crop, crops)) return []
    const series = { product, countryCode, cropCode: seasonal ? crop : null, forecastPeriod: null }
    return snapshot.releaseOf(series) ?? []
  })
  return { bounded: snapshot.bounded.has(countryCode), crops, crop, releases }
}

/**
 * The availability of products at a point of a country, with the codes of the point endpoints' errors.
 *
 * @param withValue the products with a value there
 */
function checkAvailability(
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

function isOffered(crop: string | null, crops: string[]): boolean {
  return crop !== null && crops.includes(crop)
}

function eachProduct(
  products: readonly ProductDefinition[],
  findReason: (product: ProductDefinition) => UnavailableReason | undefined,
): Availability {
  const entries = products.map((product) => {
    const reason = findReason(product)
    return [product.code, reason ? { available: false, reason } : { available: true }]
  })
  return Object.fromEntries(entries)
}

export type LocationValidator = ReturnType<typeof createLocationValidator>

/** Names are normalized. */
interface Question {
  position: Position
  /** The requested country; undefined for any. */
  countryCode: string | undefined
  /** Null for the first of the country. */
  crop: string | null
}

interface Facts {
  place: CountryAndAreas | undefined
  /** Undefined for a point in no country, without a requested one. */
  offer: Offer | undefined
  /** The products with a value there. */
  withValue: ReadonlySet<string>
  /** For a point in no country. */
  elsewhere: Elsewhere | undefined
}

export function createLocationValidator(
  db: Kysely<Tables>,
  lookup: Lookup,
  products: readonly ProductDefinition[],
) {
  const elsewhereFinder = createElsewhereFinder(db, lookup)

  return {
    /**
     * Undefined where the database is needed.
     *
     * @throws {ApiError} INVALID_PARAMETERS for an unknown country
     */
    fromMemory(request: LocationRequest): LocationValidation | undefined {
      const snapshot = lookup.known()
      if (!snapshot) return undefined
      const question = readQuestion(request)
      const { position, countryCode } = question
      const areas = lookup.areas.fromMemory(position, snapshot.boundaries)
      if (!areas) return undefined
      const place = chooseAreas(areas, countryCode)
      const elsewhere = place ? undefined : elsewhereFinder.fromMemory(position, countryCode, snapshot)
      if (!place && !elsewhere) return undefined
      const offer = requireOffer(products, snapshot, question, place)
      const withValue = new Set<string>()
      for (const release of offer?.releases ?? []) {
        const values = lookup.valuesFromMemory(release, position)
        if (values === undefined) return undefined
        if (values) withValue.add(release.product)
      }
      return describe(products, snapshot, question, { place, offer, withValue, elsewhere })
    },
    /**
     * The same with the database, in a queue and together with other requests.
     *
     * @throws {ApiError} OVERLOADED where the queue is full, and this client key has most of it
     */
    validate(request: LocationRequest, clientKey: ClientKey): Promise<LocationValidation> {
      const question = readQuestion(request)
      const { position, countryCode } = question
      return lookup.inSnapshotQueued(clientKey, async (snapshot) => {
        const areas = await lookup.areas.find(position, snapshot.boundaries)
        const place = chooseAreas(areas, countryCode)
        const offer = requireOffer(products, snapshot, question, place)
        const elsewhere = place ? undefined : await elsewhereFinder.find(position, countryCode, snapshot)
        const found = (offer?.releases ?? []).map(async (release) => {
          const [values] = await lookup.valuesAt(release, [position])
          return values ? [release.product] : []
        })
        const withValue = new Set((await Promise.all(found)).flat())
        return describe(products, snapshot, question, { place, offer, withValue, elsewhere })
      })
    },
  }
}

function readQuestion(request: LocationRequest): Question {
  return {
    position: positionOf(request),
    countryCode: request.country_code?.trim().toLowerCase(),
    crop: request.crop === undefined ? null : wordKey(request.crop),
  }
}

/** @throws {ApiError} INVALID_PARAMETERS */
function requireOffer(
  products: readonly ProductDefinition[],
  snapshot: Snapshot,
  question: Question,
  place: CountryAndAreas | undefined,
): Offer | undefined {
  const countryCode = question.countryCode ?? place?.countryCode
  if (countryCode === undefined) return undefined
  const offer = findOffer(snapshot, products, countryCode, question.crop)
  if (!offer) throw unknownCountry('country_code', listCodes(snapshot))
  return offer
}

function describe(
  products: readonly ProductDefinition[],
  snapshot: Snapshot,
  question: Question,
  { place, offer, withValue, elsewhere }: Facts,
): LocationValidation {
  const inside = place !== undefined && place.countryCode === (question.countryCode ?? place.countryCode)
  const available = offer
    ? checkAvailability(products, offer, withValue, inside)
    : eachProduct(products, () => 'OUTSIDE_COUNTRY' as const)
  return {
    // Without loaded boundaries a value of the country's rasters decides.
    valid: offer && !offer.bounded ? withValue.size > 0 : inside,
    country_code: place?.countryCode ?? null,
    country: (place && countryNamed(snapshot, place.countryCode)) ?? null,
    admin: place?.admin ?? [],
    crop: offer ? offer.crop : snapshot.cropNamed(question.crop),
    products: available,
    ...elsewhere,
  }
}
