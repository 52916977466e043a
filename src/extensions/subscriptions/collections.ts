import type { Advisors } from '#src/advice/polygon/advisors.ts'
import { createBackgroundWork } from '#src/advice/polygon/work.ts'
import { ApiError } from '#src/errors.ts'
import { compareAt } from '#src/extensions/fields/compare-at.ts'
import { regionsOf } from '#src/extensions/fields/pages.ts'
import { findCollection } from '#src/extensions/fields/queries.ts'
import type { App } from '#src/http/app.ts'
import type { Lookup } from '#src/lookup/lookup.ts'
import type { PublishedRelease } from '#src/lookup/releases.ts'
import type { ChangedSubscription } from './delivery-queries.ts'
import type { WatchedCollection } from './queries.ts'

/** Ids in a message. */
const MOST_LISTED = 1000

/** Bytes of these as JSON: receivers often refuse more than 100 kB. */
const MOST_BYTES = 60_000

/** The changed fields of a collection, as a message has them. */
export interface ChangedFields {
  /** Null where one of the two releases cannot be read any more, or none answered. */
  changed: number | null
  /** Fields whose computation failed. */
  failed: number
  /** The ids of the first changed fields, in the order of the collection. */
  fields: string[]
  /** The path of the list of all changes; null where nothing could be compared. */
  list: string | null
}

export const NOTHING_CHANGED: ChangedFields = { changed: 0, failed: 0, fields: [], list: null }

export type CollectionComparer = ReturnType<typeof createCollectionComparer>

export function createCollectionComparer(app: App, lookup: Lookup, advisors: Advisors) {
  /** Undefined for one that cannot be read any more. */
  async function findRelease(code: string | null): Promise<PublishedRelease | undefined> {
    try {
      return code === null ? undefined : (await lookup.namedRelease(code)).release
    } catch (error) {
      if (error instanceof ApiError && error.status < 500) return undefined
      throw error
    }
  }

  /**
   * Compares the fields of a watched collection; none where it is deleted.
   *
   * @param renew is called with each page of fields
   * @returns undefined where this process does not see the release yet
   */
  return async (
    watch: ChangedSubscription,
    signal: AbortSignal,
    renew: () => Promise<void>,
  ): Promise<ChangedFields | undefined> => {
    const { userId, series, threshold, input, scenario } = watch
    const { collection: name } = watch.place as WatchedCollection
    const snapshot = await lookup.current()
    if ((snapshot.releaseOf(series)?.code ?? null) !== watch.after) return undefined
    const collection = await findCollection(app.database.writer, userId, name)
    if (!collection) return NOTHING_CHANGED
    const [before, after] = [await findRelease(watch.before), await findRelease(watch.after)]
    if (!before || !after) return { ...NOTHING_CHANGED, changed: null }
    const work = createBackgroundWork(app, 'subscriptions', signal)
    const comparing = { app, lookup, advisors, snapshot, work, watch, hasShapes: false }
    let [changed, failed, left] = [0, 0, MOST_BYTES]
    const fields: string[] = []
    for await (const page of compareAt(regionsOf(collection), { before, after }, comparing)) {
      await renew()
      for (const { item, changes } of page) {
        if (changes.length === 0) {
          failed++
          continue
        }
        changed++
        left -= Buffer.byteLength(JSON.stringify(item.id)) + 1
        if (left >= 0 && fields.length < MOST_LISTED) fields.push(String(item.id))
      }
    }
    const query = new URLSearchParams({
      since: before.code,
      release: after.code,
      threshold_kind: threshold.kind,
      threshold: String(threshold.value),
      ...(input !== null && { input }),
      ...(scenario !== null && { scenario }),
    })
    return { changed, failed, fields, list: `${app.config.BASE_PATH}/fields/${name}/changes?${query}` }
  }
}
