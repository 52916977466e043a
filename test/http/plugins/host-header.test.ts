import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createTestApp, type TestApp } from '#test/setup/app.ts'
import { exchange } from '#test/setup/exchange.ts'

let service: TestApp
beforeAll(async () => {
  service = await createTestApp({ template: 'empty' })
  await service.app.listen({ host: '127.0.0.1', port: 0 })
})
afterAll(() => service.close())

describe('the Host header', () => {
  test.each([
    ['no host', '', 'none'],
    ['two hosts', 'Host: a.example\r\nhost: b.example\r\n', '2'],
    ['the same host twice', 'HOST: a\r\nHost: a\r\n', '2'],
  ])('a request with %s', async (_, lines, found) => {
    for (const [path, more] of [
      ['/health/live', ''],
      ['/nowhere', ''],
      ['/advisory/yield/point', 'Content-Length: 0\r\n'],
    ]) {
      const method = more ? 'POST' : 'GET'
      const answer = await exchange(service.app, `${method} ${path} HTTP/1.1\r\n${lines}${more}\r\n`)
      expect([answer.status, answer.json()]).toEqual([
        400,
        {
          error: `The request must have one Host header, and has ${found}.`,
          code: 'MALFORMED_REQUEST',
          request_id: expect.any(String),
        },
      ])
    }
  })

  test.each([
    "x'; id #",
    'a b',
    'user@a.example',
    'a.example/path',
    'a.example?x',
    'a.example#x',
    'a\\b',
    'a"b',
    '<b>',
    '%zz',
    'a.example:80a',
    'a.example:80:80',
    '[::1',
    '[::g]',
    '::1',
    'bücher.example',
    'x'.repeat(260),
    '',
  ])('a Host header that names none: %s', async (host) => {
    const answer = await exchange(service.app, `GET /health/live HTTP/1.1\r\nHost: ${host}\r\n\r\n`)
    expect([answer.status, answer.json().error]).toEqual([
      400,
      'The Host header must be a name or an address, with a port or without, such as advisory.example:8080.',
    ])
  })

  test.each(['a.example', 'a_b.example.:8080', '127.0.0.1:3000', '[::1]:3000', '[2001:db8::1]', '%41', 'a:'])(
    'and one that names a host is answered: %s',
    async (host) => {
      const request = `GET /health/live HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`
      expect((await exchange(service.app, request)).status).toBe(200)
    },
  )

  test('HTTP/1.0 knows no host, and may name one', async () => {
    const statusOf = async (lines: string) =>
      (await exchange(service.app, `GET /health/live HTTP/1.0\r\n${lines}\r\n`)).status
    expect(await statusOf('')).toBe(200)
    expect(await statusOf('Host: a\r\n')).toBe(200)
    expect(await statusOf('Host: a\r\nHost: b\r\n')).toBe(400)
  })
})
