import type { ProductDefinition } from '#schemas/products/define.ts'
import type { Advisors } from '#src/advice/polygon/advisors.ts'
import type { PolygonItem } from '#src/advice/polygon/answer.ts'
import { computeItems, createTasks } from '#src/advice/polygons/sources.ts'
import type { PolygonWork } from '#src/advice/polygons/work.ts'
import { createFieldReader } from '#src/extensions/fields/pages.ts'
import type { CollectionRow } from '#src/extensions/fields/queries.ts'
import type { Threshold, WatchedValue } from '#src/extensions/fields/schemas.ts'
import type { App } from '#src/http/app.ts'
import { round } from '#src/lib/round.ts'
import { conditionMember } from '#src/lookup/conditions.ts'
import type { Lookup } from '#src/lookup/lookup.ts'
import { createSources, type SourceRelease } from '#src/lookup/places.ts'
import type { PublishedRelease } from '#src/lookup/releases.ts'
import type { Snapshot } from '#src/lookup/snapshot.ts'
import { findChanges, selectWatched, type ValueChange, type WatchedLayers } from './values.ts'

/** A field that has changed between two releases, or has no answer in one of them. */
export interface ComparedField {
  item: PolygonItem
  /** None where the field has no answer. */
  changes: ValueChange[]
}

interface Comparison {
  snapshot: Snapshot
  collection: CollectionRow
  before: PublishedRelease
  after: PublishedRelease
  threshold: Threshold
  watched: WatchedLayers
  hasShapes: boolean
  work: PolygonWork
}

/**
 * Compares the fields of a collection in two releases, a page of them at a time.
 *
 * @throws {ApiError} NOT_FOUND where the collection was deleted meanwhile
 * @throws {ReplacedMeanwhile} where a release was
 */
export async function* compareFields(
  app: App,
  lookup: Lookup,
  advisors: Advisors,
  { snapshot, collection, before, after, threshold, watched, hasShapes, work }: Comparison,
): AsyncGenerator<ComparedField[]> {
  const product = app.products.of(before.product)
  const call = { work, reasons: lookup.reasons, advisors, hasShapes, cutAtFault: true, distribution: null }
  const tasks = createTasks(call, snapshot)
  const [source, later] = [before, after].map((release) => createSource(product, snapshot, release))
  const sources = { byPlace: false, of: () => later as SourceRelease }
  const listWatched = (item: PolygonItem) => selectWatched(listMeans(item), watched)

  for await (const page of createFieldReader(app, lookup, { snapshot, sources, collection, work }).pages()) {
    const earlier = page.map((field) => ({ ...field, source: source as SourceRelease }))
    const items: PolygonItem[] = []
    for await (const slice of computeItems(call, tasks.ofPolygons([...earlier, ...page])))
      items.push(...slice)
    const half = items.length / 2
    yield items.slice(half).flatMap((now, index) => {
      const old = items[index] as PolygonItem
      const changes = findChanges(threshold, listWatched(old), listWatched(now))
      const isUnknown = !old.advice || !now.advice
      return changes.length > 0 || isUnknown ? [{ item: isUnknown && old.reason ? old : now, changes }] : []
    })
  }
}

function createSource(
  product: ProductDefinition,
  snapshot: Snapshot,
  release: PublishedRelease,
): SourceRelease {
  const { code, countryCode, cropCode } = release
  const named = { release: code, country_code: countryCode, ...(cropCode !== null && { crop: cropCode }) }
  return createSources(product, named, snapshot, release).of(null)
}

/** The values of an item as its answer has them. */
function listMeans({ advice }: PolygonItem): WatchedValue[] {
  if (!advice) return []
  const { release, statistics } = advice
  return release.layers.flatMap((label, index) => {
    const { input, scenario, decimals } = label
    const layer = statistics.layers[index]
    return layer ? [{ input, scenario, ...conditionMember(label), value: round(layer.mean, decimals) }] : []
  })
}
