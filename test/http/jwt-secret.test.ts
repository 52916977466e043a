import { readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import { loadConfig } from '#src/config.ts'
import { OperatorError } from '#src/errors.ts'
import { loadSecrets } from '#src/http/access-tokens.ts'
import { newFolder } from '#test/setup/folders.ts'

let folder: string
beforeAll(async () => {
  folder = await newFolder()
})

const LONG = 'x'.repeat(32)

describe('the secret of access tokens', () => {
  test('is made with the embedded database, and kept for its owner alone', async () => {
    const config = loadConfig({ DATA_DIR: join(folder, 'made') })
    const [secret] = await loadSecrets(config)
    expect(Buffer.byteLength(secret)).toBeGreaterThanOrEqual(32)
    const file = join(folder, 'made', 'jwt-secret')
    expect(await readFile(file, 'utf8')).toBe(secret)
    expect((await stat(file)).mode & 0o777).toBe(0o600)
    expect(await loadSecrets(config)).toEqual([secret])
    expect((await loadSecrets(loadConfig({ DATA_DIR: join(folder, 'other') })))[0]).not.toBe(secret)
  })

  test('is refused where its file was cut short', async () => {
    await writeFile(join(folder, 'jwt-secret'), 'short')
    await expect(loadSecrets(loadConfig({ DATA_DIR: folder }))).rejects.toThrow(/shorter than 32 bytes/)
  })

  test('is the one of the environment where there is one, with the previous one', async () => {
    const config = loadConfig({
      DATA_DIR: join(folder, 'unused'),
      JWT_SECRET: LONG,
      JWT_SECRET_PREVIOUS: `${LONG}y`,
    })
    expect(await loadSecrets(config)).toEqual([LONG, `${LONG}y`])
    await expect(stat(join(folder, 'unused'))).rejects.toThrow()
  })

  test('must be given with a server, which other processes may use', async () => {
    const refusal = loadSecrets(loadConfig({ DATABASE_URL: 'postgres://nowhere' }))
    await expect(refusal).rejects.toThrow(OperatorError)
    await expect(refusal).rejects.toThrow(/^JWT_SECRET is not set: /)
  })
})
