import { randomUUID } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import type { AccountSeal } from '#src/http/account-seal.ts'
import type { App } from '#src/http/app.ts'
import { LOOK_EVERY_MS, workInBackground } from '#src/http/background-work.ts'
import type { OutwardRules } from '#src/lib/outward-post.ts'
import { attempt, formatMessage, type Outcome } from './deliver.ts'
import {
  type ChangedSubscription,
  claimChanged,
  claimDeliveries,
  type Delivery,
  deleteOldDeliveries,
  disableSubscription,
  findTimeToNext,
  LEASE_SECONDS,
  postpone,
  recordComparison,
  recordDelivered,
  recordFailed,
  releaseClaim,
} from './delivery-queries.ts'
import type { PlaceReader } from './place-reader.ts'
import { findChanges, selectWatched, updateNotified } from './value-changes.ts'

/** The first pause after a failed comparison, and the longest: each is twice the one before. */
const FIRST_SECONDS = 60
const LONGEST_SECONDS = 3600

/** A process remembers so many failures; a forgotten one has the first pause again. */
const MOST_FAILURES = 10_000

/** Makes the pauses of failed comparisons, each longer, so that they delay others less and less. */
export function createRetries() {
  const pauses = new LRUCache<string, number>({ max: MOST_FAILURES })
  return {
    /** @returns the seconds until the next comparison */
    recordFailure(id: string): number {
      const pause = Math.min(LONGEST_SECONDS, 2 * (pauses.get(id) ?? FIRST_SECONDS / 2))
      pauses.set(id, pause)
      return pause
    },
    recordSuccess: (id: string) => void pauses.delete(id),
  }
}

/** Seconds after each failed delivery, 24 hours in all. */
const PAUSES = [5, 30, 120, 600, 1800, 3600, 7200, 14_400, 28_800, 29_845]

/** Pauses vary by this part, so that deliveries that failed together do not come back together. */
const JITTER = 0.1

const DAY = 86_400

/** The rest of the day may be shorter. */
const SHORTEST = 60

/**
 * The seconds until the next attempt; undefined after the last one. Attempts of killed processes count too, so the last
 * one is always about a day after the first failure.
 *
 * @param failing seconds since the first failure
 * @param random from 0 to 1
 */
export function pauseAfter(attempts: number, failing: number, random: number): number | undefined {
  const varied = (pause: number) => pause * (1 + JITTER * (2 * random - 1))
  const pause = PAUSES[attempts - 1]
  if (pause !== undefined) return varied(pause)
  const left = DAY - failing
  if (left <= 0) return undefined
  return Math.max(SHORTEST, Math.min(varied(PAUSES.at(-1) as number), left))
}

/** Makes slots for attempts. An attempt loses its slot with its lease. */
export function createSlots(count: number, leaseMs: number) {
  const leases = new Set<NodeJS.Timeout>()
  return {
    free: () => count - leases.size,
    /**
     * @param freed is called once, at the end of the attempt or its lease
     * @returns ends the attempt
     */
    take(freed: () => void): () => void {
      const end = () => {
        clearTimeout(lease)
        if (leases.delete(lease)) freed()
      }
      const lease = setTimeout(end, leaseMs).unref()
      leases.add(lease)
      return end
    },
  }
}

/** Simultaneous attempts of one process. */
const RUNNING = 8

/** Until the next look while this process does not see a release yet, or another one claims deliveries. */
const SOON_MS = 3_000

/**
 * Compares subscriptions and delivers changes while the service runs. The processes share the work by claims with leases.
 *
 * @param rules for the addresses of deliveries
 * @param seal opens the secrets that sign
 * @returns begins both at once
 */
export async function workOnSubscriptions(
  app: App,
  { reader, rules, seal }: { reader: PlaceReader; rules: OutwardRules; seal: AccountSeal },
): Promise<() => void> {
  const { writer } = app.database
  const deliver = createDelivering(app, seal, rules)
  const retries = createRetries()
  const ending = new AbortController()
  let cleaned = 0
  const soon = createAlarm(app, () => compare())

  async function comparePiece(): Promise<boolean> {
    if (performance.now() - cleaned > LOOK_EVERY_MS) {
      cleaned = performance.now()
      await deleteOldDeliveries(writer)
    }
    const { claimed, notified, early } = await compareSome(app, reader, retries, ending.signal)
    if (notified > 0) deliver()
    if (early > 0) soon(SOON_MS)
    return claimed > early
  }

  const compare = workInBackground(app, comparePiece, (error) =>
    app.logFailure(error, 'subscriptions could not be compared yet'),
  )
  // Hooks run from the last one: this aborts before the background work awaits its end.
  app.addHook('onClose', async () => ending.abort(new Error('the service closes')))
  return () => {
    compare()
    deliver()
  }
}

function createDelivering(app: App, seal: AccountSeal, rules: OutwardRules): () => void {
  const { writer } = app.database
  const { metrics } = app
  const slots = createSlots(RUNNING, LEASE_SECONDS * 1000)
  const running = new Set<Promise<void>>()
  const ending = new AbortController()
  const counts = { delivered: 0, failed: 0 }
  metrics.observe('agro_webhooks_running', () => RUNNING - slots.free())
  metrics.observe('agro_webhooks_delivered_total', () => counts.delivered)
  metrics.observe('agro_webhooks_failed_total', () => counts.failed)

  async function deliverOne(delivery: Delivery): Promise<void> {
    const { signal } = ending
    const outcome = await attempt(delivery, { seal, rules, signal })
    if (outcome !== 'arrived' && signal.aborted) return releaseClaim(writer, delivery)
    if (outcome === 'arrived') counts.delivered++
    else counts.failed++
    await recordOutcome(app, delivery, outcome)
  }

  function begin(delivery: Delivery): void {
    const freeSlot = slots.take(() => {
      if (!ending.signal.aborted) deliver()
    })
    const delivering = deliverOne(delivery)
      // A delivery without a recorded outcome is repeated, with its id.
      .catch((error) => app.logFailure(error, 'what has come of a delivery could not be noted'))
      .finally(() => {
        running.delete(delivering)
        freeSlot()
      })
    running.add(delivering)
  }

  async function deliverPiece(): Promise<boolean> {
    const free = slots.free()
    if (free <= 0 || ending.signal.aborted) return false
    const claimed = await claimDeliveries(writer, free)
    for (const delivery of claimed ?? []) {
      if (ending.signal.aborted) await releaseClaim(writer, delivery)
      else begin(delivery)
    }
    if (claimed === undefined) wake(SOON_MS)
    else if (claimed.length === 0) {
      const next = await findTimeToNext(writer)
      // Unclaimed due deliveries wait for others of their host or their owner.
      if (next !== undefined && next < LOOK_EVERY_MS) wake(next > 0 ? next : SOON_MS)
    }
    return (claimed?.length ?? 0) > 0
  }

  const wake = createAlarm(app, () => deliver())
  const deliver = workInBackground(app, deliverPiece, (error) =>
    app.logFailure(error, 'changes could not be delivered yet'),
  )
  app.addHook('onClose', async () => {
    ending.abort()
    await Promise.all(running)
  })
  return deliver
}

async function recordOutcome(app: App, delivery: Delivery, outcome: Outcome): Promise<void> {
  const { writer } = app.database
  const { subscriptionId, attempts, failing } = delivery
  if (outcome === 'arrived') return recordDelivered(writer, delivery)
  // A lost secret may be a mistake in the settings, which an operator corrects meanwhile.
  const pause = outcome === 'gone' ? undefined : pauseAfter(attempts, failing, Math.random())
  if (pause !== undefined) return recordFailed(writer, delivery, pause)
  const reason = outcome === 'gone' ? 'gone' : outcome === 'failed' ? 'failing' : 'secret_lost'
  await disableSubscription(writer, subscriptionId, reason)
  app.log.warn({ subscription: subscriptionId, reason }, 'a subscription is disabled')
}

/** Makes a timer that rings once, at the earliest time asked for, unless the service closes. */
function createAlarm(app: App, ring: () => void): (ms: number) => void {
  let timer: NodeJS.Timeout | undefined
  let at = Number.POSITIVE_INFINITY
  app.addHook('onClose', async () => clearTimeout(timer))
  return (ms) => {
    if (performance.now() + ms >= at) return
    clearTimeout(timer)
    at = performance.now() + ms
    timer = setTimeout(() => {
      at = Number.POSITIVE_INFINITY
      ring()
    }, Math.ceil(ms)).unref()
  }
}

/** One after the other, each takes a minute at most, so a batch ends before its lease. */
const BATCH = 4

/** A publication shows in each process within seconds. */
const NOT_YET_SECONDS = 3

/** Compares subscriptions with new releases, and stores the messages. On an abort the rest is for other processes. */
async function compareSome(
  app: App,
  reader: PlaceReader,
  retries: ReturnType<typeof createRetries>,
  signal: AbortSignal,
) {
  const { writer } = app.database
  const claimed = await claimChanged(writer, BATCH)
  const counts = { claimed: claimed.length, notified: 0, early: 0 }
  for (const changed of claimed) {
    if (signal.aborted) await postpone(writer, changed.id, 0)
    if (signal.aborted) continue
    try {
      const outcome = await compareOne(app, reader, changed, signal)
      retries.recordSuccess(changed.id)
      if (outcome !== 'unchanged') counts[outcome]++
    } catch (error) {
      if (!signal.aborted) app.logFailure(error, 'a subscription could not be compared yet')
      await postpone(writer, changed.id, signal.aborted ? 0 : retries.recordFailure(changed.id))
    }
  }
  return counts
}

async function compareOne(
  app: App,
  reader: PlaceReader,
  changed: ChangedSubscription,
  signal: AbortSignal,
): Promise<'early' | 'notified' | 'unchanged'> {
  const { writer } = app.database
  const { series, place, after, notified } = changed
  const values = after === null ? [] : await reader.readInBackground({ series, place }, after, signal)
  if (values === undefined) {
    await postpone(writer, changed.id, NOT_YET_SECONDS)
    return 'early'
  }
  const now = selectWatched(values, changed)
  const threshold = { kind: changed.thresholdKind, value: changed.threshold }
  const changes = findChanges(threshold, notified, now)
  if (changes.length === 0) {
    await recordComparison(writer, changed, undefined)
    return 'unchanged'
  }
  const id = randomUUID()
  const context = { basePath: app.config.BASE_PATH, time: new Date() }
  const body = formatMessage(id, changed, app.products.of(series.product), changes, context)
  await recordComparison(writer, changed, { id, body, notified: updateNotified(notified, now, changes) })
  return 'notified'
}
