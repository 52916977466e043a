import { expect, test, vi } from 'vitest'
import { isSuccess } from '#bench/load/client.ts'
import { tryCrossings } from '#chaos/crossings.ts'
import { learnAnswers, planFor } from '#chaos/load/load.ts'
import { type Replica, restartByTurns } from '#chaos/rolling.ts'
import { startTraffic } from '#chaos/traffic.ts'
import { verify } from '#chaos/verify.ts'
import { createTestDatabase } from '#test/setup/database.ts'
import { PATIENCE } from '#test/setup/patience.ts'
import { addressOf, startService } from '#test/setup/service-process.ts'

/** No balancer has to find out anything. */
const SETTLE_MS = 300

/** Some hundred requests a second are enough to meet every step of a stop. */
const PAUSE_MS = 10

/** So many are answered before something happens, and after it. */
const CALLS = 50

test('a service that is restarted, and one with workers that is stopped, fail no request of clients that keep connections as they are told, and either keeps to what the other has done', {
  timeout: 480_000,
}, async () => {
  const testDatabase = await createTestDatabase('demo')
  const replicas = ['1', '2'].map((WORKERS) => startReplica({ ...testDatabase.environment, WORKERS }))
  const [one, other] = (await Promise.all(replicas)) as [Replica, Replica]
  const known = await learnAnswers({ service: one })
  const plan = await planFor(one.port, known)

  const traffic = startTraffic(plan, [one.port, other.port], 2, PAUSE_MS)
  // By then they have their connections: one that is made when nobody listens any more may be reset.
  const more = async () => {
    const from = traffic.count()
    await vi.waitFor(() => expect(traffic.count()).toBeGreaterThan(from + CALLS), PATIENCE)
  }
  await more()
  const [restart] = await restartByTurns([one], 1, SETTLE_MS)
  await more()
  expect(await tryCrossings(one.port, other.port, known)).toEqual([])
  const code = await other.stop()
  await more()
  const { asked, ledger } = await traffic.stop()

  expect(asked.filter((reply) => !isSuccess(reply) || reply.wrong !== undefined)).toEqual([])
  expect([restart?.code, code]).toEqual([0, 0])
  expect([...new Set(asked.map(({ what }) => what))].sort()).toEqual([
    'batch',
    'kept point',
    'point',
    'polygon',
  ])
  // Of what clients were told to be kept, all is.
  expect(ledger.kept.length).toBeGreaterThan(CALLS / 4)
  expect(await verify(plan, ledger)).toEqual([])
  await one.stop()
  await testDatabase.drop()
})

async function startReplica(environment: Record<string, string>): Promise<Replica> {
  const start = (port: string) => startService({ ...environment, PORT: port })
  let service = start('0')
  const { port } = new URL(await addressOf(service))
  return {
    port: Number(port),
    stop() {
      service.signal('SIGTERM')
      return service.ended
    },
    async start() {
      service = start(port)
      await addressOf(service)
    },
  }
}
