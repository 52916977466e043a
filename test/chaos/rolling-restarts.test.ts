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

const CALLS_BEFORE = 100

test('restarts of two services by turns fail no request of clients that keep connections as they are told, and either keeps to what the other has done', {
  timeout: 480_000,
}, async () => {
  const testDatabase = await createTestDatabase('demo')
  const replicas = await Promise.all(
    ['1', '2'].map((WORKERS) => startReplica({ ...testDatabase.environment, WORKERS })),
  )
  const ports = replicas.map(({ port }) => port)
  const questions = await questionsOn(ports[0] as number)

  const traffic = startTraffic(ports, questions, 2)
  // By then they have their connections: one that is made when nobody listens any more may be reset.
  await vi.waitFor(() => expect(traffic.count()).toBeGreaterThan(CALLS_BEFORE), PATIENCE)
  const stops = await restartByTurns(replicas, replicas.length, SETTLE_MS)
  const { right, failures } = await traffic.stop()

  expect(failures).toEqual([])
  expect(stops.map(({ code }) => code)).toEqual([0, 0])
  expect([...right.keys()].sort()).toEqual(['areas', 'batch', 'kept point', 'point'])
  // Of what clients were told to be kept, all is.
  const [one, other] = ports as [number, number]
  const kept = await keptOf({ port: other, token: questions.at(-1)?.token })
  expect(await tryCrossings(one, other, knownOf(questions[0] as Question))).toEqual([])
  await Promise.all(replicas.map((replica) => replica.stop()))
  expect(kept).toBeGreaterThanOrEqual(right.get('kept point') as number)
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
