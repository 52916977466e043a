import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import pg from 'pg'
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest'
import { readingFrom } from '#src/cli/doctor/index.ts'
import { openCluster } from '#src/data/client.ts'
import { lockWork } from '#src/data/work-lock.ts'
import { VERSION } from '#src/lib/version.ts'
import { runAgro } from '#test/setup/cli.ts'
import { createTestDatabase, type TestDatabase } from '#test/setup/database.ts'
import { newFolder } from '#test/setup/folders.ts'
import { PATIENCE } from '#test/setup/patience.ts'
import { examine } from './examination.ts'

const USER = '00000000-0000-4000-8000-000000000001'

let testDatabase: TestDatabase
beforeAll(async () => {
  testDatabase = await createTestDatabase('demo', { JWT_SECRET: 'q8Zr1xVwKc5tYb0NfLhS3uPdJgA7mEoT' })
})
afterAll(() => testDatabase.drop())

const examined = (settings?: Record<string, string>) => examine(testDatabase, settings)

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
    const checks = findings.map(({ group, check }) => `${group} ${check}`)
    expect([...new Set(checks)]).toEqual([
      'versions service',
      'settings configuration',
      'secrets jwt_secret',
      'secrets database_password',
      'secrets files',
      'mail server',
      'versions postgresql',
      'versions extensions',
      'schema migrations',
      'schema objects',
      'schema rights',
      'connections used',
      'connections encryption',
      'history months',
      'history total',
      'releases published',
      'releases incomplete',
      'releases scheduled',
      'releases seasons',
      'releases summaries',
      'files reachable',
      'areas boundaries',
      'subscriptions deliveries',
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

  test('warns where all histories hold nearly as much as they may, and where they are full', async () => {
    const found = async (bytes: number, settings?: Record<string, string>) => {
      await client.query('insert into history_size (user_id, items, bytes) values ($1, 1, $2)', [USER, bytes])
      const { of } = await examined(settings)
      await client.query('delete from history_size where user_id = $1', [USER])
      return of('history total')
    }
    const limit = { HISTORY_TOTAL_MB: '1' }
    const of = 'of the 1.0 MB of HISTORY_TOTAL_MB.'
    expect(await found(1_000_000)).toEqual([['ok', 'Histories hold 1.0 MB; HISTORY_TOTAL_MB sets no limit.']])
    expect(await found(899_000, limit)).toEqual([['ok', `Histories hold 899 kB ${of}`]])
    expect(await found(901_000, limit)).toEqual([['warning', `Histories hold 901 kB ${of}`]])
    expect(await found(1_000_000, limit)).toEqual([
      ['warning', `Histories hold 1.0 MB ${of} New answers are not kept.`],
    ])
  })

  test('tells it to people group by group, without colours where nobody sees them', async () => {
    const { stdout } = await runAgro(testDatabase, 'doctor')
    expect(stdout).toMatch(/^versions\n {2}ok {7}The service is /)
    expect(stdout).toMatch(/\n {2}note {5}No mail server is set: .*\n {11}> Set SMTP_URL and MAIL_FROM/)
    expect(stdout).toMatch(/\n\nwarning: \d+ ok, \d+ note, \d+ warning\n$/)
    expect(stdout).not.toContain('\u001b')
  })

  test('tells a load that was cut off from one that runs by the lock of that', async () => {
    const code = 'yield-eth-wheat-2031-01-v1'
    await client.query(
      `insert into release (code, product, country_code, crop_code, forecast_period, version, source, licence, checksum)
       values ($1, 'yield', 'eth', 'wheat', '2031-01-01', 1, '-', '-', '-')`,
      [code],
    )
    const found = async () => (await examined()).of('releases incomplete')
    const since = `${code} is incomplete since \\d{4}-\\d\\d-\\d\\d \\d\\d:\\d\\d UTC`
    const lock = 7_239_449 * 2 ** 24 + 5
    await client.query('update release set load_lock = $1 where code = $2', [lock, code])
    expect(await found()).toEqual([
      ['warning', expect.stringMatching(`^${since}\\. Its load was interrupted\\.$`)],
    ])
    const cluster = await openCluster(testDatabase.config)
    const loader = cluster.connectForMaintenance()
    const { unlock } = await lockWork(loader, lock)
    expect(await found()).toEqual([
      ['note', expect.stringMatching(`^${since}, and is being loaded: process \\d+ of the database\\.$`)],
    ])
    unlock()
    await loader.close()
    await client.query('delete from release where code = $1', [code])
  })

  test('names countries without boundaries', async () => {
    await client.query(`insert into country (code, name) values ('tza', 'Tanzania')`)
    expect((await examined()).of('areas boundaries')).toEqual([
      [
        'warning',
        'These countries have no outline, so that nothing is known to lie outside of them: Tanzania.',
      ],
      ...[1, 2, 3].map((level) => ['note', `These countries have no areas of level ${level}: Tanzania.`]),
    ])
    await client.query(`delete from country where code = 'tza'`)
  })

  test('tells an older schema from a newer one, and migrates neither', async () => {
    const { rows } = await client.query(
      `delete from applied_script where name = '0040_compositions.sql' returning name, checksum`,
    )
    const { name, checksum } = rows[0]
    // As before the migration that makes this table.
    await client.query('alter table input_composition rename to later')
    const older = await examined()
    await client.query('alter table later rename to input_composition')
    expect(older.of('schema migrations')).toEqual([
      ['warning', `The schema is older than this version: ${name} is not applied.`],
    ])
    expect(older.of('schema objects')).toEqual([['ok', 'All tables and functions are there.']])
    await client.query(
      `insert into applied_script values ('migration', $1, $2), ('migration', '9999_x.sql', '')`,
      [name, checksum],
    )
    const newer = await examined()
    expect([newer.code, newer.of('schema migrations')]).toEqual([
      1,
      [['note', 'The schema is newer than this version, which goes on with it: it has 9999_x.sql.']],
    ])
    await client.query(`update applied_script set breaks_older = true where name = '9999_x.sql'`)
    const breaking = await examined()
    expect([breaking.code, breaking.of('schema migrations')]).toEqual([
      2,
      [['error', 'The schema is newer than this version, which cannot go on with 9999_x.sql.']],
    ])
    await client.query(`delete from applied_script where name = '9999_x.sql'`)
  })

  test('takes no function for pending that a newer version has replaced', async () => {
    const { rows } = await client.query(
      `update applied_script set checksum = 'newer', replaced = array[checksum] where name = 'tiles_of.sql'
       returning replaced[1] as checksum`,
    )
    expect((await examined()).of('schema migrations')).toEqual([
      ['ok', expect.stringMatching(/^The schema is up to date: /)],
    ])
    await client.query(
      `update applied_script set checksum = $1, replaced = default where name = 'tiles_of.sql'`,
      [rows[0].checksum],
    )
  })

  test('misses what was dropped, and goes on where a question fails', async () => {
    await client.query('alter table history_size rename to elsewhere')
    await client.query('alter table audit_record disable trigger all')
    const { code, of } = await examined()
    expect(code).toBe(2)
    expect(of('schema objects')[0]).toEqual(['error', 'These are missing: history_size.'])
    expect(of('schema objects').slice(1)).toContainEqual([
      'warning',
      expect.stringMatching(/^The trigger \S+ of audit_record is disabled\.$/),
    ])
    expect(of('history total')).toEqual([
      ['unknown', 'This could not be looked at: relation "history_size" does not exist.'],
    ])
    expect(of('areas boundaries')).toEqual([['ok', 'All 4 countries have boundaries of all levels.']])
    await client.query('alter table elsewhere rename to history_size')
    await client.query('alter table audit_record enable trigger all')
  })

  test('ends soon when the database goes while it asks', async () => {
    await client.query('begin; lock table release')
    const examination = examined()
    await vi.waitUntil(async () => {
      const { rows } = await other.query(
        `select pg_terminate_backend(pid) as ended from pg_stat_activity
         where datname = current_database() and wait_event_type = 'Lock' and application_name = 'agro-advisory'`,
      )
      return rows.length > 0
    }, PATIENCE)
    const { code, of } = await examination
    expect(code).toBe(2)
    expect(of('releases published')).toEqual([['error', 'The database answers no more.']])
    expect(of('areas boundaries')).toEqual([['unknown', 'This could not be looked at either.']])
  })

  test('can change nothing', async () => {
    const cluster = await openCluster(testDatabase.config)
    const database = cluster.connect()
    await expect(readingFrom(database.writer)((trx) => trx.deleteFrom('release').execute())).rejects.toThrow(
      'cannot execute DELETE in a read-only transaction',
    )
    await database.close()
  })

  test('misses areas that were deleted by SQL, and the same file loads them anew', async () => {
    const file = join(await newFolder(), 'ghana.geojson')
    const polygon = {
      type: 'Polygon',
      coordinates: [
        [
          [-3, 5],
          [1, 5],
          [1, 11],
          [-3, 11],
          [-3, 5],
        ],
      ],
    }
    const feature = { type: 'Feature', properties: { code: 'GH', name: 'Ghana' }, geometry: polygon }
    await writeFile(file, JSON.stringify({ type: 'FeatureCollection', features: [feature] }))
    const names = ['--code-property', 'code', '--name-property', 'name', '--parent-property', 'none']
    const load = () => runAgro(testDatabase, 'boundaries', file, '--country', 'gha', '--level', '0', ...names)
    expect((await load()).code).toBe(0)
    await client.query(`delete from admin_area where country_code = 'gha'`)
    expect((await examined()).of('areas boundaries')).toEqual([
      ['warning', 'These countries have no outline, so that nothing is known to lie outside of them: Ghana.'],
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
