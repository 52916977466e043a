import type { App } from '#src/http/app.ts'
import { deliverFrom } from '#src/http/deliveries.ts'
import { MINUTE_MS } from '#src/http/jobs.ts'
import type { OutwardRules } from '#src/lib/outward-post.ts'
import { compareSome, createFailures } from './compare.ts'
import { type Attempt, attempt } from './deliver.ts'
import {
  claimDeliveries,
  type Delivery,
  deleteOldDeliveries,
  disableSubscription,
  findTimeToNext,
  giveBack,
  keepDelivered,
  keepFailed,
  LEASE_SECONDS,
} from './delivery-queries.ts'
import type { PlaceReader, SecretSeal } from './queries.ts'

/** The pause where this process does not know the published releases yet. */
const SOON_MS = 3_000

interface Work {
  reader: PlaceReader
  /** Bounds the addresses of deliveries. */
  rules: OutwardRules
  /** Opens the secrets that sign. */
  seal: SecretSeal
}

/** Has subscriptions compared and changes delivered, by all processes: they lease what they take. */
export function workOnSubscriptions(app: App, { reader, rules, seal }: Work): void {
  const { metrics } = app
  const { writer } = app.database
  app.jobs.add('compare-subscriptions', createComparing(app, reader))
  const state = deliverFrom<Delivery, Failure>(app, 'deliver-changes', {
    leaseMs: LEASE_SECONDS * 1000,
    claim: (most) => claimDeliveries(writer, most),
    findTimeToNext: () => findTimeToNext(writer),
    attempt: (delivery, signal) => attempt(delivery, { seal, rules, signal }),
    keepDelivered: (delivery) => keepDelivered(writer, delivery),
    keepFailed: (delivery, seconds) => keepFailed(writer, delivery, seconds),
    giveBack: (delivery) => giveBack(writer, delivery),
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

/** A secret that cannot be opened may be a mistake of the settings, which is mended meanwhile. */
type Failure = Exclude<Attempt, 'arrived' | 'gone'>

const REASONS = { gone: 'gone', failed: 'failing', 'secret lost': 'secret_lost' } as const

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
    const { taken, told, early } = await compareSome(app, reader, failures, signal)
    if (told > 0) app.jobs.wake('deliver-changes')
    sawEarly ||= early > 0
    if (taken > early) return true
    const next = sawEarly ? SOON_MS : undefined
    sawEarly = false
    return next
  }
}
