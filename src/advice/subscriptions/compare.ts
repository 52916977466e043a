import { randomUUID } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import type { App } from '#src/http/app.ts'
import { doublingPauses, pauseAfter } from '#src/lib/retry.ts'
import { messageOf } from './deliver.ts'
import { type Changed, claimChanged, keepComparison, postpone } from './delivery-queries.ts'
import type { PlaceReader } from './queries.ts'
import { changesBeyond, toldAfter, watchedAmong } from './value-changes.ts'

/** The pauses of subscriptions that cannot be compared: they hold up others less and less. */
const PAUSES_MS = doublingPauses(60_000, 3_600_000)

/** The failures in a row of a subscription. Those of subscriptions beyond the bound begin anew. */
type Failures = LRUCache<string, number>

export const createFailures = (): Failures => new LRUCache({ max: 10_000 })

/** Counts a failure, and says how many seconds later another attempt is due. */
export function countFailure(failures: Failures, id: string): number {
  const count = (failures.get(id) ?? 0) + 1
  failures.set(id, count)
  return pauseAfter(PAUSES_MS, count) / 1000
}

/** So many are taken at a time: one after the other, each for a minute at most, they are done before others may take them. */
const BATCH = 4

/** What is published shows in a process within seconds. */
const NOT_YET_SECONDS = 3

/** Says how far it has come. */
interface Comparing {
  /** How many were taken. */
  taken: number
  /** How many have something to be told. */
  told: number
  /** How many wait until this process knows what is published. */
  early: number
}

/**
 * Compares some of the subscriptions that another release answers with what was told of them, and puts down what is to be
 * sent.
 *
 * @param failures of what this process could not compare
 * @param signal ends it: what is left is for others
 */
export async function compareSome(
  app: App,
  reader: PlaceReader,
  failures: Failures,
  signal: AbortSignal,
): Promise<Comparing> {
  const { writer } = app.database
  const claimed = await claimChanged(writer, BATCH)
  const done: Comparing = { taken: claimed.length, told: 0, early: 0 }
  for (const changed of claimed) {
    // Another process has it at once.
    if (signal.aborted) await postpone(writer, changed.id, 0)
    if (signal.aborted) continue
    try {
      const outcome = await compareOne(app, reader, changed, signal)
      failures.delete(changed.id)
      if (outcome === 'early') done.early++
      if (outcome === 'told') done.told++
    } catch (error) {
      if (!signal.aborted) app.logFailure(error, 'a subscription could not be compared yet')
      await postpone(writer, changed.id, signal.aborted ? 0 : countFailure(failures, changed.id))
    }
  }
  return done
}

async function compareOne(
  app: App,
  reader: PlaceReader,
  changed: Changed,
  signal: AbortSignal,
): Promise<'early' | 'told' | 'untold'> {
  const { writer } = app.database
  const { series, place, after, told } = changed
  const values = after === null ? [] : await reader.inBackground({ series, place }, after, signal)
  if (values === undefined) {
    await postpone(writer, changed.id, NOT_YET_SECONDS)
    return 'early'
  }
  const now = watchedAmong(values, changed)
  const threshold = { kind: changed.thresholdKind, value: changed.threshold }
  const changes = changesBeyond(threshold, told, now)
  if (changes.length === 0) {
    await keepComparison(writer, changed, undefined)
    return 'untold'
  }
  const id = randomUUID()
  const context = { basePath: app.config.BASE_PATH, time: new Date() }
  const body = messageOf(id, changed, app.products.of(series.product), changes, context)
  await keepComparison(writer, changed, { id, body, told: toldAfter(told, now, changes) })
  return 'told'
}
