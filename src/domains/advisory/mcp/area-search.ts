import type { App } from '#src/http/app.ts'
import type { Asker } from '../lookup/advice-desk.ts'
import { type AreaName, findAreasNamed, type NamedArea } from './queries.ts'

/** How many areas a name may mean for an agent to choose among them. */
const MOST_AREAS = 8

/** Finds the areas that a name may mean, when the turn of the request comes: names have no index. */
export type AreaSearch = (name: AreaName, by: Asker) => Promise<NamedArea[]>

export function createAreaSearch(app: App): AreaSearch {
  return (name, { request, reply }) =>
    app.inTurn(request, reply, () => findAreasNamed(app.database.reader, name, MOST_AREAS))
}

/** The code of a country as it is stored; null where none was sent. */
export function normalCode(code: string | undefined): string | null {
  return code?.trim().toLowerCase() ?? null
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
