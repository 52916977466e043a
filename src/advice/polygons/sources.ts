import type { Kysely } from 'kysely'
import type { ErrorBody } from '#schemas/common.ts'
import { findAdminCountry, findOutlines, hasAreaAbove } from '#src/catalog/area-queries.ts'
import type { Tables } from '#src/data/tables.ts'
import { ApiError, noAreas, unknownCountry } from '#src/errors.ts'
import type { ClientKey } from '#src/lib/fair-queue.ts'
import type { Wait } from '#src/lib/time-budget.ts'
import { inOrder, type Pause } from '#src/lib/turns.ts'
import type { Lookup } from '#src/lookup/lookup.ts'
import { type PublishedRelease, ReplacedMeanwhile, releaseMembers } from '#src/lookup/releases.ts'
import { codesOf, type Snapshot } from '#src/lookup/snapshot.ts'
import { releasesOf, type Source, type Sources } from '#src/lookup/sources.ts'
import type { DistributionWanted } from '#src/raster/distribution.ts'
import type { Advice, AreaAdvisor, PolygonAdvisor } from '../polygon/advisors.ts'
import type { Waiting } from '../polygon/computing.ts'
import { geoJsonOf, interiorPointOf } from '../polygon/geometry.ts'
import { type AreaInRelease, type AreaSelection, listAreasInRelease } from '../polygon/queries.ts'
import type { SentPolygon } from './sent.ts'
import { type Item, itemAtFault, outcomeOf, type ReasonSource } from './writers.ts'

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
interface WaitsInTurn {
  /** Until its answer begins: it may be refused. */
  waitInTurn: Wait
  goOnInTurn: Wait
}

/**
 * The areas of a selection in pages, in the order of their codes, with what is stored of them for a release.
 *
 * @throws {ReplacedMeanwhile} where other boundaries are loaded before all of them were read
 */
async function* pagesOfAreas(
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

/** One of many polygons, and where its answer comes from. */
interface PlacedPolygon extends SentPolygon {
  source: Source
}

/** What a call with many polygons is answered with. */
export interface Placed {
  polygons: PlacedPolygon[]
  /** Those of the polygons, or the one of areas. */
  sources: Source[]
  /** The release of the first of them that has one. */
  release: PublishedRelease
}

interface Waits {
  clientKey: ClientKey
  wait: Wait
  pause: Pause
}

/**
 * Finds where the answers to polygons come from: each is answered for the country that a position inside lies in, where
 * the call names none.
 *
 * @throws {ApiError} where nothing is published for any of them
 */
export async function placePolygons(
  { places, reasons }: Lookup,
  snapshot: Snapshot,
  sources: Sources,
  sent: readonly SentPolygon[],
  { clientKey, wait, pause }: Waits,
): Promise<Placed> {
  async function sourceOf({ outline }: SentPolygon): Promise<Source> {
    if (!sources.byPlace || 'error' in outline) return sources.of(null)
    await pause()
    const position = interiorPointOf(outline.polygons)
    const known = places.countryFromMemory(snapshot, position)
    return sources.of(
      known === undefined ? await wait(() => places.country(snapshot, position, clientKey)) : known,
    )
  }

  const polygons: PlacedPolygon[] = []
  for (const polygon of sent) polygons.push({ ...polygon, source: await sourceOf(polygon) })
  const used = new Set(polygons.filter(({ outline }) => !('error' in outline)).map(({ source }) => source))
  const all = used.size > 0 ? [...used] : [sources.of(null)]
  const release = all.flatMap((source) => source.release ?? [])[0]
  if (!release) throw await wait(() => reasons.noRelease(snapshot, (all[0] as Source).series))
  return { polygons, sources: all, release }
}

/**
 * Refuses polygons of several countries in a form that has room for one release.
 *
 * @throws {ApiError} INVALID_PARAMETERS
 */
export function refuseSeveral(sources: readonly Source[]): void {
  if (releasesOf(sources).length < 2) return
  throw ApiError.invalid(
    'country_code',
    'must be sent for DHIS2 where polygons lie in several countries: a data value set is of one release',
  )
}

/** So many of a call wait for their turn or are computed at a time: as many as one caller may have computed at most. */
const AT_ONCE = 2

/** What the items of a call are made with. */
export interface ItemSource extends ReasonSource, WaitsInTurn {
  release: PublishedRelease
  wanted: DistributionWanted | null
  /** Each of them has POLYGON_TIMEOUT_MS of its own, from its turn on. */
  withTimeout: <Result extends Advice>(advise: (waiting: Waiting) => Promise<Result>) => Promise<Result>
  pause: Pause
  /** Whether the answer has the shapes. */
  withShapes: boolean
  /** Whether the answer is cut off where the database fails in the middle: programs read of it what they know alone. */
  cutAtFault: boolean
}

/**
 * What has come of polygons, in their order.
 *
 * @param sent is emptied as their turn comes
 */
export function itemsOfPolygons(
  source: ItemSource,
  advisor: PolygonAdvisor,
  sent: PlacedPolygon[],
): AsyncGenerator<Item> {
  const { snapshot, reasons, wait, wanted, withTimeout, pause, withShapes, cutAtFault } = source

  async function itemOf(
    { id, name, outline, source: { series, release, members } }: PlacedPolygon,
    isFirst: boolean,
  ): Promise<Item> {
    const refused = (reason: ErrorBody) => ({ id, name, members, geometry: null, advice: null, reason })
    if ('error' in outline) return refused(outline)
    if (!release) return refused((await wait(() => reasons.noRelease(snapshot, series))).body)
    const advise = () =>
      withTimeout((waiting) => advisor.adviseIn(release, outline.polygons, wanted, waiting))
    const outcome = await outcomeOf({ ...source, series }, advise, isFirst)
    await pause()
    return { id, name, members, geometry: withShapes ? JSON.stringify(geoJsonOf(outline)) : null, ...outcome }
  }

  async function* tasks() {
    let isFirst = true
    for (let next = sent.shift(); next; next = sent.shift()) {
      const [polygon, first] = [next, isFirst]
      yield () => itemOf(polygon, first)
      isFirst = false
    }
  }

  const items = inOrder(tasks(), AT_ONCE)
  return cutAtFault ? items : toTheEnd(items)
}

/** What has come of administrative areas, in the order of their codes. */
export function itemsOfAreas(
  source: ItemSource,
  advisor: AreaAdvisor,
  db: Kysely<Tables>,
  selection: AreaSelection,
): AsyncGenerator<Item> {
  const { release, wanted, withTimeout, waitInTurn, goOnInTurn, withShapes, cutAtFault } = source

  async function itemOf(area: AreaInRelease, geometry: string | null, isFirst: boolean): Promise<Item> {
    const advise = () => withTimeout((waiting) => advisor.adviseOn(area, release, wanted, waiting))
    const outcome = await outcomeOf(source, advise, isFirst)
    return { id: area.code, name: undefined, members, geometry, ...outcome }
  }

  const members = releaseMembers(release)
  let isFirst = true

  async function* tasks() {
    for await (const areas of pagesOfAreas(db, selection, release.id, source)) {
      const wait = isFirst ? waitInTurn : goOnInTurn
      const shapes = withShapes ? await wait(() => findOutlines(db, areas)) : []
      for (const [index, area] of areas.entries()) {
        const first = isFirst
        yield () => itemOf(area, shapes[index] ?? null, first)
        isFirst = false
      }
    }
  }

  const items = inOrder(tasks(), AT_ONCE)
  return cutAtFault ? items : toTheEnd(items)
}

/** Items; where the database fails in the middle of them, the last one says why. */
async function* toTheEnd(items: AsyncIterable<Item>): AsyncGenerator<Item> {
  let isFirst = true
  try {
    for await (const item of items) {
      yield item
      isFirst = false
    }
  } catch (error) {
    const last = isFirst ? undefined : itemAtFault(error)
    if (!last) throw error
    yield last
  }
}
