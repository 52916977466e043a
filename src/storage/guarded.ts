import { type BreakerLimits, createBreaker } from './breaker.ts'
import type { RangeReader } from './ranges.ts'
import { FileDamaged, FileMissing, StorageUnavailable } from './store.ts'

export interface GuardLimits extends BreakerLimits {
  /** How long a read may take, with the wait for its turn. */
  deadlineMs: number
  /** Reads that may be under way at the same time. */
  concurrency: number
}

/** What was read of a store, and whether it is away. */
export interface GuardState {
  isAway: boolean
  reads: number
  bytes: number
  /** How many failed, by why. */
  errors: Record<'unavailable' | 'missing' | 'damaged' | 'refused', number>
}

/** Reads from a store that may be slow or away, so that nobody waits for it in vain for long. */
export interface GuardedRanges extends RangeReader {
  state(): GuardState
}

interface Waiting {
  begin(): void
  fail(error: Error): void
}

/**
 * Has only so many read at a time, each no longer than a deadline. Where some have failed one after the other, all others
 * fail at once, but for one now and then, which finds out whether the store is back.
 *
 * @param place of the store, for people
 */
export function guarded(
  place: string,
  ranges: RangeReader,
  limits: GuardLimits,
  now?: () => number,
): GuardedRanges {
  const breaker = createBreaker(limits, now)
  const waiting = new Set<Waiting>()
  const errors: GuardState['errors'] = { unavailable: 0, missing: 0, damaged: 0, refused: 0 }
  let running = 0
  let reads = 0
  let bytes = 0

  function refusal(): StorageUnavailable {
    errors.refused++
    return new StorageUnavailable(
      `the files at ${place} were not asked for: they could not be reached just now`,
    )
  }

  /** Waits for a place among those who read. */
  function turn(signal: AbortSignal): Promise<void> {
    if (running < limits.concurrency) {
      running++
      return Promise.resolve()
    }
    return new Promise((resolve, reject) => {
      const fail = (error: Error) => {
        waiting.delete(entry)
        reject(error)
      }
      const late = () => fail(tooLate(place))
      const entry: Waiting = {
        begin() {
          waiting.delete(entry)
          signal.removeEventListener('abort', late)
          resolve()
        },
        fail,
      }
      waiting.add(entry)
      signal.addEventListener('abort', late, { once: true })
    })
  }

  /** Gives the place to who waits longest. */
  function next(): void {
    const [first] = waiting
    if (first) first.begin()
    else running--
  }

  function countError(error: unknown): void {
    if (error instanceof FileMissing) errors.missing++
    else if (error instanceof FileDamaged) errors.damaged++
    else errors.unavailable++
    if (!breaker.isOpen()) return
    for (const { fail } of [...waiting]) fail(refusal())
  }

  return {
    state: () => ({ isAway: breaker.isOpen(), reads, bytes, errors: { ...errors } }),
    async read(range) {
      const leave = breaker.enter()
      if (!leave) throw refusal()
      const isProbe = breaker.isOpen()
      const signal = AbortSignal.timeout(limits.deadlineMs)
      try {
        await turn(signal)
      } catch (error) {
        leave('left')
        throw error
      }
      if (breaker.isOpen() && !isProbe) {
        next()
        leave('left')
        throw refusal()
      }
      reads++
      const reading = ranges.read(range, signal)
      const isOver = reading.then(
        () => {},
        () => {},
      )
      try {
        const read = await Promise.race([reading, failingAt(signal, place)])
        leave('worked')
        bytes += read.length
        return read
      } catch (error) {
        leave(isAway(error) ? 'failed' : 'worked')
        countError(error)
        throw error
      } finally {
        // Who reads has the place until it ends, and not only until nobody waits for it: a disk that hangs cannot be left.
        void isOver.then(next)
      }
    },
  }
}

/** Whether a store has not answered; where it has, others may be answered better. */
function isAway(error: unknown): boolean {
  if (error instanceof FileMissing || error instanceof FileDamaged) return false
  return !(error instanceof StorageUnavailable && error.hasAnswered)
}

function failingAt(signal: AbortSignal, place: string): Promise<never> {
  return new Promise((_, reject) => {
    signal.addEventListener('abort', () => reject(tooLate(place)), { once: true })
  })
}

function tooLate(place: string): StorageUnavailable {
  return new StorageUnavailable(`the files at ${place} cannot be reached: they do not answer in time`)
}
