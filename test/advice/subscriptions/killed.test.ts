import { sql } from 'kysely'
import { Webhook } from 'standardwebhooks'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { PATIENCE } from '#test/setup/patience.ts'
import { createTestAppWithPerson, type TestAppWithPerson } from '#test/setup/people.ts'
import { addressOf, startService } from '#test/setup/service-process.ts'
import { type Receiver, startReceiver } from './receiver.ts'
import { subscribingTo } from './subscribing.ts'

// Runs on a server alone: it is about processes, of which the embedded database has one.

let service: TestAppWithPerson
let receiver: Receiver
beforeAll(async () => {
  service = await createTestAppWithPerson({
    template: 'empty',
    ownDatabase: true,
    settings: { RELEASE_MAX_AGE_MS: '0', WEBHOOK_ALLOW_PRIVATE: 'true' },
  })
  receiver = await startReceiver()
})
afterAll(async () => {
  await receiver.close()
  await service.close()
})

const { publish, subscribe, received } = subscribingTo(() => ({ service, receiver }))

test('a service that is killed before an event has arrived sends it again when it is started, and misses nothing', async () => {
  const { environment } = service.testDatabase
  const { writer } = service.database
  await publish({ Urea: 100 })
  const { secret } = await subscribe()
  await publish({ Urea: 200 })
  receiver.answer = 'nothing'
  const killed = startService(environment)
  await received(1)
  killed.signal('SIGKILL')
  expect(await killed.ended).toBe('SIGKILL')

  // While nobody runs; and nobody waits for the minute in which the killed one might still have had it.
  await publish({ Urea: 300 })
  await sql`update webhook_delivery set leased_until = now()`.execute(writer)
  receiver.answer = 204
  const workers = startService({ ...environment, WORKERS: '2' })
  const deliveries = () =>
    sql<{ id: string; delivered: boolean }>`
      select id, delivered from webhook_delivery order by created_at`
      .execute(writer)
      .then(({ rows }) => rows)
  await vi.waitFor(
    async () => expect((await deliveries()).map(({ delivered }) => delivered)).toEqual([true, true]),
    PATIENCE,
  )
  await addressOf(workers)
  workers.signal('SIGTERM')
  expect(await workers.ended).toBe(0)

  const [first, second] = (await deliveries()).map(({ id }) => id)
  expect(receiver.received.map(({ headers }) => headers['webhook-id'])).toEqual([first, first, second])
  const bodies = receiver.received.map(({ headers, body }) =>
    new Webhook(secret).verify(body, headers as Record<string, string>),
  )
  expect(bodies[1]).toEqual(bodies[0])
  expect(bodies.slice(1)).toMatchObject([
    { id: first, data: { changes: [{ before: 100, after: 200 }] } },
    { id: second, data: { changes: [{ before: 200, after: 300 }] } },
  ])
})
