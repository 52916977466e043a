import Fastify from 'fastify'
import fp from 'fastify-plugin'
import { expect, onTestFinished, test, vi } from 'vitest'
import type { App } from '#src/http/app.ts'
import { createLoop, jobs } from '#src/http/jobs.ts'
import { PATIENCE } from '#test/setup/patience.ts'

test('pieces follow one another until there is no more, however often work is begun', async () => {
  const { begin, begun, ends, end, most } = work()
  begin()
  begin()
  await begun(1)
  ends[0]?.(true)
  await begun(2)
  ends[1]?.(true)
  await begun(3)
  ends[2]?.(false)
  await end()
  expect([ends.length, most()]).toEqual([3, 1])
})

test('a wake in the moment in which the last piece ends is not lost', async () => {
  let pieces = 0
  const loop = createLoop(
    { everyMs: 60_000 },
    () => {
      const done = Promise.resolve(undefined)
      // Two steps later the loop has seen no wake, and has not stopped yet.
      if (pieces++ === 0) void done.then(() => undefined).then(loop.wake)
      return done
    },
    () => undefined,
  )
  loop.wake()
  await vi.waitFor(() => expect(pieces).toBe(2), PATIENCE)
  await loop.stop()
})

test('a piece that fails is tried again after a second, long before the pause of the job', async () => {
  const { begin, begun, ends, end, sorry } = work({ everyMs: 86_400_000 })
  const error = new Error('no')
  begin()
  await begun(1)
  ends[0]?.(error)
  await begun(2)
  expect(sorry.mock.calls).toEqual([[error, 1]])
  ends[1]?.(false)
  await end()
  expect(sorry).toHaveBeenCalledTimes(1)
})

test('the end waits for the piece that is under way, and no other begins', async () => {
  const { begin, begun, ends, end, sorry } = work()
  begin()
  await begun(1)
  let ended = false
  const ending = end().then(() => {
    ended = true
  })
  await Promise.resolve()
  expect(ended).toBe(false)
  ends[0]?.(true)
  await ending
  begin()
  expect([ends.length, sorry.mock.calls]).toEqual([1, []])
})

test('a job looks again after its pause, or sooner where a piece says so', async () => {
  const job = { everyMs: 50, atOnce: true }
  const { start, begun, ends, end } = work(job)
  start()
  await begun(1)
  ends[0]?.(undefined)
  await begun(2)
  ends[1]?.(1)
  await begun(3)
  ends[2]?.(86_400_000)
  await begun(4)
  ends[3]?.(undefined)
  await end()
})

test('a job that does not begin at once waits for its pause', async () => {
  vi.useFakeTimers()
  onTestFinished(() => void vi.useRealTimers())
  const piece = vi.fn(async () => undefined)
  const loop = createLoop({ everyMs: 1000 }, piece, vi.fn())
  loop.start()
  await vi.advanceTimersByTimeAsync(999)
  expect(piece).not.toHaveBeenCalled()
  await vi.advanceTimersByTimeAsync(1)
  expect(piece).toHaveBeenCalledTimes(1)
  await loop.stop()
  expect(vi.getTimerCount()).toBe(0)
})

test('a job says that the database is away when it fails the third time in a row, and other failures at once', async () => {
  vi.useFakeTimers()
  onTestFinished(() => void vi.useRealTimers())
  const logFailure = vi.fn()
  const app = Fastify() as unknown as App
  await app.register(
    fp(async (scope) => void scope.decorate('logFailure', logFailure), { name: 'failure-log' }),
  )
  await app.register(jobs)
  const errors = ['timeout expired', 'timeout expired', 'timeout expired', 'no']
  const said: number[] = []
  app.jobs.add('delete-old-messages', { failure: 'old messages were not deleted' }, async () => {
    said.push(logFailure.mock.calls.length)
    const message = errors[said.length - 1]
    if (message) throw new Error(message)
  })
  app.jobs.wake('delete-old-messages')
  for (let second = 0; second < 40; second++) await vi.advanceTimersByTimeAsync(1000)
  await app.close()
  expect(said).toEqual([0, 0, 0, 1, 2])
})

function work(job = { everyMs: 60_000 }) {
  type Outcome = boolean | number | undefined
  const ends: ((outcome: Outcome | Error) => void)[] = []
  const sorry = vi.fn()
  let most = 0
  let running = 0
  const piece = async () => {
    most = Math.max(most, ++running)
    const outcome = await new Promise<Outcome | Error>((resolve) => ends.push(resolve))
    running--
    if (outcome instanceof Error) throw outcome
    return outcome
  }
  const loop = createLoop(job, piece, sorry)
  const { wake: begin, stop: end } = loop
  const begun = (pieces: number) => vi.waitFor(() => expect(ends).toHaveLength(pieces), PATIENCE)
  return { start: loop.start, begin, end, ends, begun, sorry, most: () => most }
}
