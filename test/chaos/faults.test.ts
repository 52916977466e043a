import { setTimeout } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createCleanup } from '#bench/cleanup.ts'
import type { Fault } from '#chaos/fault.ts'
import { truncated } from '#chaos/faults/network.ts'
import { killed } from '#chaos/faults/processes.ts'
import { published } from '#chaos/faults/releases.ts'
import { judge } from '#chaos/judge.ts'
import { beginLoad } from '#chaos/load/begin.ts'
import { learnAnswers, planFor } from '#chaos/load/load.ts'
import type { Plan } from '#chaos/load/plan.ts'
import { type Rig, setUpOn } from '#chaos/stage.ts'
import { verify } from '#chaos/verify.ts'
import { createTestDatabase, type TestDatabase } from '#test/setup/database.ts'

// How requests meet faults of the way to the database is the same on both.
describe.skipIf(process.env.TEST_DATABASE_KIND === 'embedded')(
  'under a load of everything that can be asked,',
  () => {
    const cleanup = createCleanup()
    let testDatabase: TestDatabase
    let rig: Rig
    let known: Plan['known']
    beforeAll(async () => {
      testDatabase = await createTestDatabase('demo')
      rig = await setUpOn(cleanup, testDatabase.config.DATABASE_URL as string)
      known = await learnAnswers(rig)
    })
    afterAll(async () => {
      await cleanup.run()
      await testDatabase.drop()
    })

    async function mistakesOf(fault: Fault): Promise<string[]> {
      const plan = await planFor(rig.service.port, known)
      const load = beginLoad(plan)
      // Some of what is deleted and ended has to be there before.
      await setTimeout(1000)
      const from = Date.now()
      await fault.inject(rig)
      const to = Date.now()
      const { asked, ledger } = await load.stop()
      expect(ledger.kept.length).toBeGreaterThan(0)
      return judge({
        // On a busy machine anything may be refused for a while.
        fault: { ...fault, unnoticed: [], recoveryMs: Number.POSITIVE_INFINITY },
        from,
        to,
        // How long answers take is tried by other tests, one at a time.
        asked: asked.map((one) => ({ ...one, ms: Math.min(one.ms, 1000) })),
        publications: rig.publications,
        lost: await verify(plan, ledger),
        acknowledged: 0,
        complaints: 0,
        isUp: true,
      }).mistakes
    }

    test.each([truncated, published, killed('server', 1)])(
      'nothing is wrong or lost, and nothing is answered 500, when $happens',
      async (fault) => {
        expect(await mistakesOf(fault)).toEqual([])
      },
    )
  },
)
