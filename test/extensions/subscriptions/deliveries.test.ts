import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { deliverFrom, nextAttemptIn } from '#src/extensions/subscriptions/deliveries.ts'
import type { Delivery } from '#src/extensions/subscriptions/delivery-queries.ts'
import type { App } from '#src/http/app.ts'
import { DAY_MS } from '#src/lib/dates.ts'

beforeEach(() => {
  vi.useFakeTimers()
})
afterEach(() => {
  vi.useRealTimers()
})

test('attempts that never end delay others for a second at most, and have failed after half a minute', async () => {
  const deliveries = deliverAll(9, (item) => (item < 8 ? never() : Promise.resolve('arrived')))
  await vi.advanceTimersByTimeAsync(900)
  expect(deliveries.delivered).toEqual([])
  await vi.advanceTimersByTimeAsync(200)
  expect([deliveries.delivered, deliveries.state().running]).toEqual([[8], 8])
  await vi.advanceTimersByTimeAsync(30_000)
  expect(deliveries.failed).toEqual([0, 1, 2, 3, 4, 5, 6, 7])
  expect(deliveries.state()).toEqual({ running: 0, delivered: 1, failed: 8 })
  expect(deliveries.failures[0]).toBe('It took longer than 30 seconds.')
})

test('eight attempts begin at once, and eighty are under way at most', async () => {
  const deliveries = deliverAll(1000, never)
  const running: number[] = []
  for (let second = 0; second < 15; second++) {
    await vi.advanceTimersByTimeAsync(1100)
    running.push(deliveries.state().running)
  }
  expect(running.slice(0, 3)).toEqual([16, 24, 32])
  expect(Math.max(...running)).toBe(80)
})

test('an attempt that throws has failed', async () => {
  const deliveries = deliverAll(1, () => Promise.reject(new Error('no')))
  await vi.advanceTimersByTimeAsync(100)
  expect([deliveries.failed, deliveries.failures]).toEqual([[0], ['no']])
})

test('pauses grow, vary by a tenth, and come to a day', () => {
  const pauses = Array.from({ length: 10 }, (_, index) => nextAttemptIn(index + 1, 0, 0.5) as number)
  expect(pauses.reduce((sum, pause) => sum + pause, 0)).toBe(DAY_MS)
  expect(pauses).toEqual(pauses.toSorted((a, b) => a - b))
  expect([nextAttemptIn(1, 0, 0), nextAttemptIn(1, 0, 1), nextAttemptIn(11, DAY_MS, 0.5)]).toEqual([
    4500,
    5500,
    undefined,
  ])
  // Attempts that processes did not end are no day of failures.
  const failing = [0, 80_000_000, DAY_MS - 1000]
  expect(failing.map((ms) => nextAttemptIn(11, ms, 0.5))).toEqual([29_845_000, 6_400_000, 60_000])
})

/** Delivers what is due, as a job does. @param attempt what becomes of a delivery, by its number */
function deliverAll(due: number, attempt: (item: number) => Promise<'arrived' | 'failing'>) {
  const all = Array.from({ length: due }, () => ({ attempts: 1, failing: 0 }) as Delivery)
  const numberOf = (delivery: Delivery) => all.indexOf(delivery)
  let claimed = 0
  const [delivered, failed]: [number[], number[]] = [[], []]
  const failures: unknown[] = []
  const { signal } = new AbortController()
  let looking = Promise.resolve()
  let look: (signal: AbortSignal) => Promise<unknown>
  const jobs = {
    add: (_name: string, _schedule: object, piece: typeof look) => {
      look = piece
    },
    wake() {
      looking = looking.then(async () => {
        while ((await look(signal)) === true);
      })
    },
  }
  const logFailure = (error: Error) => failures.push(error.message)
  const state = deliverFrom({ jobs, logFailure } as unknown as App, {
    async claim(most) {
      claimed += most
      return all.slice(claimed - most, claimed)
    },
    findTimeToNext: async () => undefined,
    attempt: (delivery) => attempt(numberOf(delivery)),
    recordDelivered: async (delivery) => void delivered.push(numberOf(delivery)),
    recordFailed: async (delivery) => void failed.push(numberOf(delivery)),
    giveUp: async () => {},
    giveBack: async () => {},
  })
  jobs.wake()
  return { state, delivered, failed, failures }
}

const never = () => new Promise<never>(() => {})
