import { sql } from 'kysely'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { claimChanged, claimDeliveries } from '#src/advice/subscriptions/delivery-queries.ts'
import { createTestAppWithPerson, newPerson, type TestAppWithPerson } from '#test/setup/people.ts'
import { PIXEL_CENTRE } from '#test/setup/releases.ts'

// Runs on a server alone: the statements are tried on both databases by the tests beside this one.

let service: TestAppWithPerson
beforeAll(async () => {
  service = await createTestAppWithPerson({ template: 'empty' })
})
afterAll(() => service.close())

const WATCHED = {
  product: 'fertilizer',
  ...PIXEL_CENTRE,
  threshold: { kind: 'absolute', value: 1 },
  // Of all of them.
  url: 'https://hooks.example.org/here',
}

test('accounts take turns at comparisons, and at a host that they share', async () => {
  const { writer } = service.database
  const other = await newPerson(service.app)
  const ids: string[] = []
  for (const { headers } of [service.person, service.person, service.person, other]) {
    const response = await service.app.inject({
      method: 'POST',
      url: '/subscriptions',
      headers,
      payload: WATCHED,
    })
    expect([response.statusCode, response.body]).toEqual([201, expect.any(String)])
    ids.push(response.json().id)
  }
  const [, , , theirs] = ids
  await sql`update subscription set release = 'one that is gone'`.execute(writer)
  expect((await claimChanged(writer, 2)).map(({ id }) => id)).toContain(theirs)
  for (const [index, id] of ids.entries()) {
    await sql`
      insert into webhook_delivery (subscription_id, body, due_at)
      values (${id}, '{}', now() - make_interval(secs => ${60 - index}::integer))`.execute(writer)
  }
  const claimed = await claimDeliveries(writer, 2)
  expect(claimed?.map(({ subscriptionId }) => subscriptionId).toSorted()).toEqual([ids[0], theirs].toSorted())
})
