import type { Country } from '#src/catalog/reference-queries.ts'
import type { ClientKey } from '#src/lib/fair-queue.ts'
import { type AreaFinder, firstCountryOf } from './areas.ts'
import type { Position } from './queries.ts'
import type { Snapshot, Snapshots } from './snapshot.ts'

/** What a request may leave to its place. */
export interface Placeable {
  crop?: string | undefined
  country_code?: string | undefined
  release?: string | undefined
  /** Set where the country is the one that the place lies in. */
  country_source?: 'place'
}

/** Finds the countries that requests mean which name none: by the outlines, whatever the rasters reach over. */
export interface Places {
  /** The country that a position lies in; null for none of ours, undefined where the database has to be asked. */
  countryFromMemory(snapshot: Snapshot, position: Position): Country | null | undefined
  /** The same; what is not in memory is asked of the database. */
  country(snapshot: Snapshot, position: Position, clientKey: ClientKey): Promise<Country | null>
  /**
   * Fills in the country of a place where its request names none, and the crop that is offered there.
   * Where it lies in none of ours, the request stays as it is.
   *
   * @returns whether that took no database; else nothing is done
   */
  fillFromMemory(request: Placeable, position: Position): boolean
  fill(request: Placeable, position: Position, clientKey: ClientKey): Promise<void>
  /** Fills in the crop that the country of a request offers, where it names a country and no crop. */
  fillCrop(request: Placeable): Promise<void>
}

export function createPlaces(
  { known, current }: Pick<Snapshots, 'known' | 'current'>,
  areas: AreaFinder,
): Places {
  const countryOf = ({ countries }: Snapshot, found: string | null) =>
    countries.find(({ code }) => code === found) ?? null

  const countryFromMemory: Places['countryFromMemory'] = (snapshot, position) => {
    const code = areas.countryFromMemory(position, snapshot.boundaries)
    return code === undefined ? undefined : countryOf(snapshot, code)
  }

  const country: Places['country'] = async (snapshot, position, clientKey) =>
    countryOf(snapshot, firstCountryOf(await areas.find(position, snapshot.boundaries, clientKey)))

  return {
    countryFromMemory,
    country,
    fillFromMemory(request, position) {
      if (!isLeftToPlace(request)) return true
      const snapshot = known()
      const found = snapshot && countryFromMemory(snapshot, position)
      if (found === undefined) return false
      placeIn(found, request)
      return true
    },
    async fill(request, position, clientKey) {
      if (isLeftToPlace(request)) placeIn(await country(await current(), position, clientKey), request)
    },
    async fillCrop(request) {
      const { country_code: code, crop } = request
      if (code === undefined || crop !== undefined) return
      const [offered] = countryOf(known() ?? (await current()), code.trim().toLowerCase())?.crops ?? []
      if (offered !== undefined) request.crop = offered
    },
  }
}

/** Whether a request leaves it to its place in which country it is. */
export function isLeftToPlace({ country_code, release }: Placeable): boolean {
  return country_code === undefined && release === undefined
}

/** Fills in what a country says of a request that lies in it. */
export function placeIn(country: Country | null, request: Placeable): void {
  if (!country) return
  request.country_code = country.code
  request.country_source = 'place'
  const [crop] = country.crops
  if (request.crop === undefined && crop !== undefined) request.crop = crop
}

/** What an answer says of where its country is from. */
export function sourceMember({ country_source }: Placeable): { country_source?: 'place' } {
  return country_source === undefined ? {} : { country_source }
}
