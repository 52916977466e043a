import type { App } from '#src/http/app.ts'
import { LOOK_EVERY_MS, workInBackground } from '#src/http/background-work.ts'
import type { OutwardRules } from '#src/lib/outward-post.ts'
import { compareSome, createRetries } from './compare.ts'
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

/**
 * After how many seconds something is tried again, each time later than the time before: 24 hours in all. The last attempt
 * is followed by none.
 */
const PAUSES = [5, 30, 120, 600, 1800, 3600, 7200, 14_400, 28_800, 29_845]

/** By what part a pause may be shorter or longer, so that what failed together does not come back together. */
const JITTER = 0.1

const DAY = 86_400

/** What is left of the day may be no more than moments. */
const SHORTEST = 60

/**
 * The seconds until the next attempt; undefined where there is none. Attempts that a process has begun and not ended, since
 * it was killed, count as well: none is the last one before something has failed for about a day.
 *
 * @param attempts how many there have been
 * @param failing for how many seconds they have failed
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

/** Places for attempts: what takes longer than its lease holds none any more. */
interface Places {
  free(): number
  /**
   * @param freed is called once, when the attempt or its lease has ended
   * @returns ends the attempt
   */
  take(freed: () => void): () => void
}

export function createPlaces(count: number, leaseMs: number): Places {
  const taken = new Set<NodeJS.Timeout>()
  return {
    free: () => count - taken.size,
    take(freed) {
      const end = () => {
        clearTimeout(lease)
        if (taken.delete(lease)) freed()
      }
      const lease = setTimeout(end, leaseMs).unref()
      taken.add(lease)
      return end
    },
  }
}

/** Attempts at the same time, of one process. */
const RUNNING = 8

/** When it is looked again where this process does not know yet what is published, or another takes what is due. */
const SOON_MS = 3_000

/**
 * Has subscriptions compared and changes delivered as long as the service runs, by all of its processes: what one has taken
 * is not taken by another, unless it has ended.
 *
 * @param rules where may be delivered to
 * @param seal opens what signs
 * @returns has both begun at once
 */
export async function workOnSubscriptions(
  app: App,
  { reader, rules, seal }: { reader: PlaceReader; rules: OutwardRules; seal: SecretSeal },
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
    const { taken, told, early } = await compareSome(app, reader, retries, ending.signal)
    if (told > 0) deliver()
    if (early > 0) soon(SOON_MS)
    return taken > early
  }

  const compare = workInBackground(app, comparePiece, (error) =>
    app.logFailure(error, 'subscriptions could not be compared yet'),
  )
  // Before it is waited for: what is registered last is done first.
  app.addHook('onClose', async () => ending.abort(new Error('the service closes')))
  return () => {
    compare()
    deliver()
  }
}

function createDelivering(app: App, seal: SecretSeal, rules: OutwardRules): () => void {
  const { writer } = app.database
  const { metrics } = app
  const places = createPlaces(RUNNING, LEASE_SECONDS * 1000)
  const running = new Set<Promise<void>>()
  const ending = new AbortController()
  const counts = { delivered: 0, failed: 0 }
  metrics.observe('agro_webhooks_running', () => RUNNING - places.free())
  metrics.observe('agro_webhooks_delivered_total', () => counts.delivered)
  metrics.observe('agro_webhooks_failed_total', () => counts.failed)

  async function deliverOne(delivery: Delivery): Promise<void> {
    const { signal } = ending
    const outcome = await attempt(delivery, { seal, rules, signal })
    if (outcome !== 'arrived' && signal.aborted) return giveBack(writer, delivery)
    if (outcome === 'arrived') counts.delivered++
    else counts.failed++
    await keepOutcome(app, delivery, outcome)
  }

  function begin(delivery: Delivery): void {
    const leave = places.take(() => {
      if (!ending.signal.aborted) deliver()
    })
    const delivering = deliverOne(delivery)
      // What could not be noted is delivered again, with the id that it has.
      .catch((error) => app.logFailure(error, 'what has come of a delivery could not be noted'))
      .finally(() => {
        running.delete(delivering)
        leave()
      })
    running.add(delivering)
  }

  async function deliverPiece(): Promise<boolean> {
    const free = places.free()
    if (free <= 0 || ending.signal.aborted) return false
    const claimed = await claimDeliveries(writer, free)
    for (const delivery of claimed ?? []) {
      if (ending.signal.aborted) await giveBack(writer, delivery)
      else begin(delivery)
    }
    if (claimed === undefined) wake(SOON_MS)
    else if (claimed.length === 0) {
      const next = await findTimeToNext(writer)
      // What is due and was not taken waits for others of its host or its owner.
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

async function keepOutcome(app: App, delivery: Delivery, outcome: Attempt): Promise<void> {
  const { writer } = app.database
  const { subscriptionId, attempts, failing } = delivery
  if (outcome === 'arrived') return keepDelivered(writer, delivery)
  // A secret that cannot be opened may be a mistake of the settings, which is mended meanwhile.
  const pause = outcome === 'gone' ? undefined : pauseAfter(attempts, failing, Math.random())
  if (pause !== undefined) return keepFailed(writer, delivery, pause)
  const reason = outcome === 'gone' ? 'gone' : outcome === 'failed' ? 'failing' : 'secret_lost'
  await disableSubscription(writer, subscriptionId, reason)
  app.log.warn({ subscription: subscriptionId, reason }, 'a subscription is disabled')
}

/** Makes what has something done in so many milliseconds, unless it is to be done earlier or the service closes. */
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
