import type { Kysely } from 'kysely'
import type { Tables } from '#src/database/tables.ts'
import { findAdminCountry, hasAreaAbove } from '#src/domains/areas/queries.ts'
import { ApiError, noAreas, unknownCountry } from '#src/errors.ts'
import type { Wait } from '#src/lib/patience.ts'
import { ReplacedMeanwhile } from '../../lookup/replaced.ts'
import { codesOf, type Snapshot } from '../../lookup/snapshot.ts'
import { type AreaInRelease, type AreaSelection, listAreasInRelease } from '../queries.ts'

/** Areas that are read with one statement. */
const AREAS_A_PAGE = 100

/**
 * Refuses a selection that there is not.
 *
 * @throws {ApiError} which says what there is instead
 */
export async function refuseUnknownAreas(
  db: Kysely<Tables>,
  snapshot: Snapshot,
  { countryCode, level, parent }: AreaSelection,
): Promise<void> {
  const known = snapshot.countries.some(({ code }) => code === countryCode)
  const country = known ? await findAdminCountry(db, countryCode, level) : undefined
  if (!country) throw unknownCountry('admin.country_code', codesOf(snapshot))
  if (!country.levels.includes(level)) throw noAreas(country, level)
  if (parent === null || (await hasAreaAbove(db, countryCode, level, parent))) return
  throw ApiError.invalid(
    'admin.parent',
    `must be the code of an area of ${country.name} above level ${level}`,
  )
}

/** How a call waits for what is short and takes a connection. */
export interface WaitsInTurn {
  /** Until its answer begins: it may be refused. */
  waitInTurn: Wait
  goOnInTurn: Wait
}

/**
 * The areas of a selection in pages, in the order of their codes, with what is stored of them for a release.
 *
 * @throws {ReplacedMeanwhile} where other boundaries are loaded before all of them were read
 */
export async function* pagesOfAreas(
  db: Kysely<Tables>,
  selection: AreaSelection,
  releaseId: number,
  { waitInTurn, goOnInTurn }: WaitsInTurn,
): AsyncGenerator<AreaInRelease[]> {
  let after: AreaInRelease | undefined
  for (;;) {
    const { code = null, version } = after ?? {}
    const wait = after ? goOnInTurn : waitInTurn
    const page = await wait(() => listAreasInRelease(db, selection, releaseId, code, AREAS_A_PAGE))
    if (version !== undefined && page.some((area) => area.version !== version)) throw new ReplacedMeanwhile()
    if (page.length > 0) yield page
    if (page.length < AREAS_A_PAGE) return
    after = page.at(-1)
  }
}
