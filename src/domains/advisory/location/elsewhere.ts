import type { Kysely } from 'kysely'
import type { LocationValidation } from '#schemas/location.ts'
import type { Tables } from '#src/database/tables.ts'
import { createBatcher } from '#src/lib/batcher.ts'
import type { Party } from '#src/lib/fair-line.ts'
import { swapped } from '#src/lib/swapped.ts'
import type { Area } from '../lookup/area-queries.ts'
import type { Lookup } from '../lookup/lookup.ts'
import type { Position } from '../lookup/queries.ts'
import { countryNamed, type Snapshot } from '../lookup/snapshot.ts'
import { nearestFromMemory } from './nearest.ts'
import { placeOf } from './place.ts'
import { findNearestCountries, type NearestCountry } from './queries.ts'

/** What is said of a point in no country. */
export type Elsewhere = Pick<LocationValidation, 'nearest' | 'hint'>

/**
 * Tells of a point in no country which one is nearest, and whether it would lie in the one that is wanted, or in any,
 * with longitude and latitude swapped.
 */
export interface ElsewhereFinder {
  /** From memory alone; undefined where the database has to be asked. */
  fromMemory(position: Position, wantedCountry: string | undefined, snapshot: Snapshot): Elsewhere | undefined
  /** The same; what is not in memory is asked of the database. */
  find(
    position: Position,
    wantedCountry: string | undefined,
    snapshot: Snapshot,
    party: Party,
  ): Promise<Elsewhere>
}

/** Places a query: a millisecond each. */
const NEAREST_PER_QUERY = 20

/** Queries at a time: points in no country are to keep no others from the database. */
const NEAREST_QUERIES = 1

export function createElsewhereFinder(db: Kysely<Tables>, lookup: Lookup): ElsewhereFinder {
  const { areas, outlines } = lookup
  const askNearest = createBatcher({
    run: (places: Position[]) => findNearestCountries(db, places),
    concurrency: NEAREST_QUERIES,
    batch: NEAREST_PER_QUERY,
    // No place makes a query fail: asking again for fewer would not help.
    failsAll: () => true,
  })

  return {
    fromMemory(position, wantedCountry, snapshot) {
      const nearest = knownNearest(lookup, position, snapshot)
      if (nearest === undefined) return undefined
      const meant = swapped(position)
      const areasMeant = meant ? areas.fromMemory(meant, snapshot.boundaries) : []
      return areasMeant && elsewhereOf(nearest, hintOf(areasMeant, wantedCountry, snapshot))
    },
    async find(position, wantedCountry, snapshot, party) {
      // Whoever comes next is answered by it.
      void outlines.read(snapshot.boundaries)
      const known = knownNearest(lookup, position, snapshot)
      const nearest = known === undefined ? await askNearest(position, party) : known
      const meant = swapped(position)
      const areasMeant = meant ? await areas.find(meant, snapshot.boundaries, party) : []
      return elsewhereOf(nearest, hintOf(areasMeant, wantedCountry, snapshot))
    },
  }
}

/** The country nearest to a position, by the outlines in memory; undefined where the database has to be asked. */
function knownNearest(
  { outlines }: Lookup,
  position: Position,
  snapshot: Snapshot,
): NearestCountry | null | undefined {
  const known = outlines.known(snapshot.boundaries)
  const nearest = known && nearestFromMemory(known, position)
  if (!nearest) return nearest
  const country = countryNamed(snapshot, nearest.countryCode)
  return country === undefined
    ? undefined
    : { country_code: nearest.countryCode, country, distance_km: nearest.distanceKm }
}

/** @param areas that the position lies in with longitude and latitude swapped */
function hintOf(
  areas: readonly Area[],
  wantedCountry: string | undefined,
  snapshot: Snapshot,
): string | undefined {
  const place = placeOf(areas, wantedCountry)
  if (!place || (wantedCountry ?? place.countryCode) !== place.countryCode) return undefined
  const country = countryNamed(snapshot, place.countryCode)
  return `With lat and lng swapped the point would lie in ${country}: did you mean lng, lat?`
}

function elsewhereOf(nearest: NearestCountry | null, hint: string | undefined): Elsewhere {
  return { ...(nearest && { nearest }), ...(hint && { hint }) }
}
