import Fastify from 'fastify'
import fp from 'fastify-plugin'
import { expect, onTestFinished, test, vi } from 'vitest'
import type { App } from '#src/http/app.ts'
import { deliverFrom, nextAttemptIn } from '#src/http/deliveries.ts'
import { jobs } from '#src/http/jobs.ts'
import { DAY_MS } from '#src/lib/dates.ts'
import { PATIENCE } from '#test/setup/patience.ts'

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

test('a queue is delivered from once the service listens, whatever its name, and what fails is due later', async () => {
  const app = Fastify() as unknown as App
  onTestFinished(() => app.close())
  app.decorate('logFailure', () => undefined)
  await app.register(fp(async () => undefined, { name: 'failure-log' }))
  await app.register(jobs)
  const due = [1, 2].map((id) => ({ id, attempts: 1, failing: 0 }))
  const delivered: number[] = []
  const failed: [number, number][] = []
  const state = deliverFrom(app, 'deliver-another', {
    claim: async (most) => due.splice(0, most),
    findTimeToNext: async () => undefined,
    attempt: async ({ id }) => (id === 1 ? 'arrived' : 'refused'),
    keepDelivered: async ({ id }) => void delivered.push(id),
    keepFailed: async ({ id }, seconds) => void failed.push([id, Math.round(seconds / 5)]),
    giveUp: async () => undefined,
    giveBack: async () => undefined,
  })
  expect(delivered).toEqual([])
  await app.listen({ host: '127.0.0.1', port: 0 })
  await vi.waitFor(() => expect([delivered, failed]).toEqual([[1], [[2, 1]]]), PATIENCE)
  expect(state()).toMatchObject({ delivered: 1, failed: 1 })
  due.push({ id: 1, attempts: 1, failing: 0 })
  app.jobs.wake('deliver-another')
  await vi.waitFor(() => expect(delivered).toEqual([1, 1]), PATIENCE)
})
