import type { Kysely } from 'kysely'
import type { LocationValidation } from '#schemas/location.ts'
import type { Tables } from '#src/database/tables.ts'
import { createBatcher } from '#src/lib/batcher.ts'
import type { Party } from '#src/lib/fair-line.ts'
import { swapped } from '#src/lib/swapped.ts'
import type { Lookup } from '../lookup/lookup.ts'
import type { Position } from '../lookup/queries.ts'
import { countryNamed, type Snapshot } from '../lookup/snapshot.ts'
import { placeOf } from './place.ts'
import { findNearestCountries } from './queries.ts'

/** What is said of a point in no country. */
export type Elsewhere = Pick<LocationValidation, 'nearest' | 'hint'>

/** Places a query: a millisecond each. */
const NEAREST_PER_QUERY = 20

/** Queries at a time: points in no country are to keep no others from the database. */
const NEAREST_QUERIES = 1

/**
 * Makes what tells of a point in no country which one is nearest, and whether it would lie in the one that is
 * wanted, or in any, with longitude and latitude swapped.
 */
export function createElsewhere(db: Kysely<Tables>, lookup: Lookup) {
  const askNearest = createBatcher({
    run: (places: Position[]) => findNearestCountries(db, places),
    concurrency: NEAREST_QUERIES,
    batch: NEAREST_PER_QUERY,
    // No place makes a query fail: asking again for fewer would not help.
    failsAll: () => true,
  })

  async function hintAt(
    position: Position,
    wantedCountry: string | undefined,
    snapshot: Snapshot,
    party: Party,
  ): Promise<string | undefined> {
    const meant = swapped(position)
    if (!meant) return undefined
    const place = placeOf(await lookup.areas.find(meant, snapshot.boundaries, party), wantedCountry)
    if (!place || (wantedCountry ?? place.countryCode) !== place.countryCode) return undefined
    const country = countryNamed(snapshot, place.countryCode)
    return `With lat and lng swapped the point would lie in ${country}: did you mean lng, lat?`
  }

  return async (
    position: Position,
    wantedCountry: string | undefined,
    snapshot: Snapshot,
    party: Party,
  ): Promise<Elsewhere> => {
    const nearest = await askNearest(position, party)
    const hint = await hintAt(position, wantedCountry, snapshot, party)
    return { ...(nearest && { nearest }), ...(hint && { hint }) }
  }
}
