import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import pg from 'pg'
import { beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest'
import { listSettings, loadConfig, loadEnvironmentFile } from '#src/config.ts'
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
  const NEEDED = {
    MAIL_FROM: MAIL.MAIL_FROM,
    DATABASE_URL: 'postgres://db/agro',
    SENDER_KEY: 'x'.repeat(32),
    S3_ENDPOINT: 'https://s3.example.org',
    S3_ACCESS_KEY_ID: 'key',
    S3_SECRET_ACCESS_KEY: 'a secret',
  }
  const refusalOf = (name: string, value: string) => refusal({ ...NEEDED, [name]: value })
  const refusals = listSettings()
    .filter((name) => !name.endsWith('_FILE'))
    .map((name) => [name, refusalOf(name, '\u0000')] as const)
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

describe('a file of settings', () => {
  /** What the service takes from it. */
  async function read(content: string | Buffer): Promise<Record<string, string | undefined>> {
    const file = join(await newFolder(), 'settings.env')
    await writeFile(file, content)
    // A copy in its place would keep what tests stub behind it.
    const before = process.env
    process.env = { PATH: before.PATH, ENV_FILE: file, HOST: '::1' }
    try {
      loadEnvironmentFile()
      const { PATH: _, ENV_FILE: __, HOST: ___, ...read } = process.env
      return read
    } catch (error) {
      return { refused: (error as Error).message.replace(`The settings cannot be read from ${file}: `, '') }
    } finally {
      process.env = before
    }
  }

  const URL = 'postgres://agro@db/agro'
  const LINES = `DATABASE_URL=${URL}\nPORT=3001\n`
  const ALL = { DATABASE_URL: URL, PORT: '3001' }

  test.each<[what: string, content: string | Buffer, settings: Record<string, string>]>([
    ['UTF-8', LINES, ALL],
    ['UTF-8 with a byte order mark', `\ufeff${LINES}`, ALL],
    ['UTF-16LE, as PowerShell 5 writes it', Buffer.from(`\ufeff${LINES}`, 'utf16le'), ALL],
    ['UTF-16BE', Buffer.from(`\ufeff${LINES}`, 'utf16le').swap16(), ALL],
    ['lines of Windows', LINES.replaceAll('\n', '\r\n'), ALL],
    ['lines of old Macs', LINES.replaceAll('\n', '\r'), ALL],
    [
      'spaces, comments, quotation marks and export',
      `# x: y\n\n export DATABASE_URL = "${URL}" # z\nPORT='3001'`,
      ALL,
    ],
    [
      'a value of several lines',
      `DATABASE_URL="a\nno setting\nb"\nPORT=3001`,
      { DATABASE_URL: 'a\nno setting\nb', PORT: '3001' },
    ],
    ['a setting that the environment has', 'HOST=0.0.0.0\nPORT=3001', { PORT: '3001' }],
    ['a setting twice', 'PORT=3001\nPORT=3001', { PORT: '3001' }],
    ['a setting twice, written differently', `PORT=3001 # a\nPORT="3001"\nPORT='3001'`, { PORT: '3001' }],
    ['a name of others twice', 'x=1\nx=2', { x: '2' }],
    ['comments of systemd', ' ; x: y\n;PORT=3002\nPORT=3001', { PORT: '3001' }],
    ['a # in quotation marks', 'PASSWORD_RESET_URL="https://a/#b"', { PASSWORD_RESET_URL: 'https://a/#b' }],
    ['names of others', 'my-app.x=1', { 'my-app.x': '1' }],
    ['nothing', '', {}],
  ])('is read: %s', async (_, content, settings) => {
    expect(await read(content)).toEqual(settings)
  })

  test.each<[sentence: string, content: string | Buffer]>([
    ['line 2 is no setting: write DATABASE_URL=value.', `# mine\nDATABASE_URL: ${URL}`],
    ['line 1 is no setting: write DATABASE_URL=value.', `set DATABASE_URL=${URL}`],
    ['line 1 is no setting: write DATABASE_URL=value.', `$env:DATABASE_URL = "${URL}"`],
    ['line 1 is no setting: write PORT=value.', 'PORT 3001'],
    ['line 2 is no setting: write NAME=value.', 'PORT=3001\nsecret words\n'],
    [
      'line 1 has database_url: settings are in capitals, so write DATABASE_URL=value.',
      `database_url=${URL}`,
    ],
    [
      'line 1 has a sign in its name that is not seen: write DATABASE_URL=value.',
      `\u00a0DATABASE_URL=${URL}`,
    ],
    [
      'line 1 has a sign in its name that is not seen: write DATABASE_URL=value.',
      `DATABASE_URL\u00a0=${URL}`,
    ],
    ['line 2 has a sign in its name that is not seen: write PORT=value.', 'HOST=::1\n\ufeffPORT=3001'],
    [
      'line 1 has a sign at an end of its value that is not seen: write DATABASE_URL=value.',
      `DATABASE_URL=${URL}\u200b`,
    ],
    ['line 1 has a value in signs that are no quotation marks here: write "value".', `DATABASE_URL=“${URL}”`],
    ['line 1 begins a value with ", which no line ends.', 'DATABASE_URL="a\nPORT=3001'],
    ['line 3 has PORT, as line 1 has with another value.', 'PORT=3001\n\nPORT=3002'],
    [
      'line 1 has a # within its value, which would end it: write "value", or a space before a comment.',
      'JWT_SECRET=s3cret#s3cret',
    ],
    [
      'it is not UTF-8, from line 2 on (probably Windows-1252). Save it as UTF-8.',
      Buffer.from('PORT=3001\nMAIL_FROM=Caf\xe9 <a@b.c>\n', 'latin1'),
    ],
    ['it is UTF-32, which is not read: save it as UTF-8.', Buffer.from([0xff, 0xfe, 0, 0, 0x41, 0, 0, 0])],
    ['it contains NUL characters, on line 1: it is no text.', 'A=\0'],
  ])('is refused: %s', async (sentence, content) => {
    expect(await read(content)).toEqual({ refused: sentence })
  })

  test('no value stands in the sentence that refuses its line', async () => {
    for (const line of [
      'JWT_SECRET: s3cret',
      'set JWT_SECRET=s3cret',
      'JWT_SECRET=“s3cret”',
      "JWT_SECRET='s3cret",
    ]) {
      expect((await read(line)).refused).not.toContain('s3cret')
    }
  })
})

test.each([
  ['DATABSE_URL', 'DATABSE_URL is no setting: write DATABASE_URL, or remove it.'],
  ['database_url', 'database_url is no setting: write DATABASE_URL, or remove it.'],
  ['\ufeffDATABASE_URL', '\\ufeffDATABASE_URL is no setting: write DATABASE_URL, or remove it.'],
  ['DATABASE_URL_FIL', 'DATABASE_URL_FIL is no setting: write DATABASE_URL_FILE, or remove it.'],
])('no embedded database takes the place of that of %s', (name, sentence) => {
  expect(refusal({ [name]: 'postgres://agro@db/agro' })).toBe(sentence)
  expect(refusal({ [name]: 'postgres://agro@db/agro', DATABASE_URL: 'postgres://agro@db/agro' })).toBe('')
})

describe('a URL with a password', () => {
  const urlOf = (password: string) => `postgres://agro:${password}@127.0.0.1:5432/agro?sslmode=disable`
  const NAMES = ['DATABASE_URL', 'DATABASE_DIRECT_URL', 'DATABASE_READ_URL', 'SMTP_URL']
  const refusals = (url: string) =>
    NAMES.map((name) => {
      const value = name === 'SMTP_URL' ? url.replace('postgres', 'smtps') : url
      return refusal({ DATABASE_URL: urlOf('x'), MAIL_FROM: 'a@example.org', [name]: value })
    })
  const STEP = 'percent-encode its password (/ is %2F, ? is %3F, # is %23, @ is %40, % is %25).'

  test.each([
    'a/b',
    '5/b',
    'a?b',
    '5?b',
    'a#b',
    '5#b',
    'p@ss#w',
    'p@ss/w',
    'p@ss?w',
    'p@ss/w?x',
    '/',
    '#',
    '%E9',
  ])('is refused with the step, and without the password: %s', (password) => {
    expect(refusals(urlOf(password))).toEqual(NAMES.map((name) => `${name} cannot be read: ${STEP}`))
  })

  test.each(['a:b', 'p@ss', '100%', 'a%b', 'a[b', 'a]b', '[::1]', 'a b', 'é', 'a&b', 'a+b', 'a%2Fb%23%40'])(
    'is taken where it can mean one thing alone: %s',
    (password) => {
      expect(refusals(urlOf(password))).toEqual(NAMES.map(() => ''))
      const url = urlOf(password)
      const { host, password: read } = new pg.Client({ connectionString: url })
      expect([host, read]).toEqual(['127.0.0.1', password === 'a%2Fb%23%40' ? 'a/b#@' : password])
    },
  )

  test.each([
    'postgres:///agro?host=/var/run/postgresql',
    'postgres://agro:x@/agro?host=/var/run/postgresql',
    'postgresql://db.example.org/agro?user=agro@server&sslmode=verify-full',
    'postgres://agro@[::1]:5432/agro',
    'postgres://%2Fvar%2Frun%2Fpostgresql/agro',
    'postgres://agro:x@db/agro?ssl',
    'postgres://agro:x@db/agro?ssl&application_name=a',
  ])('is not what other addresses have: %s', (url) => {
    expect(refusal({ DATABASE_URL: url })).toBe('')
  })
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

test('who has the embedded database waits longer for it than for a server, unless a setting says how long', () => {
  const timeoutOf = (settings: Record<string, string>) => loadConfig(settings).STATEMENT_TIMEOUT_MS
  const server = { DATABASE_URL: 'postgres://localhost/agro' }
  expect([timeoutOf({}), timeoutOf(server)]).toEqual([10_000, 2500])
  expect(timeoutOf({ STATEMENT_TIMEOUT_MS: '300' })).toBe(300)
})
