/**
 * The victims: a process of its own, so that what the attacker computes does not slow them down. It is told over
 * IPC what to send, and each is at an address of its own.
 */
import { Answers } from '#bench/load/answers.ts'
import { ask, isSuccess } from '#bench/load/client.ts'
import { askEvery } from '#bench/load/loops.ts'
import type { Noticed, Plan, Planned } from './victims.ts'

/** How long the last ones are waited for. */
const GRACE_MS = 3000

async function play(
  { port, seconds }: Plan,
  { victim, everyMs, token, ...sent }: Planned,
  index: number,
): Promise<[string, Noticed]> {
  const client = { port, address: `127.1.0.${index + 1}`, token }
  const answers = new Answers()
  const times = Math.floor((seconds * 1000) / everyMs)
  const end = performance.now() + (times - 1) * everyMs + GRACE_MS
  const once = async () => {
    const { status, ms } = await ask(client, sent, end - performance.now())
    answers.count(status, ms)
  }
  await askEvery(everyMs, once, times).ended
  const answered = answers.countOf((status) => isSuccess({ status }))
  return [victim, { asked: times, answered, ...answers.summary() }]
}

process.on('message', async (plan: Plan) => {
  const noticed = await Promise.all(plan.requests.map((planned, index) => play(plan, planned, index)))
  process.send?.(Object.fromEntries(noticed))
})
process.on('disconnect', () => process.exit())
