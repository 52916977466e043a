import type { App } from '#src/http/app.ts'
import { DAY_MS } from '#src/lib/dates.ts'
import { type Pauses, pauseAfter } from '#src/lib/retry.ts'
import { waitInSteps } from '#src/lib/time-budget.ts'

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

interface Delivery {
  /** Those so far, the present one included. */
  attempts: number
  /** The seconds since the first failure; 0 after a success. */
  failing: number
}

type Ending<Failure extends string> = 'gone' | 'failing' | Failure

/** Deliveries that all processes take from the database: the queries of one table. */
interface DeliveryQueue<Item extends Delivery, Failure extends string> {
  /**
   * Leases due items; undefined while another process claims some.
   *
   * @param shared how many of them may be of owners that have one under way
   */
  claim(most: number, shared: number): Promise<Item[] | undefined>
  /** The milliseconds until the next item is due; undefined without one. */
  findTimeToNext(): Promise<number | undefined>
  /** Tries once; `gone` ends the attempts. */
  attempt(item: Item, signal: AbortSignal): Promise<'arrived' | Ending<Failure>>
  keepDelivered(item: Item): Promise<void>
  keepFailed(item: Item, seconds: number): Promise<void>
  giveUp(item: Item, failure: Ending<Failure>): Promise<void>
  giveBack(item: Item): Promise<void>
}

/** Attempts of one process in their first second, as many as its database should note at once. */
const QUICK = 8
/** After so long an attempt has its place beside these: others do not wait for slow receivers. */
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

/** Delivers the due items of a queue, as a job; gives the state of this process. */
export function deliverFrom<Item extends Delivery, Failure extends string>(
  app: App,
  job: string,
  queue: DeliveryQueue<Item, Failure>,
): () => DeliveryState {
  const running = new Set<Promise<void>>()
  const quick = new Set<Promise<void>>()
  const counts = { delivered: 0, failed: 0 }

  function attemptInTime(item: Item, signal: AbortSignal): Promise<'arrived' | Ending<Failure>> {
    const late = () => new Error(`${job}: an attempt took longer than ${LONGEST_MS / 1000} seconds`)
    return waitInSteps(LONGEST_MS, (wait) => wait(() => queue.attempt(item, signal)), late).catch((error) => {
      app.logFailure(error, 'an attempt at a delivery did not end in order')
      return 'failing'
    })
  }

  async function deliver(item: Item, signal: AbortSignal): Promise<void> {
    const outcome = await attemptInTime(item, signal)
    if (outcome === 'arrived') {
      counts.delivered++
      return queue.keepDelivered(item)
    }
    if (signal.aborted) return queue.giveBack(item)
    counts.failed++
    const nextMs =
      outcome === 'gone' ? undefined : nextAttemptIn(item.attempts, item.failing * 1000, Math.random())
    return nextMs === undefined ? queue.giveUp(item, outcome) : queue.keepFailed(item, nextMs / 1000)
  }

  function begin(item: Item, signal: AbortSignal): void {
    const delivering = deliver(item, signal)
      // An outcome that was not stored leads to another delivery with the same id.
      .catch((error) => app.logFailure(error, 'what has come of a delivery could not be noted'))
      .finally(() => {
        clearTimeout(timer)
        running.delete(delivering)
        leaveQuick()
      })
    const leaveQuick = () => {
      quick.delete(delivering)
      app.jobs.wake(job)
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
    for (const item of claimed) {
      if (signal.aborted) await queue.giveBack(item)
      else begin(item, signal)
    }
    if (claimed.length > 0) return true
    const nextMs = await queue.findTimeToNext()
    return nextMs === undefined || nextMs > 0 ? nextMs : SOON_MS
  }

  const schedule = { atOnce: true, failure: `${job}: nothing could be delivered yet` }
  app.jobs.add(job, schedule, deliverSome, async () => void (await Promise.all(running)))
  return () => ({ running: running.size, ...counts })
}
