import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { newFolder } from '#test/setup/folders.ts'
import { startProcess, startService } from '#test/setup/service-process.ts'

describe('settings are read from a file as compose reads them', () => {
  async function fileWith(text: string): Promise<string> {
    const path = join(await newFolder(), '.env')
    await writeFile(path, text)
    return path
  }

  test('by the service', async () => {
    const service = startService({ ENV_FILE: await fileWith('# of this machine\nLOG_LEVEL="loud"\n') })
    expect(await service.ended).toBe(1)
    expect(service.stdout()).toBe('')
    expect(service.stderr()).toMatch(
      /^agro: The configuration is not valid: LOG_LEVEL must be equal to one of the allowed values: .*\.\n$/,
    )
  })

  test('by the service, which warns of a name that is nearly one of them', async () => {
    // Without its secret it ends before it opens a database.
    const DATABASE_URL = 'postgres://nobody@127.0.0.1:1/none'
    const service = startService({
      ENV_FILE: await fileWith('TILE_CACHE_MBB=5\n'),
      DATABASE_URL,
      NODE_ENV: 'production',
    })
    expect(await service.ended).toBe(1)
    expect(service.stderr().split('\n')[0]).toBe(
      'agro: TILE_CACHE_MBB is no setting: did you mean TILE_CACHE_MB?',
    )
  })

  test('by the command line', async () => {
    const file = await fileWith('DATABASE_URL=mysql://localhost/agro\n')
    const agro = startProcess('src/cli/agro.ts', { ENV_FILE: file }, 'releases', 'list')
    expect(await agro.ended).toBe(1)
    expect(agro.stderr()).toContain('DATABASE_URL must look like postgres://')
  })

  test('where the environment does not say otherwise', async () => {
    const file = await fileWith('LOG_LEVEL=loud\nPORT=eighty\n')
    const service = startService({ ENV_FILE: file, LOG_LEVEL: 'silent', PORT: '65536' })
    expect(await service.ended).toBe(1)
    expect(service.stderr()).toBe('agro: The configuration is not valid: PORT must be <= 65535.\n')
  })
})
