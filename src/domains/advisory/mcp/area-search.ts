import type { App } from '#src/http/app.ts'
import { untilGone } from '#src/http/deadline.ts'
import { partyOf } from '#src/http/party.ts'
import { nameKey } from '#src/lib/name-key.ts'
import { slipBetween } from '#src/lib/name-meant.ts'
import type { Pause } from '#src/lib/turns.ts'
import type { Asker } from '../lookup/advice-desk.ts'
import { knownCountry } from './known-country.ts'
import type { Origins } from './origins.ts'
import { findAreasKeyed, findAreasNamed, listNamesAsLong, type NamedArea } from './queries.ts'

/** How many areas a name may mean for an agent to choose among them. */
const MOST_AREAS = 8

/** An area as somebody names it. */
export interface AskedArea {
  /** A code or a name, or a part of it. */
  name: string
  country_code?: string | undefined
  level?: number | undefined
}

/**
 * Finds the areas that a name may mean, when the turn of the request comes: names have no index.
 *
 * @throws {ApiError} INVALID_PARAMETERS where the country is none of ours
 */
export type AreaSearch = (area: AskedArea, by: Asker) => Promise<FoundAreas>

/** What a search has found. */
export interface FoundAreas {
  areas: NamedArea[]
  /** Where there are none: those whose names differ by a letter or two, the nearest first. */
  similar: NamedArea[]
}

export function createAreaSearch(app: App, origins: Origins): AreaSearch {
  const { reader } = app.database
  return async ({ name, country_code, level = null }, by) => {
    const { request, reply } = by
    const countryCode = knownCountry(await origins.snapshot(by), country_code)
    const place = { name, countryCode, level }
    const areas = await app.inTurn(request, reply, () => findAreasNamed(reader, place, MOST_AREAS))
    if (areas.length > 0) return { areas, similar: [] }
    const names = await app.inTurn(request, reply, () => listNamesAsLong(reader, place))
    const keys = await nearestTo(nameKey(name), names, () =>
      app.turns.next(partyOf(request), untilGone(reply)),
    )
    if (keys.length === 0) return { areas, similar: [] }
    const wanted = { keys, countryCode, level }
    return {
      areas,
      similar: await app.inTurn(request, reply, () => findAreasKeyed(reader, wanted, MOST_AREAS)),
    }
  }
}

/** So many names are compared before others have their turn: about a millisecond. */
const PIECE = 100

/** The names that another one is a slip for, the nearest first. */
async function nearestTo(name: string, names: readonly string[], pause: Pause): Promise<string[]> {
  const near: { key: string; slip: number }[] = []
  for (const [index, key] of names.entries()) {
    if (index % PIECE === 0) await pause()
    const slip = slipBetween(name, key)
    if (slip !== Number.POSITIVE_INFINITY) near.push({ key, slip })
  }
  return near.sort((a, b) => a.slip - b.slip).map(({ key }) => key)
}

/**
 * The area that a name means: the one that is called exactly so, of the highest level that has one, or the only one in
 * whose name it is.
 *
 * @param areas as the search has found them
 * @returns undefined where there is none, or more than one
 */
export function areaMeant(areas: readonly NamedArea[]): NamedArea | undefined {
  const [first, second] = areas
  if (!first || !second) return first
  if (!first.exact) return undefined
  return second.exact && second.level === first.level ? undefined : first
}
