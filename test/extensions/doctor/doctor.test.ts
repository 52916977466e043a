import { chmod, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import pg from 'pg'
import { afterAll, afterEach, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest'
import { openOwnServers, POSTGRES_PROGRAMS } from '#bench/cluster.ts'
import { freePort } from '#bench/processes.ts'
import { lockWork } from '#src/data/work-lock.ts'
import { SCHEMA_CHECKS, SERVER_CHECKS, SETTINGS_CHECKS } from '#src/extensions/doctor/checks.ts'
import { readingFrom } from '#src/extensions/doctor/command.ts'
import { DATA_CHECKS } from '#src/extensions/doctor/data-checks.ts'
import { EXTENSIONS } from '#src/extensions/index.ts'
import { VERSION } from '#src/lib/version.ts'
import { boundaryFile, feature, rectangle } from '#test/setup/boundaries.ts'
import { runAgro } from '#test/setup/cli.ts'
import { withDatabase } from '#test/setup/database.ts'
import { examine } from '#test/setup/examination.ts'
import { newFolder } from '#test/setup/folders.ts'
import { startMailServer } from '#test/setup/mail-server.ts'
import { ownDatabase } from '#test/setup/open-service.ts'
import { PATIENCE } from '#test/setup/patience.ts'
import { executeOnServer } from '#test/setup/server.ts'

const OF_EXTENSIONS = await Promise.all(EXTENSIONS.map(({ checks }) => checks?.() ?? {}))
const CHECKS = Object.keys(
  Object.assign({}, SETTINGS_CHECKS, SCHEMA_CHECKS, SERVER_CHECKS, DATA_CHECKS, ...OF_EXTENSIONS),
)

const testDatabase = ownDatabase('demo', { JWT_SECRET: 'q8Zr1xVwKc5tYb0NfLhS3uPdJgA7mEoT' })

describe('the doctor', () => {
  let client: pg.Client
  let other: pg.Client
  beforeAll(async () => {
    const connect = async (name: string) => {
      const made = new pg.Client({
        connectionString: testDatabase.config.DATABASE_URL,
        application_name: name,
      })
      await made.connect()
      return made
    }
    client = await connect('holder')
    other = await connect('waiter')
  })
  afterEach(() => client.query('rollback'))
  afterAll(async () => {
    await client.end()
    await other.end()
  })

  test('asks about all that there is, and says what it finds in the demo', async () => {
    const { code, status, findings, of } = await examined()
    // The tests' role is a superuser.
    expect([code, status]).toEqual([1, 'warning'])
    const checks = findings.map(({ group, check }) => `${group}.${check}`)
    // Without mail, a folder of data, a replica and files there is nothing to ask of them.
    expect(CHECKS.filter((check) => !checks.includes(check))).toEqual([
      'secrets.mail_encryption',
      'disk.free',
      'replica.lag',
      'releases.stores',
      'signatures.signing_key',
      'files.present',
    ])
    expect(of('versions service')).toEqual([
      ['ok', `The service is ${VERSION}, on Node ${process.versions.node}.`],
    ])
    expect(of('secrets files')).toEqual([
      ['ok', 'No file with secrets or data is open to other users of this machine.'],
    ])
    expect(of('schema objects')).toEqual([['ok', 'All tables and functions are there.']])
    expect(of('schema rights')).toEqual([['warning', expect.stringMatching(/^The role \S+ is a superuser/)]])
    expect(of('releases incomplete')).toEqual([['ok', 'No load was cut off.']])
    expect(of('areas boundaries')).toEqual([['ok', 'All 4 countries have boundaries of all levels.']])
  })

  test('names each file of a secret that others may read, whichever setting names it', async () => {
    const file = join(await newFolder(), 'sender-key')
    await writeFile(file, 'what numbers of senders are hashed with')
    // Whatever mask of modes this process has by now.
    await chmod(file, 0o644)
    const { of } = await examined({ SENDER_KEY_FILE: file })
    expect(of('secrets files')).toEqual([['warning', `Other users of this machine may read ${file}.`]])
  })

  const histories = (bytes: number) =>
    `insert into history_size (user_id, items, bytes) values ('00000000-0000-4000-8000-000000000001', 1, ${bytes})`
  const NO_HISTORIES = "delete from history_size where user_id = '00000000-0000-4000-8000-000000000001'"
  const LIMIT = { HISTORY_TOTAL_MB: '1' }
  const load = (lock: number) =>
    `insert into release (code, product, country_code, crop_code, forecast_period, version, source, licence, checksum, load_lock)
     values ('cut-off', 'yield', 'eth', 'wheat', '2031-01-01', 1, '-', '-', '-', ${lock})`
  const LOCK = 7_239_449 * 2 ** 24 + 5
  const NO_LOAD = "delete from release where code = 'cut-off'"
  const migration = (breaks: boolean) =>
    `insert into applied_script (kind, name, checksum, breaks_older) values ('migration', '9999_x.sql', '', ${breaks})`
  const NO_MIGRATION = "delete from applied_script where name = '9999_x.sql'"
  const SCHEMA = ['schema migrations', 'schema objects']

  /** States of a database, made and undone by SQL, and the checks that speak of them. */
  const STATES: Record<string, [made: string, undone: string, checks: string[], settings?: typeof LIMIT]> = {
    'histories without a limit': [histories(1_000_000), NO_HISTORIES, ['history total']],
    'histories that hold less than nine tenths': [histories(899_000), NO_HISTORIES, ['history total'], LIMIT],
    'histories that hold more': [histories(901_000), NO_HISTORIES, ['history total'], LIMIT],
    'histories that are full': [histories(1_000_000), NO_HISTORIES, ['history total'], LIMIT],
    'a load that was interrupted': [load(LOCK), NO_LOAD, ['releases incomplete']],
    'a country without boundaries': [
      "insert into country (code, name) values ('tza', 'Tanzania')",
      "delete from country where code = 'tza'",
      ['areas boundaries'],
    ],
    'a schema of before a migration': [
      `create table public.kept as select * from applied_script where name = '0040_compositions.sql';
       delete from applied_script where name = '0040_compositions.sql';
       alter table input_composition rename to later`,
      `alter table later rename to input_composition;
       insert into applied_script select * from kept; drop table kept`,
      SCHEMA,
    ],
    'a schema of a newer version': [migration(false), NO_MIGRATION, SCHEMA],
    'a schema of a newer version that breaks this one': [migration(true), NO_MIGRATION, SCHEMA],
    'a function that a newer version has replaced': [
      "update applied_script set checksum = 'newer', replaced = array[checksum] where name = 'tiles_of.sql'",
      "update applied_script set checksum = replaced[1], replaced = default where name = 'tiles_of.sql'",
      SCHEMA,
    ],
    'a database that was set to read only': [
      `do $$ begin execute format('alter database %I set default_transaction_read_only = on', current_database()); end $$`,
      `set transaction_read_only = off;
       do $$ begin execute format('alter database %I reset default_transaction_read_only', current_database()); end $$`,
      ['database'],
    ],
    'rasters whose tiles are gone': [
      `create table public.lost as select * from raster_tile where coverage_id = (select min(coverage_id) from raster_tile);
       delete from raster_tile where coverage_id = (select min(coverage_id) from raster_tile)`,
      'insert into raster_tile select * from lost; drop table lost',
      ['releases tiles', 'database'],
    ],
    'coordinate systems that are gone': [
      'create table public.lost as select * from spatial_ref_sys; delete from spatial_ref_sys',
      'insert into spatial_ref_sys select * from lost; drop table lost',
      ['database'],
    ],
    'one coordinate system of a raster that is gone': [
      'create table public.lost as select * from coverage; update coverage set srid = 990099 where id = (select min(id) from coverage)',
      'update coverage set srid = lost.srid from lost where lost.id = coverage.id; drop table lost',
      ['database'],
    ],
    'a publication that is still to come': [
      "create table public.lost as select * from publication; update publication set published_at = now() + interval '400 days'",
      "update publication set published_at = now() - interval '1 hour'; drop table lost",
      ['database clock'],
    ],
    'a table that is gone, and triggers that do nothing': [
      'alter table history_size rename to elsewhere; alter table audit_record disable trigger all',
      'alter table elsewhere rename to history_size; alter table audit_record enable trigger all',
      [...SCHEMA, 'history total', 'areas boundaries'],
    ],
  }

  test('says of a database in trouble what doctor.txt has', async () => {
    const found: string[] = []
    for (const [state, [made, undone, checks, settings]] of Object.entries(STATES)) {
      await client.query(made)
      found.push(`${state}:\n${await told(settings ?? {}, checks).finally(() => client.query(undone))}\n`)
    }
    await expect(found.join('')).toMatchFileSnapshot('transcripts/doctor.txt')
  })

  test('tells a load that runs by its lock', async () => {
    await client.query(load(LOCK))
    await withDatabase(testDatabase, async (loader) => {
      const { unlock } = await lockWork(loader, LOCK)
      expect((await examined()).of('releases incomplete')).toEqual([
        ['note', expect.stringMatching(/ UTC, and is being loaded: process \d+ of the database\.$/)],
      ])
      unlock()
    })
    await client.query(NO_LOAD)
  })

  test('says of settings and servers in trouble what doctor-settings.txt has', async () => {
    const { DATABASE_URL = '' } = testDatabase.environment
    const at = (change: Partial<URL>) => ({ DATABASE_URL: Object.assign(new URL(DATABASE_URL), change).href })
    const mail = await startMailServer()
    const typed = 'change me change me change me change me'
    const mailing = { SMTP_URL: mail.url, MAIL_FROM: 'noreply@example.org' }
    const found: string[] = []
    const ask = async (what: string, settings: Record<string, string>, ...checks: string[]) =>
      found.push(`${what}:\n${await told(settings, checks)}\n`)
    await ask(
      'secrets that somebody has typed',
      { JWT_SECRET: typed, JWT_SECRET_PREVIOUS: typed },
      'secrets jwt_secret',
    )
    await ask('a mail server', { ...mailing, DEMO_DATA: 'true' }, 'mail server', 'settings configuration')
    await mail.close()
    await ask('a mail server that is gone', mailing, 'mail server')
    const same = { DATABASE_READ_URL: `${DATABASE_URL}?application_name=reads` }
    await ask('a replica that is none', same, 'replica lag')
    const gone = { DATABASE_READ_URL: 'postgres://nobody@127.0.0.1:1/none' }
    await ask('a replica that is gone', gone, 'replica lag')
    await ask('a port that is none', { PORT: 'x' }, 'settings configuration')
    await ask('a role that is none', at({ username: 'role_that_is_none' }), 'database')
    await ask('a database that is none', at({ pathname: '/database_that_is_none' }), 'database')
    await ask('a server that is none', { DATABASE_URL: 'postgres://nobody@127.0.0.1:1/none' }, 'database')
    await ask('a host that is none', at({ hostname: 'host.invalid' }), 'database')
    await ask('a certificate that is none', at({ search: '?sslmode=verify-full' }), 'database')
    await ask(
      'variables that look like settings, and those of other programs',
      {
        ...{ TILE_CACHE_MBB: '5', TRUSTED_PROXY: '10.0.0.1', rate_limit: '600/min', TILE_CACHE_BM: '' },
        ...{ PGHOST: 'db', DATABASE_NAME: 'agro' },
      },
      'settings',
    )
    const { host, port, pathname } = new URL(DATABASE_URL)
    const named = found.join('').replaceAll(host, 'HOST').replaceAll(`:${port}`, ':PORT')
    const text = named.replaceAll(pathname.slice(1), 'DATABASE')
    await expect(text).toMatchFileSnapshot('transcripts/doctor-settings.txt')
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
      expect(of('releases published')).toEqual([])
    }
  })

  test('tells it to people group by group, without colours where nobody sees them', async () => {
    const { stdout } = await runAgro(testDatabase, 'doctor')
    expect(stdout).toMatch(/^versions\n {2}ok {7}The service is /)
    expect(stdout).toMatch(/\n {2}note {5}No mail server is set: .*\n {11}> Set SMTP_URL and MAIL_FROM/)
    expect(stdout).toMatch(/\n\nwarning: \d+ ok, \d+ note, \d+ warning\n$/)
    expect(stdout).not.toContain('\u001b')
  })

  test('ends soon when the database goes while it asks', async () => {
    await client.query('begin; lock table release')
    const examination = examined()
    await vi.waitUntil(async () => {
      const { rows } = await other.query(
        `select pg_terminate_backend(pid) as ended from pg_stat_activity
         where datname = current_database() and wait_event_type = 'Lock' and application_name like 'agro-advisory %'`,
      )
      return rows.length > 0
    }, PATIENCE)
    const { code, of } = await examination
    expect(code).toBe(2)
    expect(of('releases published')).toEqual([['error', 'The database answers no more.']])
    expect(of('areas boundaries')).toEqual([['unknown', 'This could not be looked at either.']])
  })

  test('can change nothing', async () => {
    const removing = withDatabase(testDatabase, ({ writer }) =>
      readingFrom(writer)((trx) => trx.deleteFrom('release').execute()),
    )
    await expect(removing).rejects.toThrow('cannot execute DELETE in a read-only transaction')
  })

  test('misses areas that were deleted by SQL, and the same file loads them anew', async () => {
    const ghana = feature({ code: 'GH', name: 'Ghana' }, rectangle(-3, 5, 1, 11))
    const file = await boundaryFile([ghana])
    const names = ['--code-property', 'code', '--name-property', 'name', '--parent-property', 'none']
    const load = () => runAgro(testDatabase, 'boundaries', file, '--country', 'gha', '--level', '0', ...names)
    expect((await load()).code).toBe(0)
    await client.query(`delete from admin_area where country_code = 'gha'`)
    expect((await examined()).of('areas boundaries')).toEqual([
      ['warning', 'These countries have no outline, so that nothing lies outside of them: Ghana.'],
      ...[1, 2, 3].map((level) => ['note', `These countries have no areas of level ${level}: Ghana.`]),
    ])
    expect((await load()).stdout).toContain('1 new')
    expect((await examined()).of('areas boundaries').map(([level]) => level)).toEqual([
      'note',
      'note',
      'note',
    ])
  })
})

test('the document names each check of the doctor in the row of its group', async () => {
  const [, section = ''] =
    /\n### agro doctor\n([\s\S]*?)\n##/.exec(await readFile('docs/operations.md', 'utf8')) ?? []
  const rows = [...section.matchAll(/^\| `(\w+)` \| (.*) \|$/gm)].flatMap(([, group, cell = '']) =>
    [...cell.matchAll(/(?<=^|; )`(\w+)`:/g)].map(([, check]) => `${group}.${check}`),
  )
  expect(rows.sort()).toEqual([...CHECKS, 'versions.service', 'database.open'].sort())
})

const examined = (settings?: Record<string, string>) => examine(testDatabase, settings)

/** What some checks say with some settings. Why something cannot be reached is said by this machine, and left out. */
async function told(settings: Record<string, string>, checks: string[]): Promise<string> {
  const { code, findings } = await examined(settings)
  const lines = findings
    .filter(({ group, check }) => checks.includes(group) || checks.includes(`${group} ${check}`))
    .map(({ group, check, level, sentence, advice }) => {
      const said = sentence.replace(/(cannot be \w+[^:]*|up to date): .*/, '$1: ...')
      return `  ${group} ${check}, ${level}: ${said}${advice ? `\n    > ${advice}` : ''}\n`
    })
  return `  exit code ${code}\n${lines.join('').replaceAll(/20\d\d-\d\d-\d\d \d\d:\d\d/g, 'THEN')}`
}
