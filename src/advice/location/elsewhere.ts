import type { Kysely } from 'kysely'
import { type AdminReference, LEVELS_BELOW } from '#schemas/areas.ts'
import type { LocationValidation } from '#schemas/location.ts'
import type { Tables } from '#src/data/tables.ts'
import { createBatcher } from '#src/lib/batcher.ts'
import type { ClientKey } from '#src/lib/fair-queue.ts'
import { swapped } from '#src/lib/names.ts'
import type { Lookup } from '#src/lookup/lookup.ts'
import type { Area, Position } from '#src/lookup/queries.ts'
import { countryNamed, type Snapshot } from '#src/lookup/snapshot.ts'
import { findNearestCountries, type NearestCountry } from './queries.ts'

/** The country of a point, and its areas there. */
export interface CountryAndAreas {
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
      .sort(byCode)
    const chosen: Area | undefined =
      candidates.find(({ parentId }) => parentId === above?.id) ?? candidates[0]
    if (!chosen) continue
    admin.push({ level, code: chosen.code, name: chosen.name })
    above = chosen
  }
  return { countryCode, admin }
}

function byCode(a: Area, b: Area): number {
  return a.code < b.code ? -1 : 1
}

/** The members of an answer about a point in no country. */
export type Elsewhere = Pick<LocationValidation, 'nearest' | 'hint'>

/** Positions of one query: a millisecond each. */
const NEAREST_PER_QUERY = 20

/** Simultaneous queries: points in no country must not delay others at the database. */
const NEAREST_QUERIES = 1

/**
 * Finds the country nearest to a point in none, and whether the point would lie in the requested country, or in any, with
 * longitude and latitude swapped.
 */
export function createElsewhereFinder(db: Kysely<Tables>, { areas }: Lookup) {
  const askNearest = createBatcher({
    run: (positions: Position[]) => findNearestCountries(db, positions),
    concurrency: NEAREST_QUERIES,
    batch: NEAREST_PER_QUERY,
    // No position makes a query fail, so smaller batches would not help.
    failsAll: () => true,
  })

  return async (
    position: Position,
    requestedCountry: string | undefined,
    snapshot: Snapshot,
    clientKey: ClientKey,
  ): Promise<Elsewhere> => {
    const nearest = await askNearest(position, clientKey)
    const other = swapped(position)
    const otherAreas = other ? await areas.find(other, snapshot.boundaries, clientKey) : []
    return describeElsewhere(nearest, otherAreas, requestedCountry, snapshot)
  }
}

/** @param areas of the position with longitude and latitude swapped */
function describeElsewhere(
  nearest: NearestCountry | null,
  areas: readonly Area[],
  requestedCountry: string | undefined,
  snapshot: Snapshot,
): Elsewhere {
  const elsewhere: Elsewhere = { ...(nearest && { nearest }) }
  const { countryCode } = chooseAreas(areas, requestedCountry) ?? {}
  if (countryCode === undefined || (requestedCountry ?? countryCode) !== countryCode) return elsewhere
  const country = countryNamed(snapshot, countryCode)
  const hint = `With lat and lng swapped the point would lie in ${country}: did you mean lng, lat?`
  return { ...elsewhere, hint }
}
