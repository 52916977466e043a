import { createServer } from 'node:net'
import { describe, expect, test } from 'vitest'
import { createTestDatabase, testServer } from '#test/setup/database.ts'
import { addressOf, startProcess, startService } from '#test/setup/service-process.ts'

describe('a server that cannot be used is named in a sentence, with the reason', () => {
  async function unusedPort(): Promise<number> {
    const server = createServer()
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const { port } = server.address() as { port: number }
    await new Promise((resolve) => server.close(resolve))
    return port
  }

  /** The test server's URL, changed. */
  function urlWith(change: (url: URL) => void): string {
    const url = new URL(testServer())
    change(url)
    return url.href
  }

  test.each([
    [
      'it is down',
      async () => `postgres://postgres@127.0.0.1:${await unusedPort()}/agro`,
      'connect ECONNREFUSED 127.0.0.1:',
    ],
    [
      'no such user',
      async () =>
        urlWith((url) => {
          url.username = 'no_such_user'
          url.password = 'a-secret'
        }),
      '',
    ],
    ['a URL that cannot be read', async () => 'postgres://a b:1:2/agro', 'Invalid URL'],
  ])('%s', async (_, makeUrl, reason) => {
    const DATABASE_URL = await makeUrl()
    const service = startService({ DATABASE_URL, JWT_SECRET: 'for this test alone '.repeat(2) })
    expect(await service.ended).toBe(1)
    expect(service.stdout()).toBe('')
    expect(service.stderr()).toMatch(/^agro: The database .* cannot be reached: .+\.\n$/)
    expect(service.stderr()).toContain(reason)
    expect(service.stderr()).not.toContain('a-secret')

    const cli = startProcess('src/cli/agro.ts', { DATABASE_URL }, 'releases', 'list')
    expect(await cli.ended).toBe(1)
    expect(cli.stderr()).toBe(service.stderr().replace('agro: ', ''))
  })
})

describe('HOST=localhost', () => {
  test('is one address: what another would let in, nobody would count or end in order', async () => {
    const { environment, drop } = await createTestDatabase('demo')
    const service = startService({ ...environment, HOST: 'localhost' })
    const { port } = new URL(await addressOf(service))
    expect((await fetch(`http://127.0.0.1:${port}/health/live`)).status).toBe(200)
    await expect(fetch(`http://[::1]:${port}/health/live`)).rejects.toThrow('fetch failed')
    service.signal('SIGTERM')
    expect(await service.ended).toBe(0)
    await drop()
  })
})
