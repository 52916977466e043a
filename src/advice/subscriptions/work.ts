import { randomUUID } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import type { AccountSeal } from '#src/http/account-seal.ts'
import type { App } from '#src/http/app.ts'
import { deliverFrom } from '#src/http/deliveries.ts'
import { MINUTE_MS } from '#src/http/jobs.ts'
import type { OutwardRules } from '#src/lib/outward-post.ts'
import { doublingPauses, pauseAfter } from '#src/lib/retry.ts'
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

/** The pauses of failed comparisons, each longer, so that they delay others less and less. */
const PAUSES_MS = doublingPauses(60_000, 3_600_000)

/** The failures in a row of a subscription. Those of subscriptions beyond the bound begin anew. */
type Failures = LRUCache<string, number>

export const createFailures = (): Failures => new LRUCache({ max: 10_000 })

/** @returns the seconds until the next comparison */
export function countFailure(failures: Failures, id: string): number {
  const count = (failures.get(id) ?? 0) + 1
  failures.set(id, count)
  return pauseAfter(PAUSES_MS, count) / 1000
}

/** The pause where this process does not know the published releases yet. */
const SOON_MS = 3_000

/** A lost secret may be a mistake in the settings, which an operator corrects meanwhile. */
type Failure = Exclude<Outcome, 'arrived' | 'gone'>

const REASONS = { gone: 'gone', failed: 'failing', 'secret lost': 'secret_lost' } as const

/**
 * Compares subscriptions and delivers changes while the service runs. The processes share the work by claims with leases.
 *
 * @param rules for the addresses of deliveries
 * @param seal opens the secrets that sign
 */
export function workOnSubscriptions(
  app: App,
  { reader, rules, seal }: { reader: PlaceReader; rules: OutwardRules; seal: AccountSeal },
): void {
  const { metrics } = app
  const { writer } = app.database
  app.jobs.add('compare-subscriptions', createComparing(app, reader))
  const state = deliverFrom<Delivery, Failure>(app, 'deliver-changes', {
    leaseMs: LEASE_SECONDS * 1000,
    claim: (most) => claimDeliveries(writer, most),
    findTimeToNext: () => findTimeToNext(writer),
    attempt: (delivery, signal) => attempt(delivery, { seal, rules, signal }),
    keepDelivered: (delivery) => recordDelivered(writer, delivery),
    keepFailed: (delivery, seconds) => recordFailed(writer, delivery, seconds),
    giveBack: (delivery) => releaseClaim(writer, delivery),
    async giveUp({ subscriptionId }, failure) {
      const reason = REASONS[failure]
      await disableSubscription(writer, subscriptionId, reason)
      app.log.warn({ subscription: subscriptionId, reason }, 'a subscription is disabled')
    },
  })
  metrics.observe('agro_webhooks_running', () => state().running)
  metrics.observe('agro_webhooks_delivered_total', () => state().delivered)
  metrics.observe('agro_webhooks_failed_total', () => state().failed)
}

function createComparing(app: App, reader: PlaceReader) {
  const { writer } = app.database
  const failures = createFailures()
  let cleaned = 0
  let sawEarly = false

  return async (signal: AbortSignal): Promise<boolean | number | undefined> => {
    if (performance.now() - cleaned > MINUTE_MS) {
      cleaned = performance.now()
      await deleteOldDeliveries(writer)
    }
    const { claimed, notified, early } = await compareSome(app, reader, failures, signal)
    if (notified > 0) app.jobs.wake('deliver-changes')
    sawEarly ||= early > 0
    if (claimed > early) return true
    const next = sawEarly ? SOON_MS : undefined
    sawEarly = false
    return next
  }
}

/** One after the other, each takes a minute at most, so a batch ends before its lease. */
const BATCH = 4

/** A publication shows in each process within seconds. */
const NOT_YET_SECONDS = 3

/** Compares subscriptions with new releases, and stores the messages. On an abort the rest is for other processes. */
async function compareSome(app: App, reader: PlaceReader, failures: Failures, signal: AbortSignal) {
  const { writer } = app.database
  const claimed = await claimChanged(writer, BATCH)
  const counts = { claimed: claimed.length, notified: 0, early: 0 }
  for (const changed of claimed) {
    if (signal.aborted) await postpone(writer, changed.id, 0)
    if (signal.aborted) continue
    try {
      const outcome = await compareOne(app, reader, changed, signal)
      failures.delete(changed.id)
      if (outcome !== 'unchanged') counts[outcome]++
    } catch (error) {
      if (!signal.aborted) app.logFailure(error, 'a subscription could not be compared yet')
      await postpone(writer, changed.id, signal.aborted ? 0 : countFailure(failures, changed.id))
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
