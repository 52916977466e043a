import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { freePort } from '#bench/processes.ts'
import { runAgro } from '#test/setup/cli.ts'
import { testServer } from '#test/setup/database.ts'
import { newFolder } from '#test/setup/folders.ts'
import { startService } from '#test/setup/service-process.ts'

describe('settings are read from a file as compose reads them', () => {
  async function fileWith(text: string): Promise<string> {
    const path = join(await newFolder(), '.env')
    await writeFile(path, text)
    return path
  }

  test('by the service, which warns of a name that is nearly one of them', async () => {
    // Without its secret it ends before it opens a database.
    const ENV_FILE = await fileWith('# of this machine\nTILE_CACHE_MBB="5"\n')
    const DATABASE_URL = 'postgres://nobody@127.0.0.1:1/none'
    const service = startService({ ENV_FILE, DATABASE_URL, NODE_ENV: 'production' })
    expect([await service.ended, service.stdout()]).toEqual([1, ''])
    expect(service.stderr().split('\n')[0]).toBe(
      'agro: TILE_CACHE_MBB is no setting: did you mean TILE_CACHE_MB?',
    )
  })

  test('where the environment does not say otherwise; with LOG_FORMAT=json a mistake is JSON', async () => {
    const file = await fileWith('LOG_LEVEL=loud\nPORT=eighty\nLOG_FORMAT=json\n')
    const service = startService({ ENV_FILE: file, LOG_LEVEL: 'silent', PORT: '65536' })
    expect(await service.ended).toBe(1)
    expect(JSON.parse(service.stderr())).toMatchObject({
      level: 60,
      msg: 'The configuration is not valid: PORT must be <= 65535.',
    })
  })
})

describe('a server that cannot be used is named in a sentence, with the reason', () => {
  const JWT_SECRET = 'for this test alone '.repeat(2)

  test('by the service and the command line, where it is down', async () => {
    const DATABASE_URL = `postgres://postgres@127.0.0.1:${await freePort()}/agro`
    const service = startService({ DATABASE_URL, JWT_SECRET })
    const cli = await runAgro({ environment: { DATABASE_URL } }, 'releases', 'list')
    expect([await service.ended, cli.code, service.stdout()]).toEqual([1, 1, ''])
    expect(service.stderr()).toMatch(
      /^agro: The database .* cannot be reached: connect ECONNREFUSED 127\.0\.0\.1:.*\.\n$/,
    )
    expect(cli.stderr).toBe(service.stderr().replace('agro: ', ''))
  })

  test('by the service, where it lets nobody in, without a password', async () => {
    const url = new URL(testServer())
    Object.assign(url, { username: 'no_such_user', password: 'a-secret' })
    const service = startService({ DATABASE_URL: url.href, JWT_SECRET })
    expect(await service.ended).toBe(1)
    expect(service.stderr()).toMatch(/^agro: The database .* cannot be reached: .+\.\n$/)
    expect(service.stderr()).not.toContain('a-secret')
  })
})
