import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest'
import { loadConfig, loadEnvironmentFile, SETTINGS } from '#src/config.ts'
import { OperatorError } from '#src/errors.ts'
import { newFolder } from '#test/setup/folders.ts'

const MAIL = { SMTP_URL: 'smtp://mail.example.org', MAIL_FROM: 'noreply@example.org' }
const PAGE = 'must be a URL such as https://app.example.org/page#token={token}'

const TILES = 'https://tiles.example.org/{z}/{x}/{y}.png'
const TILES_RULE = 'BASEMAP_URL must be a URL of tiles such as https://tiles.example.org/{z}/{x}/{y}.png'
const SENDER_RULE =
  'MAIL_FROM must be one sender such as noreply@example.org or Advisory <noreply@example.org>'

test.each([
  [{ PORT: '65536' }, 'PORT must be <= 65535'],
  [{ LOG_FORMAT: 'JSON' }, 'LOG_FORMAT must be equal to one of the allowed values: text, json'],
  [
    { WORKERS: '2' },
    'WORKERS=2 needs DATABASE_URL: the embedded database belongs to one process, so WORKERS must be 1 with it',
  ],
  [{ DATABASE_URL: 'mysql://localhost/agro' }, 'DATABASE_URL must look like postgres://user@host:5432/agro'],
  [{ SMTP_URL: 'mail.example.org' }, 'SMTP_URL must look like smtps://user@mail.example.org'],
  [
    { SMTP_URL: MAIL.SMTP_URL },
    'SMTP_URL needs MAIL_FROM, the sender such as Advisory <noreply@example.org>',
  ],
  [{ EMAIL_CONFIRMATION: 'required' }, 'EMAIL_CONFIRMATION needs SMTP_URL, which the mails go through'],
  ...['nobody', 'a@b, c@d', 'Name <a@b', 'a@b\r\nBcc: c@d'].map((sender) => [
    { ...MAIL, MAIL_FROM: sender },
    SENDER_RULE,
  ]),
  [{ PASSWORD_RESET_URL: 'https://app.example.org/reset' }, `PASSWORD_RESET_URL ${PAGE}`],
  [{ PASSWORD_RESET_URL: 'javascript:{token}' }, `PASSWORD_RESET_URL ${PAGE}`],
  ...['yes', 'https://app.example.org/confirm'].map((value) => [
    { ...MAIL, EMAIL_CONFIRMATION: value },
    `EMAIL_CONFIRMATION ${PAGE.replace('be', 'be off, required or')}`,
  ]),
  [{ BASEMAP_URL: 'https://tiles.example.org/{z}/{x}.png' }, TILES_RULE],
  [{ BASEMAP_URL: "https://tiles.example.org;script-src'*'/{z}/{x}/{y}.png" }, TILES_RULE],
  [
    { BASEMAP_URL: TILES },
    'BASEMAP_URL needs BASEMAP_ATTRIBUTION, the text that the source of the tiles asks for',
  ],
  ...['JWT_SECRET', 'JWT_SECRET_PREVIOUS'].map((name) => [
    { [name]: 'x'.repeat(31) },
    `${name} must be at least 32 bytes long; \`openssl rand -base64 48\` makes one`,
  ]),
  ...['true', '10.0.0.0/33', '0.0.0.0/0', '::/0'].map((proxy) => [
    { TRUSTED_PROXIES: proxy },
    `TRUSTED_PROXIES must list addresses or ranges such as 10.0.0.0/8, and "${proxy}" is neither`,
  ]),
  [
    { CORS_ORIGINS: 'example.org' },
    'CORS_ORIGINS must be * or list origins such as https://app.example.org, not "example.org"',
  ],
  ...[
    ...['advisory.example', 'ftp://advisory.example', 'https://advisory.example/farm/'],
    ...['https://advisory.example/?x', 'https://user@advisory.example', "https://x';id", 'https://a b'],
  ].map((PUBLIC_URL) => [
    { PUBLIC_URL },
    'PUBLIC_URL must be an address such as https://advisory.example/agro, without a slash at its end',
  ]),
  [
    { BASE_PATH: '/agro', PUBLIC_URL: 'https://advisory.example' },
    'PUBLIC_URL must end with BASE_PATH, which is /agro',
  ],
] as [Record<string, string>, string][])('the settings %j are refused with a sentence', (settings, rule) => {
  expect(() => loadConfig(settings)).toThrow(
    new OperatorError(`The configuration is not valid: ${rule}.`, { code: 'SETTINGS' }),
  )
})

test('valid settings of mails and tiles are taken as they are', () => {
  const settings = {
    SMTP_URL: 'smtps://user:pass@mail.example.org:465',
    MAIL_FROM: 'Advisory <noreply@example.org>',
    EMAIL_CONFIRMATION: 'https://app.example.org/confirm?t={token}',
    BASEMAP_URL: TILES,
    BASEMAP_ATTRIBUTION: '© Example',
  }
  expect(loadConfig(settings)).toMatchObject(settings)
  expect(loadConfig({}).EMAIL_CONFIRMATION).toBe('off')
})

test('a refusal shows no pattern, but examples that are valid', () => {
  // Settings that others need.
  const NEEDED = { MAIL_FROM: MAIL.MAIL_FROM, DATABASE_URL: 'postgres://db/agro', SENDER_KEY: 'x'.repeat(32) }
  const refusalOf = (name: string, value: string) => refusal({ ...NEEDED, [name]: value })
  const refusals = SETTINGS.filter((name) => !name.endsWith('_FILE')).map(
    (name) => [name, refusalOf(name, '\u0000')] as const,
  )
  expect(refusals.filter(([, text]) => text.includes('pattern'))).toEqual([])
  const shown = refusals.flatMap(([name, text]) =>
    (/ must look like (.*)\.$/.exec(text)?.[1]?.split(' or ') ?? []).map(
      (example) => [name, example] as const,
    ),
  )
  expect(shown).toContainEqual(['RATE_LIMIT', '600/min'])
  expect(shown.map(([name, example]) => refusalOf(name, example))).toEqual(shown.map(() => ''))
})

test('a missing file of settings is refused with a sentence', async () => {
  vi.stubEnv('ENV_FILE', join(await newFolder(), 'none.env'))
  onTestFinished(() => void vi.unstubAllEnvs())
  expect(loadEnvironmentFile).toThrow(/^The settings cannot be read from .*none\.env: ENOENT.*\.$/)
})

/** The sentence that refuses settings; empty for valid ones. */
function refusal(settings: Record<string, string>): string {
  try {
    loadConfig(settings)
    return ''
  } catch (error) {
    return (error as Error).message.replace('The configuration is not valid: ', '')
  }
}

describe('a secret in a file', () => {
  const SECRET = 'x'.repeat(40)
  let folder: string
  let file: string
  beforeAll(async () => {
    folder = await newFolder()
    file = join(folder, 'secret')
    await writeFile(file, `${SECRET}\n`)
  })

  async function holding(text: string): Promise<string> {
    const path = join(folder, `${Math.random()}`)
    await writeFile(path, text)
    return path
  }

  test.each([
    ['JWT_SECRET', SECRET],
    ['DATABASE_URL', 'postgres://user:p%0Ass@db/agro'],
    ['SMTP_URL', 'smtp://user:pass@mail.example.org'],
  ])('is %s', async (name, value) => {
    const settings = { MAIL_FROM: MAIL.MAIL_FROM, [`${name}_FILE`]: await holding(`${value}\n`) }
    expect(loadConfig(settings)).toEqual(loadConfig({ MAIL_FROM: MAIL.MAIL_FROM, [name]: value }))
  })

  test.each([
    ['no end of a line', SECRET, SECRET],
    ['several of Windows', `${SECRET}\r\n\r\n`, SECRET],
    ['spaces, which belong to it', ` ${SECRET} \n`, ` ${SECRET} `],
  ])('may end with %s', async (_, text, secret) => {
    expect(loadConfig({ JWT_SECRET_FILE: await holding(text) }).JWT_SECRET).toBe(secret)
  })

  test('is held to the same rules as one that is not, and not told', async () => {
    expect(refusal({ JWT_SECRET_FILE: await holding('short') })).toBe(
      'JWT_SECRET must be at least 32 bytes long; `openssl rand -base64 48` makes one.',
    )
    expect(refusal({ DATABASE_URL_FILE: file })).toBe(
      'DATABASE_URL must look like postgres://user@host:5432/agro.',
    )
    for (const [name, settings] of [
      ['JWT_SECRET', { JWT_SECRET: SECRET, JWT_SECRET_FILE: file }],
      ['SMTP_URL', { ...MAIL, SMTP_URL_FILE: file }],
    ] as const) {
      expect(refusal(settings)).toBe(`${name} and ${name}_FILE are both set: leave out one of them.`)
    }
  })

  test('is not set where its variable is empty, or takes the place of an empty one', () => {
    expect(loadConfig({ JWT_SECRET: SECRET, JWT_SECRET_FILE: '' }).JWT_SECRET).toBe(SECRET)
    expect(loadConfig({ JWT_SECRET: '', JWT_SECRET_FILE: file }).JWT_SECRET).toBe(SECRET)
  })

  test('that is not there, cannot be read or is empty is a mistake', async () => {
    const none = join(folder, 'none')
    expect(refusal({ JWT_SECRET_FILE: none })).toBe(
      `JWT_SECRET_FILE cannot be read: ENOENT: no such file or directory, open '${none}'.`,
    )
    expect(refusal({ DATABASE_URL_FILE: folder })).toBe(
      'DATABASE_URL_FILE cannot be read: EISDIR: illegal operation on a directory, read.',
    )
    const empty = await holding('\n')
    expect(refusal({ SMTP_URL_FILE: empty })).toBe(`SMTP_URL_FILE names a file with nothing in it: ${empty}.`)
  })
})

test('the bytes of a secret count, not its characters', () => {
  expect(loadConfig({ JWT_SECRET: 'ጤ'.repeat(11) }).JWT_SECRET).toHaveLength(11)
})

test('lists are read with spaces, and an empty one as none', () => {
  const lists = { TRUSTED_PROXIES: ' 10.0.0.0/8,::1 ', CORS_ORIGINS: 'https://a.example' }
  expect(loadConfig(lists)).toMatchObject({
    TRUSTED_PROXIES: ['10.0.0.0/8', '::1'],
    CORS_ORIGINS: ['https://a.example'],
  })
  expect(loadConfig({})).toMatchObject({ TRUSTED_PROXIES: [], CORS_ORIGINS: ['*'] })
})
