import { once } from 'node:events'
import { type AddressInfo, connect } from 'node:net'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createTestApp, type TestApp } from '#test/setup/app.ts'
import { captureLog } from '#test/setup/log.ts'

let service: TestApp
let lines: string[]
beforeAll(async () => {
  service = await createTestApp({ settings: { LOG_LEVEL: 'debug' } })
  lines = captureLog(service.app)
  await service.app.listen({ host: '127.0.0.1', port: 0 })
})
afterAll(() => service.close())

interface Line {
  level: number
  msg: string
}

const INFO = 30
const logged = () => lines.map((line): Line => JSON.parse(line))

test.each([
  ['a point', '/advisory/yield/point', ''],
  ['an encoded point', '/advisory/yield/point', 'Content-Encoding: gzip\r\n'],
  ['a batch', '/advisory/yield/points', ''],
])(
  'a client that hangs up within the body of %s is not taken for a database that is away',
  async (_, path, header) => {
    lines.length = 0
    const socket = connect((service.app.server.address() as AddressInfo).port, '127.0.0.1')
    await once(socket, 'connect')
    socket.write(
      `POST ${path} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n${header}Content-Length: 9\r\n\r\n{`,
    )
    await expect.poll(() => logged().some(({ msg }) => msg === 'incoming request')).toBe(true)
    socket.destroy()
    await expect.poll(() => logged().length).toBe(2)
    expect(logged()[1]).toMatchObject({ level: INFO, msg: 'The body broke off.' })
  },
)
