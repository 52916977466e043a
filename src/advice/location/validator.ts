import type { Kysely } from 'kysely'
import { type AdminReference, LEVELS_BELOW } from '#schemas/areas.ts'
import type { LocationRequest, LocationValidation } from '#schemas/location.ts'
import type { ProductDefinition } from '#schemas/products/define.ts'
import type { Tables } from '#src/data/tables.ts'
import { unknownCountry } from '#src/errors.ts'
import { createBatcher } from '#src/lib/batcher.ts'
import type { ClientKey } from '#src/lib/limiter.ts'
import { swapped, wordKey } from '#src/lib/names.ts'
import type { Lookup } from '#src/lookup/lookup.ts'
import type { Area, Position } from '#src/lookup/queries.ts'
import { type PublishedRelease, positionOf } from '#src/lookup/releases.ts'
import { countryNamed, listCodes, type Snapshot } from '#src/lookup/snapshot.ts'
import { findNearestCountries } from './queries.ts'

/** The country of a point, and its areas there. */
interface CountryAndAreas {
  countryCode: string
  /** From level 1 down, at most one a level. */
  admin: AdminReference[]
}

/**
 * Chooses among the areas of a point. Most points have one a level; those on a border have several, and get the one of
 * lowest code: in the requested country if it is among them, and within the chosen area one level up if possible.
 */
export function chooseAreas(
  areas: readonly Area[],
  requestedCountry: string | undefined,
): CountryAndAreas | undefined {
  const codes = areas.map(({ countryCode }) => countryCode)
  const countryCode =
    requestedCountry && codes.includes(requestedCountry) ? requestedCountry : codes.sort()[0]
  if (countryCode === undefined) return undefined
  const admin: AdminReference[] = []
  let above: Area | undefined
  for (const level of LEVELS_BELOW) {
    const candidates = areas
      .filter((area) => area.countryCode === countryCode && area.level === level)
      .sort((a, b) => (a.code < b.code ? -1 : 1))
    const chosen: Area | undefined =
      candidates.find(({ parentId }) => parentId === above?.id) ?? candidates[0]
    if (!chosen) continue
    admin.push({ level, code: chosen.code, name: chosen.name })
    above = chosen
  }
  return { countryCode, admin }
}

/** Positions of one query: a millisecond each. */
const NEAREST_PER_QUERY = 20

/** Simultaneous queries: points in no country must not delay others at the database. */
const NEAREST_QUERIES = 1

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

/**
 * The offer of a country for a crop.
 *
 * @throws {ApiError} INVALID_PARAMETERS where the service has no such country
 */
function findOffer(
  snapshot: Snapshot,
  products: readonly ProductDefinition[],
  countryCode: string,
  requestedCrop: string | null,
): Offer {
  const country = snapshot.countries.find(({ code }) => code === countryCode)
  if (!country) throw unknownCountry('country_code', listCodes(snapshot))
  const { crops } = country
  const crop = snapshot.cropNamed(requestedCrop) ?? crops[0] ?? null
  const releases = products.flatMap(({ code: product, seasonal }) => {
    if (seasonal && !isOffered(crop, crops)) return []
    const series = { product, countryCode, cropCode: seasonal ? crop : null, forecastPeriod: null }
    return snapshot.releaseOf(series) ?? []
  })
  return { bounded: snapshot.bounded.has(countryCode), crops, crop, releases }
}

function isOffered(crop: string | null, crops: string[]): boolean {
  return crop !== null && crops.includes(crop)
}

/**
 * The code of the point endpoint's error for a product; undefined where it has a value.
 *
 * @param withValue the products with a value at the point
 */
function findReason(
  { code, seasonal }: ProductDefinition,
  { bounded, crop, crops, releases }: Offer,
  withValue: ReadonlySet<string>,
  inside: boolean,
) {
  if (seasonal && !isOffered(crop, crops)) return 'CROP_NOT_AVAILABLE'
  if (!releases.some(({ product }) => product === code)) return 'NO_RELEASE'
  // The raster decides, not the outline: rasters reach over coarse outlines.
  if (withValue.has(code)) return undefined
  return bounded && !inside ? 'OUTSIDE_COUNTRY' : 'NO_DATA'
}

/** Makes the function that answers `/validate_location`. It throws OVERLOADED, and INVALID_PARAMETERS for an unknown country. */
export function createLocationValidator(
  db: Kysely<Tables>,
  lookup: Lookup,
  products: readonly ProductDefinition[],
) {
  const askNearest = createBatcher({
    run: (positions: Position[]) => findNearestCountries(db, positions),
    concurrency: NEAREST_QUERIES,
    batch: NEAREST_PER_QUERY,
    // No position makes a query fail, so smaller batches would not help.
    failsAll: () => true,
  })

  /**
   * The country nearest to a point in none, and whether the point would lie in the requested country, or in any, with
   * longitude and latitude swapped.
   */
  async function findElsewhere(
    position: Position,
    requestedCountry: string | undefined,
    snapshot: Snapshot,
  ): Promise<Pick<LocationValidation, 'nearest' | 'hint'>> {
    const found = await askNearest(position)
    const nearest = found && { nearest: found }
    const other = swapped(position)
    const areas = other ? await lookup.areas.find(other, snapshot.boundaries) : []
    const { countryCode } = chooseAreas(areas, requestedCountry) ?? {}
    if (countryCode === undefined || (requestedCountry ?? countryCode) !== countryCode) return { ...nearest }
    const country = countryNamed(snapshot, countryCode)
    const hint = `With lat and lng swapped the point would lie in ${country}: did you mean lng, lat?`
    return { ...nearest, hint }
  }

  async function validateIn(snapshot: Snapshot, request: LocationRequest): Promise<LocationValidation> {
    const position = positionOf(request)
    const requested = request.country_code?.trim().toLowerCase()
    const crop = request.crop === undefined ? null : wordKey(request.crop)
    const areas = await lookup.areas.find(position, snapshot.boundaries)
    const place = chooseAreas(areas, requested)
    const countryCode = requested ?? place?.countryCode
    const offer = countryCode === undefined ? undefined : findOffer(snapshot, products, countryCode, crop)
    const elsewhere = place ? undefined : await findElsewhere(position, requested, snapshot)
    const withValue = new Set<string>()
    const found = (offer?.releases ?? []).map(async (release) => {
      const [values] = await lookup.valuesAt(release, [position])
      if (values) withValue.add(release.product)
    })
    await Promise.all(found)
    const inside = place !== undefined && place.countryCode === countryCode
    const available = products.map((product) => {
      const reason = offer ? findReason(product, offer, withValue, inside) : 'OUTSIDE_COUNTRY'
      return [product.code, reason ? { available: false, reason } : { available: true }]
    })
    return {
      // Without loaded boundaries a value of the country's rasters decides.
      valid: offer && !offer.bounded ? withValue.size > 0 : inside,
      country_code: place?.countryCode ?? null,
      country: (place && countryNamed(snapshot, place.countryCode)) ?? null,
      admin: place?.admin ?? [],
      crop: offer ? offer.crop : snapshot.cropNamed(crop),
      products: Object.fromEntries(available),
      ...elsewhere,
    }
  }

  return (request: LocationRequest, clientKey: ClientKey): Promise<LocationValidation> =>
    lookup.inSnapshotQueued(clientKey, (snapshot) => validateIn(snapshot, request))
}
