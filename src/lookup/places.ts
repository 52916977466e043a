import type { Country } from '#src/catalog/reference-queries.ts'
import { type AreaFinder, firstCountryOf } from './areas.ts'
import type { Position } from './queries.ts'
import type { Snapshot, Snapshots } from './snapshot.ts'

/** Members of a request that its place may fill in. */
export interface LocatableRequest {
  crop?: string | undefined
  country_code?: string | undefined
  release?: string | undefined
  /** `place`: the country is that of the place. */
  country_source?: 'place'
}

/** Finds the countries of requests without one, by the outlines and not by the rasters. */
export function createRequestLocator(
  { known, current }: Pick<Snapshots, 'known' | 'current'>,
  areas: AreaFinder,
) {
  const countryOf = ({ countries }: Snapshot, found: string | null) =>
    countries.find(({ code }) => code === found) ?? null

  /** Null outside all countries, undefined for a miss. */
  const countryFromMemory = (snapshot: Snapshot, position: Position) => {
    const code = areas.countryFromMemory(position, snapshot.boundaries)
    return code === undefined ? undefined : countryOf(snapshot, code)
  }

  const country = async (snapshot: Snapshot, position: Position) =>
    countryOf(snapshot, firstCountryOf(await areas.find(position, snapshot.boundaries)))

  return {
    countryFromMemory,
    country,
    /**
     * Fills in the country of a request without one, and the crop of that country. Outside all countries the request stays
     * as it is. False for a miss.
     */
    fillFromMemory(request: LocatableRequest, position: Position): boolean {
      if (!needsCountry(request)) return true
      const snapshot = known()
      const found = snapshot && countryFromMemory(snapshot, position)
      if (found === undefined) return false
      fillCountry(found, request)
      return true
    },
    async fill(request: LocatableRequest, position: Position): Promise<void> {
      if (needsCountry(request)) fillCountry(await country(await current(), position), request)
    },
    /** Fills in the crop of the country that a request names. */
    async fillCrop(request: LocatableRequest): Promise<void> {
      const { country_code: code, crop } = request
      if (code === undefined || crop !== undefined) return
      const [offered] = countryOf(known() ?? (await current()), code.trim().toLowerCase())?.crops ?? []
      if (offered !== undefined) request.crop = offered
    },
  }
}

export function needsCountry({ country_code, release }: LocatableRequest): boolean {
  return country_code === undefined && release === undefined
}

/** Fills in the country of a request, and its crop. */
export function fillCountry(country: Country | null, request: LocatableRequest): void {
  if (!country) return
  request.country_code = country.code
  request.country_source = 'place'
  const [crop] = country.crops
  if (request.crop === undefined && crop !== undefined) request.crop = crop
}

/** Member of an answer for the origin of its country. */
export function sourceMember({ country_source }: LocatableRequest): { country_source?: 'place' } {
  return country_source === undefined ? {} : { country_source }
}
