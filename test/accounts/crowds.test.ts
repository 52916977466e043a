import { afterAll, beforeAll, expect, test } from 'vitest'
import { createTestApp, type TestApp } from '#test/setup/app.ts'
import { PASSWORD, register, tryLogIn } from '#test/setup/people.ts'

// Runs on a server alone: who waits for passwords to be hashed is the same on both.

let service: TestApp
beforeAll(async () => {
  service = await createTestApp({ template: 'empty' })
})
afterAll(() => service.close())

test('200 logins at once are answered, or turned away with the time to come back', async () => {
  const email = await register(service.app)
  const responses = await Promise.all(
    Array.from({ length: 200 }, () => tryLogIn(service.app, email, PASSWORD)),
  )
  const turnedAway = responses.filter(({ statusCode }) => statusCode === 503)
  const letIn = responses.filter(({ statusCode }) => statusCode === 200)
  expect(letIn.length).toBeGreaterThanOrEqual(60)
  expect(letIn.length + turnedAway.length).toBe(200)
  for (const { headers, body } of turnedAway) {
    expect(headers['retry-after']).toBe('1')
    expect(JSON.parse(body).code).toBe('OVERLOADED')
  }
})

test.each([
  ['one address', () => '203.0.113.5'],
  ['as many addresses', (index: number) => `198.51.${index}.1`],
  ['as many networks of one subscriber', (index: number) => `2001:db8:1:${index}::1`],
])(
  '100 logins at once with the right password of one account, from %s, turn nobody else away',
  async (_, address) => {
    const crowded = await register(service.app)
    const others = await Promise.all(Array.from({ length: 6 }, () => register(service.app)))
    const crowd = Array.from({ length: 100 }, (_, index) =>
      tryLogIn(service.app, crowded, PASSWORD, address(index)),
    )
    const statuses = others.map(
      async (email, index) => (await tryLogIn(service.app, email, PASSWORD, `192.0.2.${index}`)).statusCode,
    )
    expect(await Promise.all(statuses)).toEqual([200, 200, 200, 200, 200, 200])
    const ofCrowd = (await Promise.all(crowd)).map(({ statusCode }) => statusCode)
    expect(ofCrowd.filter((status) => status === 200).length).toBeGreaterThanOrEqual(60)
    expect(new Set(ofCrowd)).toEqual(new Set([200, 503]))
  },
)
