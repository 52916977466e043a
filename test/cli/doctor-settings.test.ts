// Runs on both databases: there are other things to say of the embedded one.
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { openOwnServers, POSTGRES_PROGRAMS } from '#bench/cluster.ts'
import { freePort } from '#bench/processes.ts'
import { closeToOthers, lockFolder } from '#src/data/embedded/cluster.ts'
import { createTestDatabase, type TestDatabase } from '#test/setup/database.ts'
import { startMailServer } from '#test/setup/mail-server.ts'
import { executeOnServer } from '#test/setup/server.ts'
import { examine } from './examination.ts'

const EMBEDDED = process.env.TEST_DATABASE_KIND === 'embedded'

let testDatabase: TestDatabase
beforeAll(async () => {
  testDatabase = await createTestDatabase('empty')
})
afterAll(() => testDatabase.drop())

const examined = (settings?: Record<string, string>) => examine(testDatabase, settings)

describe.runIf(EMBEDDED)('the doctor of an embedded database', () => {
  test('says who has it, and looks at the rest; when it is free, it looks into it', async () => {
    const { DATA_DIR } = testDatabase.config
    await closeToOthers(DATA_DIR)
    const lock = await lockFolder(DATA_DIR)
    const locked = await examined()
    expect(locked.code).toBe(3)
    expect(locked.of('database open')).toEqual([
      ['unknown', expect.stringContaining(`is in use by process ${process.pid} on `)],
    ])
    expect(locked.of('disk free')).toEqual([['ok', expect.stringMatching(/ are free for DATA_DIR\.$/)]])
    await lock.close()
    const free = await examined()
    expect(free.of('database open')).toEqual([])
    expect(free.of('versions postgresql')).toEqual([
      ['ok', expect.stringMatching(/^The database is PostgreSQL 1\d\.\d+ \(PGlite [\d.]+\)\.$/)],
    ])
    expect(free.of('schema migrations')).toEqual([['ok', expect.stringMatching(/up to date/)]])
    expect(free.findings.filter(({ level }) => ['unknown', 'error'].includes(level))).toEqual([])
  })

  test('makes no database where there is none', async () => {
    const { code, of } = await examined({ DATA_DIR: `${testDatabase.config.DATA_DIR}/none` })
    expect(code).toBe(3)
    expect(of('database open')).toEqual([
      ['unknown', expect.stringMatching(/^There is no embedded database in /)],
    ])
  })
})

describe.skipIf(EMBEDDED)('the doctor', () => {
  test('says what is wrong with settings, secrets and mail', async () => {
    const mail = await startMailServer()
    const { of } = await examined({
      JWT_SECRET: 'change me change me change me change me',
      JWT_SECRET_PREVIOUS: 'change me change me change me change me',
      DEMO_DATA: 'true',
      SMTP_URL: mail.url,
      MAIL_FROM: 'noreply@example.org',
    })
    await mail.close()
    expect(of('settings configuration').map(([level]) => level)).toEqual(['note'])
    expect(of('secrets jwt_secret')).toEqual([
      ['warning', 'JWT_SECRET has 39 bytes, and looks like a typed text.'],
      ['warning', 'JWT_SECRET_PREVIOUS is the same as JWT_SECRET: tokens of before the change are refused.'],
    ])
    expect(of('mail server')).toEqual([['ok', 'The mail server lets the service in.']])
    const gone = await examined({ SMTP_URL: mail.url, MAIL_FROM: 'noreply@example.org' })
    expect(gone.of('mail server')).toEqual([
      ['warning', expect.stringMatching(/^The mail server cannot be used: .*ECONNREFUSED/)],
    ])
  })

  test('asks the replica, and says when it is none or cannot be asked', async () => {
    const { DATABASE_URL = '' } = testDatabase.environment
    const same = await examined({ DATABASE_READ_URL: `${DATABASE_URL}?application_name=reads` })
    expect(same.of('replica lag')).toEqual([
      ['note', 'DATABASE_READ_URL names no replica, but a server that writes.'],
    ])
    const gone = await examined({ DATABASE_READ_URL: 'postgres://nobody@127.0.0.1:1/none' })
    expect([gone.code, gone.of('replica lag')]).toEqual([
      1,
      [
        [
          'warning',
          expect.stringMatching(/^The replica of DATABASE_READ_URL cannot be asked, .*ECONNREFUSED/),
        ],
      ],
    ])
  })

  test('ends with 2 where the settings are wrong or the database cannot be reached', async () => {
    const invalid = await examined({ PORT: 'x' })
    expect([invalid.code, invalid.of('settings configuration')]).toEqual([
      2,
      [['error', expect.stringMatching(/^The configuration is not valid: PORT /)]],
    ])
    const away = await examined({ DATABASE_URL: 'postgres://nobody@127.0.0.1:1/none' })
    expect([away.code, away.of('database open')]).toEqual([
      2,
      [
        [
          'error',
          expect.stringMatching(/^The database none on 127\.0\.0\.1:1 cannot be reached: .*ECONNREFUSED/),
        ],
      ],
    ])
  })

  test('says the first step where the database cannot be opened', async () => {
    const { DATABASE_URL = '' } = testDatabase.environment
    const at = (change: (url: URL) => void) => {
      const url = new URL(DATABASE_URL)
      change(url)
      return url.href
    }
    const cases: [string, string][] = [
      [
        at((url) => (url.username = 'role_that_is_none')),
        'Create the role with docker/database.sh, or put another one into DATABASE_URL.',
      ],
      [
        at((url) => (url.pathname = '/database_that_is_none')),
        'Create the database and prepare it with docker/database.sh, or put another one into DATABASE_URL.',
      ],
      [at((url) => (url.port = '1')), 'Start the server, or put its host and port into DATABASE_URL.'],
      [
        at((url) => (url.hostname = 'host.invalid')),
        'Put the right host into DATABASE_URL: its name has no address.',
      ],
      [
        at((url) => (url.search = '?sslmode=verify-full')),
        'Look at sslmode and sslrootcert in DATABASE_URL, and at the certificate of the server.',
      ],
    ]
    for (const [url, advice] of cases) {
      const { findings } = await examined({ DATABASE_URL: url })
      expect(findings.filter(({ group }) => group === 'database').map((finding) => finding.advice)).toEqual([
        advice,
      ])
    }
  })

  test.skipIf(POSTGRES_PROGRAMS === undefined)('says it where a server refuses the password', async () => {
    const servers = await openOwnServers()
    onTestFinished(servers.close)
    const port = await freePort()
    await servers.initialise('data')
    await servers.run('sh', '-c', 'echo "host all all all scram-sha-256" >data/pg_hba.conf')
    await servers.start('data', port)
    for (const password of [':wrong', '']) {
      const { findings } = await examined({
        DATABASE_URL: `postgres://postgres${password}@127.0.0.1:${port}/agro`,
      })
      expect(findings.filter(({ group }) => group === 'database').map(({ advice }) => advice)).toEqual([
        'Put the right user and password into DATABASE_URL, or into the file of DATABASE_URL_FILE.',
      ])
    }
  })

  test('notices variables that look like settings, and none of other programs', async () => {
    const { code, findings } = await examined({
      TILE_CACHE_MBB: '5',
      TRUSTED_PROXY: '10.0.0.1',
      rate_limit: '600/min',
      TILE_CACHE_BM: '',
      PGHOST: 'db',
      DATABASE_NAME: 'agro',
    })
    const found = findings.filter(({ group }) => group === 'settings')
    expect([code, found.map(({ level, sentence, advice }) => [level, sentence, advice])]).toEqual([
      1,
      [
        ['TILE_CACHE_MBB', 'TILE_CACHE_MB'],
        ['TRUSTED_PROXY', 'TRUSTED_PROXIES'],
        ['rate_limit', 'RATE_LIMIT'],
      ].map(([name, meant]) => [
        'warning',
        `${name} is no setting of the service.`,
        `Did you mean ${meant}?`,
      ]),
    ])
  })

  test('says that there is no schema yet, and makes none', async () => {
    const { DATABASE_URL = '' } = testDatabase.environment
    await executeOnServer(DATABASE_URL, 'create schema bare')
    const bare = () => examined({ DATABASE_URL: `${DATABASE_URL}?options=-csearch_path%3Dbare` })
    for (const { code, of } of [await bare(), await bare()]) {
      expect([code, of('schema migrations')]).toEqual([
        2,
        [['error', 'The database has no schema of the service.']],
      ])
      expect(of('schema rights')).toEqual([['warning', expect.stringMatching(/is a superuser/)]])
      expect(of('schema objects')).toEqual([])
    }
  })
})
