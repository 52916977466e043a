import type { Advisors } from '#src/advice/polygon/advisors.ts'
import type { LongWork } from '#src/advice/polygon/work.ts'
import type { PolygonItem } from '#src/advice/polygons/items.ts'
import { computeItems, createTasks, type OpenPolygons } from '#src/advice/polygons/sources.ts'
import type { ValueChange } from '#src/extensions/changes/schemas.ts'
import type { App } from '#src/http/app.ts'
import type { Lookup } from '#src/lookup/lookup.ts'
import { createSources, type SourceRelease } from '#src/lookup/places.ts'
import type { PublishedRelease } from '#src/lookup/releases.ts'
import type { Snapshot } from '#src/lookup/snapshot.ts'
import { findChanges, listMeans, type Watch } from './values.ts'

/** A region that has changed between two releases, or has no answer in one of them. */
export interface ComparedRegion {
  item: PolygonItem
  /** None where the region has no answer. */
  changes: ValueChange[]
}

interface Comparing {
  app: App
  lookup: Lookup
  advisors: Advisors
  snapshot: Snapshot
  work: LongWork
  watch: Watch
  hasShapes: boolean
}

/** Of one product, country and crop. */
interface ReleasePair {
  before: PublishedRelease
  after: PublishedRelease
}

/**
 * Compares two releases at regions, a page of them at a time.
 *
 * @throws {ApiError} NOT_FOUND where the regions were deleted meanwhile
 * @throws {ReplacedMeanwhile} where a release was
 */
export async function* compareAt(
  regions: OpenPolygons,
  { before, after }: ReleasePair,
  { app, lookup, advisors, snapshot, work, watch, hasShapes }: Comparing,
): AsyncGenerator<ComparedRegion[]> {
  const call = { work, reasons: lookup.reasons, advisors, hasShapes, cutAtFault: true, distribution: null }
  const tasks = createTasks(call, snapshot)
  const sourceOf = (release: PublishedRelease): SourceRelease => {
    const { code, countryCode, cropCode } = release
    const named = { release: code, country_code: countryCode, ...(cropCode !== null && { crop: cropCode }) }
    return createSources(app.products.of(release.product), named, snapshot, release).of(null)
  }
  const [source, later] = [sourceOf(before), sourceOf(after)]
  const sources = { byPlace: false, of: () => later }
  const reader = regions(app, lookup, { snapshot, sources, work, hasShapes })

  for await (const page of reader.pages()) {
    const earlier = page.map((region) => ({ ...region, source }))
    const items: PolygonItem[] = []
    for await (const slice of computeItems(call, tasks.ofPolygons([...earlier, ...page])))
      items.push(...slice)
    const half = items.length / 2
    yield items.slice(half).flatMap((now, index) => {
      const old = items[index] as PolygonItem
      const changes = findChanges(watch, listMeans(old.advice), listMeans(now.advice))
      const isUnknown = !old.advice || !now.advice
      return changes.length > 0 || isUnknown ? [{ item: isUnknown && old.reason ? old : now, changes }] : []
    })
  }
}
