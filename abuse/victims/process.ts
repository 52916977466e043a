/**
 * The victims: a process of its own, so that what the attacker computes does not slow them down. It is told over
 * IPC what to send, and each is at an address of its own.
 */
import { setTimeout } from 'node:timers/promises'
import { ask } from '#bench/load/client.ts'
import { Histogram } from '#bench/load/histogram.ts'
import type { Noticed, Plan, Planned } from './victims.ts'

/** How long the last ones are waited for. */
const GRACE_MS = 3000

async function play(
  { port, seconds }: Plan,
  { victim, everyMs, token, ...sent }: Planned,
  index: number,
): Promise<[string, Noticed]> {
  const client = { port, address: `127.1.0.${index + 1}`, token }
  const histogram = new Histogram()
  const statuses: Record<string, number> = {}
  const waiting = new Set<number>()
  const count = (status: number, ms: number) => {
    statuses[status] = (statuses[status] ?? 0) + 1
    histogram.record(ms * 1000)
  }
  const times = Math.floor((seconds * 1000) / everyMs)
  const started = performance.now()
  for (let time = 0; time < times; time++) {
    await setTimeout(Math.max(0, started + time * everyMs - performance.now()))
    const sentAt = performance.now()
    waiting.add(sentAt)
    void ask(client, sent).then(({ status, ms }) => {
      if (waiting.delete(sentAt)) count(status, ms)
    })
  }
  const end = performance.now() + GRACE_MS
  while (waiting.size > 0 && performance.now() < end) await setTimeout(20)
  for (const sentAt of waiting) count(0, performance.now() - sentAt)
  waiting.clear()
  const answered = Object.entries(statuses).reduce(
    (sum, [status, some]) => sum + (/^2/.test(status) ? some : 0),
    0,
  )
  return [
    victim,
    { asked: times, answered, p50: histogram.quantile(0.5), p99: histogram.quantile(0.99), statuses },
  ]
}

process.on('message', async (plan: Plan) => {
  const noticed = await Promise.all(plan.requests.map((planned, index) => play(plan, planned, index)))
  process.send?.(Object.fromEntries(noticed))
})
process.on('disconnect', () => process.exit())
