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

describe('the configuration', () => {
  test.each([
    [{ JWT_SECRET: 'x'.repeat(31) }, /JWT_SECRET must be at least 32 bytes long/],
    [{ JWT_SECRET_PREVIOUS: 'short' }, /JWT_SECRET_PREVIOUS must be at least 32 bytes long/],
    [{ ACCESS_TOKEN_MINUTES: '0' }, /ACCESS_TOKEN_MINUTES/],
    [{ TRUSTED_PROXIES: 'true' }, /TRUSTED_PROXIES must list addresses.*"true"/],
    [{ TRUSTED_PROXIES: '10.0.0.1, proxy.example.org' }, /"proxy.example.org"/],
    [{ TRUSTED_PROXIES: '10.0.0.0/33' }, /"10.0.0.0\/33"/],
    [{ TRUSTED_PROXIES: '0.0.0.0/0' }, /"0.0.0.0\/0"/],
    [{ TRUSTED_PROXIES: '::/0' }, /"::\/0"/],
    [{ CORS_ORIGINS: 'example.org' }, /CORS_ORIGINS.*"example.org"/],
    [{ CORS_ORIGINS: 'https://example.org/path' }, /CORS_ORIGINS/],
  ])(
    '%j is refused in a sentence that does not repeat a secret',
    (environment: NodeJS.ProcessEnv, message) => {
      expect(() => loadConfig(environment)).toThrow(OperatorError)
      expect(() => loadConfig(environment)).toThrow(message)
      const secret = environment.JWT_SECRET ?? environment.JWT_SECRET_PREVIOUS
      if (secret) expect(() => loadConfig(environment)).not.toThrow(secret)
    },
  )

  test('counts the bytes of a secret, not its characters', () => {
    expect(loadConfig({ JWT_SECRET: 'ጤ'.repeat(11) }).JWT_SECRET).toHaveLength(11)
  })

  test('reads lists with spaces, and an empty one as none', () => {
    const config = loadConfig({ TRUSTED_PROXIES: ' 10.0.0.0/8,::1 ', CORS_ORIGINS: 'https://a.example' })
    expect(config.TRUSTED_PROXIES).toEqual(['10.0.0.0/8', '::1'])
    expect(config.CORS_ORIGINS).toEqual(['https://a.example'])
    expect(loadConfig({}).TRUSTED_PROXIES).toEqual([])
    expect(loadConfig({}).CORS_ORIGINS).toEqual(['*'])
  })
})
