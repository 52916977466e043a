import type { Kysely } from 'kysely'
import type { ErrorBody } from '#schemas/common.ts'
import type { Tables } from '#src/database/tables.ts'
import { findOutlines } from '#src/domains/areas/queries.ts'
import { inOrder } from '#src/lib/in-order.ts'
import type { Pause } from '#src/lib/turns.ts'
import type { DistributionWanted } from '#src/raster/distribution.ts'
import { releaseMembers } from '../../lookup/products.ts'
import type { PublishedRelease } from '../../lookup/published-release.ts'
import type { AreaAdvisor } from '../area-advisor.ts'
import type { Waiting } from '../computing.ts'
import { geoJsonOf } from '../geometry.ts'
import type { Advice } from '../location.ts'
import type { PolygonAdvisor } from '../polygon-advisor.ts'
import type { AreaInRelease, AreaSelection } from '../queries.ts'
import { pagesOfAreas, type WaitsInTurn } from './areas.ts'
import { type Item, itemAtFault, outcomeOf, type ReasonSource } from './items.ts'
import type { PlacedPolygon } from './placing.ts'

/** So many of a call wait for their turn or are computed at a time: as many as one caller may have computed at most. */
const AT_ONCE = 2

/** What the items of a call are made with. */
export interface ItemSource extends ReasonSource, WaitsInTurn {
  release: PublishedRelease
  wanted: DistributionWanted | null
  /** Each of them has POLYGON_TIMEOUT_MS of its own, from its turn on. */
  inTime: <Result extends Advice>(advise: (waiting: Waiting) => Promise<Result>) => Promise<Result>
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
  const { snapshot, reasons, wait, wanted, inTime, pause, withShapes, cutAtFault } = source

  async function itemOf(
    { id, name, outline, source: { series, release, members } }: PlacedPolygon,
    isFirst: boolean,
  ): Promise<Item> {
    const refused = (reason: ErrorBody) => ({ id, name, members, geometry: null, advice: null, reason })
    if ('error' in outline) return refused(outline)
    if (!release) return refused((await wait(() => reasons.noRelease(snapshot, series))).body)
    const advise = () => inTime((waiting) => advisor.adviseIn(release, outline.polygons, wanted, waiting))
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
  const { release, wanted, inTime, waitInTurn, goOnInTurn, withShapes, cutAtFault } = source

  async function itemOf(area: AreaInRelease, geometry: string | null, isFirst: boolean): Promise<Item> {
    const advise = () => inTime((waiting) => advisor.adviseOn(area, release, wanted, waiting))
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
