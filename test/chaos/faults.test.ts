import { setTimeout } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createCleanup } from '#bench/cleanup.ts'
import { truncated } from '#chaos/faults/network.ts'
import { killed } from '#chaos/faults/processes.ts'
import { published } from '#chaos/faults/releases.ts'
import { judge } from '#chaos/judge.ts'
import { beginLoad } from '#chaos/load/begin.ts'
import { learnAnswers, planFor } from '#chaos/load/load.ts'
import { type Rig, setUpOn } from '#chaos/stage.ts'
import { verify } from '#chaos/verify.ts'
import { ownDatabase } from '#test/setup/open-service.ts'

/** A quarter of the load of `npm run chaos`. */
const SLOWNESS = 4

const FAULTS = [truncated, published(1), killed('server', 1)]

const cleanup = createCleanup()
const testDatabase = ownDatabase('demo')
let rig: Rig
beforeAll(async () => {
  rig = await setUpOn(cleanup, testDatabase.config.DATABASE_URL as string)
})
afterAll(async () => {
  await cleanup.run()
})

test(`under a load of everything that can be asked nothing is wrong or lost, and nothing is answered 500, when ${FAULTS.map(({ happens }) => happens).join('; then ')}`, async () => {
  const plan = await planFor(rig.service.port, await learnAnswers(rig))
  const load = beginLoad(plan, undefined, SLOWNESS)
  const times: { from: number; to: number }[] = []
  for (const fault of FAULTS) {
    // Some of what is deleted and ended has to be there before.
    await setTimeout(1000)
    const from = Date.now()
    await fault.inject(rig)
    times.push({ from, to: Date.now() })
  }
  const { asked, ledger } = await load.stop()
  expect(ledger.kept.length).toBeGreaterThan(0)
  const lost = await verify(plan, ledger)
  for (const [index, fault] of FAULTS.entries()) {
    const [first, next] = [index === 0 ? 0 : times[index]?.from, times[index + 1]?.from]
    const { mistakes } = judge({
      // On a busy machine anything may be refused for a while.
      fault: { ...fault, unnoticed: [], recoveryMs: Number.POSITIVE_INFINITY },
      ...(times[index] as (typeof times)[number]),
      // How long answers take is tried by other tests, one at a time.
      asked: asked
        .filter(({ at, ms }) => at + ms >= (first as number) && at + ms < (next ?? Number.POSITIVE_INFINITY))
        .map((one) => ({ ...one, ms: Math.min(one.ms, 1000) })),
      publications: rig.publications,
      lost,
      acknowledged: 0,
      complaints: 0,
      isUp: true,
    })
    expect.soft([fault.happens, mistakes]).toEqual([fault.happens, []])
  }
})
