import type { App } from '#src/http/app.ts'
import { DAY_MS } from '#src/lib/dates.ts'
import { type Pauses, pauseAfter } from '#src/lib/promises.ts'
import { TimeBudget } from '#src/lib/time-budget.ts'
import type { Delivery } from './delivery-queries.ts'
import type { DisabledReason } from './schemas.ts'

/** Between attempts: 24 hours in all, and no attempt after the last. */
const PAUSES_MS: Pauses = [5, 30, 120, 600, 1800, 3600, 7200, 14_400, 28_800, 29_845].map((s) => s * 1000)

/** Deliveries that fail together do not come back together. */
const JITTER = 0.1

/** The rest of the day may be no more than moments. */
const SHORTEST_MS = 60_000

/** Milliseconds; undefined after about a day of failures. Attempts that a killed process has begun count too. */
export function nextAttemptIn(attempts: number, failingMs: number, random: number): number | undefined {
  const pauseMs = pauseAfter(PAUSES_MS, attempts) * (1 + JITTER * (2 * random - 1))
  if (attempts <= PAUSES_MS.length) return pauseMs
  const left = DAY_MS - failingMs
  return left <= 0 ? undefined : Math.max(SHORTEST_MS, Math.min(pauseMs, left))
}

/** Deliveries that all processes take from the database. */
interface DeliveryQueue {
  /**
   * Leases due deliveries; undefined while another process claims some.
   *
   * @param shared how many of them may be of owners that have one under way
   */
  claim(most: number, shared: number): Promise<Delivery[] | undefined>
  /** The milliseconds until the next one is due; undefined without one. */
  findTimeToNext(): Promise<number | undefined>
  /** Tries once; `gone` ends the attempts. */
  attempt(delivery: Delivery, signal: AbortSignal): Promise<'arrived' | DisabledReason>
  recordDelivered(delivery: Delivery): Promise<void>
  recordFailed(delivery: Delivery, seconds: number): Promise<void>
  giveUp(delivery: Delivery, reason: DisabledReason): Promise<void>
  giveBack(delivery: Delivery): Promise<void>
}

/** Attempts of one process in their first second, as many as its database should note at once. */
const QUICK = 8
/** After so long an attempt counts no more among these: others do not wait for slow receivers. */
const QUICK_MS = 1000
/** All attempts of one process: in ten seconds as many as can become slow. */
const RUNNING = 80
/** The rest is for owners without an attempt under way. */
const SHARED = 60

/** The end of an attempt that does not end by itself: sooner than that of its lease. */
const LONGEST_MS = 30_000

/** The pause where another process claims, or the host or owner of a due item is busy. */
const SOON_MS = 3_000

interface DeliveryState {
  running: number
  delivered: number
  failed: number
}

const JOB = 'deliver-changes'

/** Delivers what is due in a queue, as a job; gives the state of this process. */
export function deliverFrom(app: App, queue: DeliveryQueue): () => DeliveryState {
  const running = new Set<Promise<void>>()
  const quick = new Set<Promise<void>>()
  const counts = { delivered: 0, failed: 0 }

  function attemptInTime(delivery: Delivery, signal: AbortSignal): Promise<'arrived' | DisabledReason> {
    const late = () => new Error(`It took longer than ${LONGEST_MS / 1000} seconds.`)
    const attempt = () => queue.attempt(delivery, signal)
    return new TimeBudget(LONGEST_MS).wait(attempt, late).catch((error) => {
      app.logFailure(error, 'an attempt at a delivery failed')
      return 'failing'
    })
  }

  async function deliver(delivery: Delivery, signal: AbortSignal): Promise<void> {
    const outcome = await attemptInTime(delivery, signal)
    if (outcome === 'arrived') {
      counts.delivered++
      return queue.recordDelivered(delivery)
    }
    if (signal.aborted) return queue.giveBack(delivery)
    counts.failed++
    const { attempts, failing } = delivery
    const nextMs = outcome === 'gone' ? undefined : nextAttemptIn(attempts, failing * 1000, Math.random())
    return nextMs === undefined
      ? queue.giveUp(delivery, outcome)
      : queue.recordFailed(delivery, nextMs / 1000)
  }

  function begin(delivery: Delivery, signal: AbortSignal): void {
    const delivering = deliver(delivery, signal)
      // An outcome that was not stored leads to another delivery with the same id.
      .catch((error) => app.logFailure(error, 'the outcome of a delivery was not stored'))
      .finally(() => {
        clearTimeout(timer)
        running.delete(delivering)
        leaveQuick()
      })
    const leaveQuick = () => {
      quick.delete(delivering)
      app.jobs.wake(JOB)
    }
    const timer = setTimeout(leaveQuick, QUICK_MS).unref()
    running.add(delivering)
    quick.add(delivering)
  }

  async function deliverSome(signal: AbortSignal): Promise<boolean | number | undefined> {
    const free = Math.min(QUICK - quick.size, RUNNING - running.size)
    if (free <= 0 || signal.aborted) return false
    const claimed = await queue.claim(free, SHARED - running.size)
    if (claimed === undefined) return SOON_MS
    for (const delivery of claimed) {
      if (signal.aborted) await queue.giveBack(delivery)
      else begin(delivery, signal)
    }
    if (claimed.length > 0) return true
    const nextMs = await queue.findTimeToNext()
    return nextMs === undefined || nextMs > 0 ? nextMs : SOON_MS
  }

  const schedule = { atOnce: true, failure: 'changes were not delivered' }
  app.jobs.add(JOB, schedule, deliverSome, async () => void (await Promise.all(running)))
  return () => ({ running: running.size, ...counts })
}
