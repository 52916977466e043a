import { afterAll, beforeAll, expect, test } from 'vitest'
import { createTestAppWithPerson, type TestAppWithPerson } from '#test/setup/people.ts'

let service: TestAppWithPerson
beforeAll(async () => {
  service = await createTestAppWithPerson()
})
afterAll(() => service.close())

async function post(url: string, payload: string | Buffer, headers: Record<string, string> = {}) {
  const response = await service.app.inject({
    method: 'POST',
    url,
    headers: { ...service.person.headers, 'content-type': 'application/json', ...headers },
    payload,
  })
  return { status: response.statusCode, body: response.json() }
}

const ascii = (body: unknown) =>
  JSON.stringify(body).replace(/[\u0080-\uffff]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16)}`)

const SHEAF = '🌾'

const POINT = '{"lat":9.5,"lng":38.5}'

test.each([
  ['/advisory/yield/point', 10_928],
  ['/advisory/point', 10_928],
  ['/validate_location', 8192],
])('a body may have as many bytes as its fields take: POST %s, %i', async (url, limit) => {
  expect((await post(url, POINT.padEnd(limit))).status).toBe(200)
  expect(await post(url, POINT.padEnd(limit + 1))).toMatchObject({
    status: 413,
    body: { code: 'BODY_TOO_LARGE' },
  })
})

test('a registration may be as long as its fields, written in ASCII', async () => {
  const account = {
    email: `${'a'.repeat(60)}@${'b.'.repeat(94)}org`,
    password: SHEAF.repeat(256),
    name: SHEAF.repeat(200),
    organisation: SHEAF.repeat(200),
  }
  const { status, body } = await post('/auth/register', ascii(account))
  expect([status, body.name]).toEqual([201, account.name])
  const { email, password } = account
  expect((await post('/auth/login', ascii({ email, password }))).status).toBe(200)
})

test('a comment may be as long as it may be, written in ASCII', async () => {
  const { body: advisory } = await post('/advisory/yield/point', POINT)
  const comment = SHEAF.repeat(2000)
  const { status, body } = await post(
    `/history/${advisory.history_id}/feedback`,
    ascii({ rating: 4, comment }),
  )
  expect([status, body.comment]).toEqual([200, comment])
})

test('a polygon may have a million bytes', async () => {
  const ring = [
    [38.5, 9.5],
    [38.6, 9.5],
    [38.6, 9.6],
    [38.5, 9.5],
  ]
  const body = JSON.stringify({ geometry: { type: 'Polygon', coordinates: [ring] } })
  expect((await post('/advisory/yield', body.padEnd(1_048_576))).status).toBe(200)
  expect((await post('/advisory/yield', body.padEnd(1_048_577))).status).toBe(413)
})
