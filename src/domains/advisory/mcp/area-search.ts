import type { App } from '#src/http/app.ts'
import type { Asker } from '../lookup/advice-desk.ts'
import { knownCountry } from './known-country.ts'
import type { Origins } from './origins.ts'
import { findAreasNamed, type NamedArea } from './queries.ts'

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
export type AreaSearch = (area: AskedArea, by: Asker) => Promise<NamedArea[]>

export function createAreaSearch(app: App, origins: Origins): AreaSearch {
  return async ({ name, country_code, level = null }, by) => {
    const countryCode = knownCountry(await origins.snapshot(by), country_code)
    return app.inTurn(by.request, by.reply, () =>
      findAreasNamed(app.database.reader, { name, countryCode, level }, MOST_AREAS),
    )
  }
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
