import { expect, test, vi } from 'vitest'
import { tryCrossings } from '#chaos/crossings.ts'
import type { Plan } from '#chaos/load/plan.ts'
import { keptOf, questionsOn } from '#chaos/questions.ts'
import { type Replica, restartByTurns } from '#chaos/rolling.ts'
import { type Question, startTraffic } from '#chaos/traffic.ts'
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
  const questions = await questionsOn(one.port)

  const traffic = startTraffic([one.port, other.port], questions, 2, PAUSE_MS)
  // By then they have their connections: one that is made when nobody listens any more may be reset.
  const more = async () => {
    const from = traffic.count()
    await vi.waitFor(() => expect(traffic.count()).toBeGreaterThan(from + CALLS), PATIENCE)
  }
  await more()
  const [restart] = await restartByTurns([one], 1, SETTLE_MS)
  await more()
  expect(await tryCrossings(one.port, other.port, knownOf(questions[0] as Question))).toEqual([])
  const code = await other.stop()
  await more()
  const { right, failures } = await traffic.stop()

  expect(failures).toEqual([])
  expect([restart?.code, code]).toEqual([0, 0])
  expect([...right.keys()].sort()).toEqual(['areas', 'batch', 'kept point', 'point'])
  // Of what clients were told to be kept, all is.
  const kept = await keptOf({ port: one.port, token: questions.at(-1)?.token })
  expect(kept).toBeGreaterThanOrEqual(right.get('kept point') as number)
  await one.stop()
  await testDatabase.drop()
})

/** All that is known is a point that can be asked for. */
function knownOf({ path, body }: Question): Plan['known'] {
  const point = { method: 'POST', path, body: JSON.stringify(body), answers: {} } as const
  return { point: [point], 'point from the database': [], batch: [], polygon: [], catalog: [] }
}

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
