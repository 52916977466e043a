import { createServer } from 'node:net'
import { describe, expect, inject, test } from 'vitest'
import { startProcess, startService } from '#test/setup/service-process.ts'

const EMBEDDED = process.env.TEST_DATABASE_KIND === 'embedded'

// Before any database is opened: once is enough.
describe.skipIf(!EMBEDDED)('a configuration that is not valid is named in a sentence', () => {
  test.each([
    ['PORT', 'eighty', 'PORT must be integer'],
    ['PORT', '65536', 'PORT must be <= 65535'],
    ['DEMO_DATA', 'yes', 'DEMO_DATA must be boolean'],
    ['LOG_LEVEL', 'loud', 'LOG_LEVEL must be equal to one of the allowed values'],
    ['DATABASE_URL', 'mysql://localhost/agro', 'DATABASE_URL must match pattern "^postgres(ql)?://"'],
  ])('%s=%s', async (variable, value, rule) => {
    const service = startService({ [variable]: value })
    expect(await service.ended).toBe(1)
    expect(service.stdout()).toBe('')
    expect(service.stderr()).toContain(`The configuration is not valid: ${rule}`)
    expect(service.stderr().split('\n')).toHaveLength(2)
  })
})

describe.skipIf(EMBEDDED)('a server that cannot be used is named in a sentence, with the reason', () => {
  async function unusedPort(): Promise<number> {
    const server = createServer()
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const { port } = server.address() as { port: number }
    await new Promise((resolve) => server.close(resolve))
    return port
  }

  /** The test server's URL, changed. */
  function urlWith(change: (url: URL) => void): string {
    const url = new URL(inject('templates').split('#')[0] as string)
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
      'no such host',
      async () => 'postgres://postgres@nowhere.invalid/agro',
      'getaddrinfo ENOTFOUND nowhere.invalid',
    ],
    [
      'no such database',
      async () =>
        urlWith((url) => {
          url.pathname = '/no_such_database'
        }),
      'database "no_such_database" does not exist',
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
