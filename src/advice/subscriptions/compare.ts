import { randomUUID } from 'node:crypto'
import type { App } from '#src/http/app.ts'
import { messageOf } from './deliver.ts'
import { type Changed, claimChanged, keepComparison, postpone } from './delivery-queries.ts'
import type { PlaceReader } from './queries.ts'
import { changesBeyond, toldAfter, watchedAmong } from './value-changes.ts'

/** The first pause, and the longest: each is twice the one before. */
const FIRST_SECONDS = 60
const LONGEST_SECONDS = 3600

/** So many are remembered; of the others the pause is the first one again. */
const MOST = 10_000

/** What could not be done is tried again later each time, and so holds up others less and less. */
interface Retries {
  /** After how many seconds it is tried again. */
  failed(id: string): number
  succeeded(id: string): void
}

export function createRetries(): Retries {
  const pauses = new Map<string, number>()
  return {
    failed(id) {
      const pause = Math.min(LONGEST_SECONDS, 2 * (pauses.get(id) ?? FIRST_SECONDS / 2))
      pauses.delete(id)
      pauses.set(id, pause)
      if (pauses.size > MOST) pauses.delete(pauses.keys().next().value as string)
      return pause
    },
    succeeded(id) {
      pauses.delete(id)
    },
  }
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
 * @param retries of what this process could not compare
 * @param signal ends it: what is left is for others
 */
export async function compareSome(
  app: App,
  reader: PlaceReader,
  retries: Retries,
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
      retries.succeeded(changed.id)
      if (outcome === 'early') done.early++
      if (outcome === 'told') done.told++
    } catch (error) {
      if (!signal.aborted) app.logFailure(error, 'a subscription could not be compared yet')
      await postpone(writer, changed.id, signal.aborted ? 0 : retries.failed(changed.id))
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
