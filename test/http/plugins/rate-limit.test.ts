import { describe, expect, test, vi } from 'vitest'
import { buildApp } from '#src/app.ts'
import { loadConfig } from '#src/config.ts'
import { call, type Sent } from '#test/setup/calls.ts'
import { openApp } from '#test/setup/open-service.ts'
import { newPerson } from '#test/setup/people.ts'

const POINT = 'POST /advisory/yield/point?lat=9&lng=38.7'

const service = openApp({ settings: { RATE_LIMIT: '3/min' } })

const ask = (from: string, request = POINT, sent: Sent = {}) => service.ask(request, { ...sent, from })

describe('requests of a network without a token', () => {
  test('are answered up to the limit, and each says how many are left', async () => {
    const clock = vi.spyOn(Date, 'now').mockReturnValue(Date.now())
    const answers = [await ask('192.0.2.1'), await ask('192.0.2.1'), await ask('192.0.2.1')]
    expect(answers.map(({ status, headers }) => [status, headers.ratelimit])).toEqual([
      [200, '"caller";r=2;t=60'],
      [200, '"caller";r=1;t=60'],
      [200, '"caller";r=0;t=60'],
    ])
    expect(answers[0]?.headers['ratelimit-policy']).toBe('"caller";q=3;w=60')
    const refused = await ask('192.0.2.1')
    const error = 'There may be 3 requests in 60 s; try again in 60 s.'
    expect([refused.status, refused.body]).toEqual([429, { error, code: 'RATE_LIMITED' }])
    expect(refused.headers).toMatchObject({
      'retry-after': '60',
      ratelimit: '"caller";r=0;t=60',
      'ratelimit-policy': '"caller";q=3;w=60',
    })
    expect((await ask('198.51.100.1')).status).toBe(200)
    clock.mockRestore()
  })

  test('are answered again when the time is over', async () => {
    for (let request = 0; request < 4; request++) await ask('192.0.2.2')
    expect((await ask('192.0.2.2')).status).toBe(429)
    const now = Date.now()
    const clock = vi.spyOn(Date, 'now').mockImplementation(() => now + 60_001)
    const answer = await ask('192.0.2.2')
    clock.mockRestore()
    expect([answer.status, answer.headers.ratelimit]).toEqual([200, '"caller";r=2;t=60'])
  })

  test('count once, those for HEAD as well, and a subscriber is one whichever address it chooses', async () => {
    const head = await ask('2001:db8::1', 'HEAD /catalog')
    expect(head.headers.ratelimit).toBe('"caller";r=2;t=60')
    expect((await ask('2001:db8::2')).headers.ratelimit).toBe('"caller";r=1;t=60')
  })

  test('for health and the documents are never limited', async () => {
    for (let request = 0; request < 4; request++) await ask('192.0.2.3')
    for (const url of ['/health/live', '/health/ready', '/', '/openapi.json', '/docs', '/robots.txt']) {
      const { status, headers } = await ask('192.0.2.3', `GET ${url}`)
      expect([url, status, headers.ratelimit]).toEqual([url, 200, undefined])
    }
  })

  test('may be told to pages of other origins', async () => {
    const { headers } = await ask('192.0.2.4', POINT, { headers: { origin: 'https://app.example.org' } })
    expect(headers['access-control-expose-headers']).toContain('RateLimit, RateLimit-Policy')
  })
})

test('a user has a limit apart from the network, and wherever the requests come from', async () => {
  const by = await newPerson(service.app)
  for (let request = 0; request < 4; request++) await ask('192.0.2.5')
  for (const network of ['192.0.2.5', '192.0.2.6', '192.0.2.7']) {
    expect((await ask(network, POINT, { by })).status).toBe(200)
  }
  expect((await ask('192.0.2.8', POINT, { by })).status).toBe(429)
})

test('nothing is limited, and no header says so, where the operator has set nothing', async () => {
  const config = { ...service.testDatabase.config, RATE_LIMIT: undefined }
  const app = await buildApp(config, service.database)
  const { headers } = await call(app, POINT)
  expect(Object.keys(headers).filter((name) => name.startsWith('ratelimit'))).toEqual([])
  await app.close()
})

test.each(['600', '0/min', '600/day'])('RATE_LIMIT=%s is refused at the start', (rate) => {
  expect(() => loadConfig({ RATE_LIMIT: rate })).toThrow('RATE_LIMIT must look like 600/min or 20/s')
})
