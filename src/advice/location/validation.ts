import { type AdminReference, LEVELS_BELOW } from '#schemas/areas.ts'
import type { LocationRequest, LocationValidation } from '#schemas/location.ts'
import type { ProductDefinition } from '#schemas/products/define.ts'
import type { Db } from '#src/data/tables.ts'
import { unknownCountry } from '#src/errors.ts'
import { createBatcher } from '#src/lib/batcher.ts'
import type { ClientKey } from '#src/lib/limiter.ts'
import { swapped, wordKey } from '#src/lib/names.ts'
import type { LayerValues } from '#src/lookup/entries.ts'
import type { Position } from '#src/lookup/layers.ts'
import type { Lookup } from '#src/lookup/lookup.ts'
import type { Area } from '#src/lookup/queries.ts'
import { type PublishedRelease, positionOf } from '#src/lookup/releases.ts'
import { countryNamed, listCodes, type Snapshot } from '#src/lookup/snapshot.ts'
import { findNearestCountries } from './queries.ts'

/** Chooses the areas of lowest code on a border: of the requested country, and within the chosen area one level up. */
export function chooseAreas(
  areas: readonly Area[],
  requestedCountry: string | undefined,
): { countryCode: string; admin: AdminReference[] } | undefined {
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

type Reason = NonNullable<LocationValidation['products'][string]['reason']>
type Elsewhere = Pick<LocationValidation, 'nearest' | 'hint'>

/** Finds hints for points in no country. */
function createElsewhereFinder(db: Db, lookup: Lookup) {
  const askNearest = createBatcher({
    run: (positions: Position[]) => findNearestCountries(db, positions),
    concurrency: NEAREST_QUERIES,
    batch: NEAREST_PER_QUERY,
    // No position makes a query fail, so smaller batches would not help.
    failsAll: () => true,
  })

  /** The country nearest to a point in none, and a hint where the swapped point lies in the requested country, or in any. */
  return async (
    position: Position,
    requestedCountry: string | undefined,
    snapshot: Snapshot,
  ): Promise<Elsewhere> => {
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
}

/** Reads the request against areas, and gives the answer from values. */
function readLocation(
  snapshot: Snapshot,
  request: LocationRequest,
  areas: readonly Area[],
  products: readonly ProductDefinition[],
) {
  const requested = request.country_code?.trim().toLowerCase()
  const place = chooseAreas(areas, requested)
  const countryCode = requested ?? place?.countryCode
  const country = snapshot.countries.find(({ code }) => code === countryCode)
  if (countryCode !== undefined && !country) throw unknownCountry('country_code', listCodes(snapshot))
  const crop =
    snapshot.cropNamed(request.crop === undefined ? null : wordKey(request.crop)) ?? country?.crops[0] ?? null
  const isInside = place !== undefined && place.countryCode === countryCode
  const isBounded = country !== undefined && snapshot.bounded.has(country.code)

  /** The release that may have a value, or the code of the point endpoint's error. */
  function findRelease({ code: product, seasonal }: ProductDefinition): PublishedRelease | Reason {
    if (!country) return 'OUTSIDE_COUNTRY'
    if (seasonal && !country.crops.includes(crop ?? '')) return 'CROP_NOT_AVAILABLE'
    const cropCode = seasonal ? crop : null
    const series = { product, countryCode: country.code, cropCode, forecastPeriod: null }
    return snapshot.releaseOf(series) ?? 'NO_RELEASE'
  }

  /** @param values in the order of the products; null without any */
  function describe(
    releases: (PublishedRelease | Reason)[],
    values: (LayerValues | null)[],
    elsewhere?: Elsewhere,
  ): LocationValidation {
    // The raster decides, not the outline: rasters reach over coarse outlines.
    const noValue: Reason = isBounded && !isInside ? 'OUTSIDE_COUNTRY' : 'NO_DATA'
    const available = products.map(({ code }, index) => {
      const release = releases[index]
      const reason = typeof release === 'string' ? release : noValue
      return [code, values[index] ? { available: true } : { available: false, reason }]
    })
    return {
      // Without loaded boundaries a value of the country's rasters decides.
      valid: country && !isBounded ? values.some(Boolean) : isInside,
      country_code: place?.countryCode ?? null,
      country: (place && countryNamed(snapshot, place.countryCode)) ?? null,
      admin: place?.admin ?? [],
      crop,
      products: Object.fromEntries(available),
      ...elsewhere,
    }
  }
  return { requested, place, releases: products.map(findRelease), describe }
}

/**
 * Makes the two paths of `/validate_location`.
 *
 * @throws {ApiError} INVALID_PARAMETERS for an unknown country; OVERLOADED where too many wait for the database
 */
export function createLocationValidator(db: Db, lookup: Lookup, products: readonly ProductDefinition[]) {
  const findElsewhere = createElsewhereFinder(db, lookup)

  async function validateIn(snapshot: Snapshot, request: LocationRequest): Promise<LocationValidation> {
    const position = positionOf(request)
    const areas = await lookup.areas.find(position, snapshot.boundaries)
    const { requested, place, releases, describe } = readLocation(snapshot, request, areas, products)
    const elsewhere = place ? undefined : await findElsewhere(position, requested, snapshot)
    const values = releases.map(async (release) =>
      typeof release === 'string' ? null : ((await lookup.valuesAt(release, [position]))[0] ?? null),
    )
    return describe(releases, await Promise.all(values), elsewhere)
  }

  return {
    /** Hit path; undefined for a miss. */
    fromMemory(request: LocationRequest): LocationValidation | undefined {
      const position = positionOf(request)
      const snapshot = lookup.known()
      const areas = snapshot && lookup.areas.fromMemory(position, snapshot.boundaries)
      if (!areas) return undefined
      const { place, releases, describe } = readLocation(snapshot, request, areas, products)
      if (!place) return undefined
      const values: (LayerValues | null)[] = []
      for (const release of releases) {
        const found =
          typeof release === 'string' ? null : lookup.valuesFromMemory(release, position, undefined)
        if (found === undefined) return undefined
        values.push(found)
      }
      return describe(releases, values)
    },
    /** Miss path. */
    fromDatabase: (request: LocationRequest, clientKey: ClientKey): Promise<LocationValidation> =>
      lookup.inSnapshotQueued(clientKey, (snapshot) => validateIn(snapshot, request)),
  }
}
