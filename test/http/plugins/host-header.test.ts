import { once } from 'node:events'
import { type AddressInfo, connect } from 'node:net'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createTestApp, type TestApp } from '#test/setup/app.ts'

let service: TestApp
let port: number
beforeAll(async () => {
  service = await createTestApp({ template: 'empty' })
  await service.app.listen({ host: '127.0.0.1', port: 0 })
  port = (service.app.server.address() as AddressInfo).port
})
afterAll(() => service.close())

/** Sends bytes as they are, and returns what comes back until the service hangs up. */
async function exchange(request: string): Promise<string> {
  const socket = connect(port, '127.0.0.1')
  socket.write(request)
  let answer = ''
  socket.on('data', (data) => {
    answer += data
  })
  await once(socket, 'close')
  return answer
}

/** The same, with the status and the body of the answer. */
async function raw(request: string): Promise<{ status: number; type: string; body: unknown }> {
  const answer = await exchange(request)
  const [head = '', body = ''] = answer.split('\r\n\r\n')
  return {
    status: Number(head.split(' ')[1]),
    type: /content-type: (.*)/i.exec(head)?.[1]?.trim() ?? '',
    body: JSON.parse(body),
  }
}

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
      const answer = await raw(`${method} ${path} HTTP/1.1\r\n${lines}${more}\r\n`)
      expect(answer).toEqual({
        status: 400,
        type: 'application/json; charset=utf-8',
        body: {
          error: `The request must have one Host header, and has ${found}.`,
          code: 'MALFORMED_REQUEST',
          request_id: expect.any(String),
        },
      })
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
    const answer = await raw(`GET /health/live HTTP/1.1\r\nHost: ${host}\r\n\r\n`)
    expect(answer).toMatchObject({ status: 400, body: { code: 'MALFORMED_REQUEST' } })
    expect((answer.body as { error: string }).error).toBe(
      'The Host header must be a name or an address, with a port or without, such as advisory.example:8080.',
    )
  })

  test.each(['a.example', 'a_b.example.:8080', '127.0.0.1:3000', '[::1]:3000', '[2001:db8::1]', '%41', 'a:'])(
    'and one that names a host is answered: %s',
    async (host) => {
      const request = `GET /health/live HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`
      expect((await raw(request)).status).toBe(200)
    },
  )

  test('HTTP/1.0 knows no host, and may name one', async () => {
    const statusOf = async (lines: string) => (await raw(`GET /health/live HTTP/1.0\r\n${lines}\r\n`)).status
    expect(await statusOf('')).toBe(200)
    expect(await statusOf('Host: a\r\n')).toBe(200)
    expect(await statusOf('Host: a\r\nHost: b\r\n')).toBe(400)
  })
})
