import { Webhook } from 'standardwebhooks'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { createTestAppWithPerson, newPerson, type TestAppWithPerson } from '#test/setup/people.ts'
import { type Receiver, startReceiver } from './receiver.ts'
import { subscribingTo } from './subscribing.ts'

let service: TestAppWithPerson
let receiver: Receiver
beforeAll(async () => {
  service = await createTestAppWithPerson({
    template: 'empty',
    settings: { RELEASE_MAX_AGE_MS: '0', WEBHOOK_ALLOW_PRIVATE: 'true' },
  })
  receiver = await startReceiver()
})
beforeEach(async () => {
  // Each of an own account: tests of one wait for each other.
  service.person = await newPerson(service.app)
  receiver.received = []
  receiver.answer = 204
})
afterAll(async () => {
  await receiver.close()
  await service.close()
})

const { publish, ask, subscribe, get } = subscribingTo(() => ({ service, receiver }))

test('a test message is signed as others are, marked, and changes nothing of the subscription', async () => {
  const { code } = await publish({ Urea: 100 })
  const { id, secret } = await subscribe({ name: 'My field' })
  const before = await get(id)
  const response = await ask('POST', `/subscriptions/${id}/test`)
  expect([response.statusCode, response.json()]).toEqual([
    200,
    { id: expect.any(String), outcome: 'delivered', status: 204 },
  ])
  const [{ headers, body } = { headers: {}, body: '' }] = receiver.received
  const event = new Webhook(secret).verify(body, headers as Record<string, string>)
  expect([headers['webhook-id'], headers['content-type']]).toEqual([
    response.json().id,
    'application/cloudevents+json; charset=utf-8',
  ])
  expect(event).toMatchObject({
    id: response.json().id,
    source: `/subscriptions/${id}`,
    type: 'org.agro-advisory.values.changed',
    data: {
      test: true,
      subscription: id,
      name: 'My field',
      product: 'fertilizer',
      country_code: 'eth',
      crop: 'wheat',
      release: code,
      release_before: code,
      changes: [{ input: 'Urea', scenario: 'Normal', before: 100, after: 100, change: 0, change_percent: 0 }],
    },
  })
  expect(await get(id)).toEqual(before)
  // Nothing of it is tried again.
  expect(receiver.received).toHaveLength(1)
})

test.each([
  ['an error of the receiver is told by its status', 500, { outcome: 'refused', status: 500 }],
  ['a redirect is not followed', 302, { outcome: 'refused', status: 302 }],
  ['410 disables nothing', 410, { outcome: 'refused', status: 410 }],
  ['that nobody answers is told', 'closed', { outcome: 'unanswered', status: null }],
] as const)('in a test %s', async (_what, answer, told) => {
  await publish({ Urea: 100 })
  const url = answer === 'closed' ? 'http://127.0.0.1:1/' : receiver.url
  if (answer !== 'closed') receiver.answer = answer
  const { id } = await subscribe({ url })
  const before = await get(id)
  expect((await ask('POST', `/subscriptions/${id}/test`)).json()).toMatchObject(told)
  expect(await get(id)).toEqual(before)
})

test('an account sends two tests and has to wait then, also with another subscription', async () => {
  await publish({ Urea: 100 })
  const [{ id }, { id: other }] = [await subscribe(), await subscribe()]
  const post = (of: string) => ask('POST', `/subscriptions/${of}/test`)
  expect([(await post(id)).statusCode, (await post(other)).statusCode]).toEqual([200, 200])
  expect((await ask('DELETE', `/subscriptions/${other}`)).statusCode).toBe(204)
  const { id: made } = await subscribe()
  const refused = await post(made)
  expect([refused.statusCode, refused.json().code, receiver.received.length]).toEqual([
    429,
    'TOO_MANY_REQUESTS',
    2,
  ])
  expect(Number(refused.headers['retry-after'])).toBeGreaterThan(0)
  expect(Number(refused.headers['retry-after'])).toBeLessThanOrEqual(10)
})
