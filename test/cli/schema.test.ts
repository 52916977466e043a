import { sql } from 'kysely'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import type { Database } from '#src/data/database.ts'
import { migrate } from '#src/data/migrate.ts'
import { breaksOlder, readScripts } from '#src/data/schema-state.ts'
import { runAgro } from '#test/setup/cli.ts'
import { openOwnTestCluster, type TestCluster } from '#test/setup/database.ts'
import { SINCE_0041, scriptsUpTo } from '#test/setup/older-scripts.ts'
import { PATIENCE } from '#test/setup/patience.ts'
import { startService } from '#test/setup/service-process.ts'

describe('a schema that is older than this version', () => {
  let opened: TestCluster
  let database: Database

  beforeAll(async () => {
    opened = await openOwnTestCluster('empty')
    database = opened.cluster.connectForMaintenance()
    await sql`drop function tiles_of`.execute(database.writer)
    await sql`delete from applied_script where name = 'tiles_of.sql'`.execute(database.writer)
  })

  afterAll(async () => {
    await database.close()
    await opened.cluster.close()
    await opened.testDatabase.drop()
  })

  const REFUSAL =
    'The schema of the database is older than this version, which needs tiles_of.sql: `agro migrate` brings it up to date.\n'

  test('is left as it is by commands that look, which say what helps', async () => {
    for (const command of [
      'releases list',
      'users list',
      'countries list',
      'crops list',
      'audit',
      'grants nobody',
    ]) {
      const { code, stdout, stderr } = await runAgro(opened.testDatabase, ...command.split(' '))
      expect([command, code, stdout, stderr]).toEqual([command, 1, '', REFUSAL])
    }
  })

  test('is left as it is by a service with MIGRATE_ON_START=false, which does not start', async () => {
    const service = startService({ ...opened.testDatabase.environment, MIGRATE_ON_START: 'false' })
    expect(await service.ended).toBe(1)
    expect(service.stdout()).toBe('')
    expect(service.stderr()).toBe(`agro: ${REFUSAL}`)
  })

  test('and by commands that change something with MIGRATE_ON_START=false', async () => {
    const { environment } = opened.testDatabase
    const testDatabase = {
      ...opened.testDatabase,
      environment: { ...environment, MIGRATE_ON_START: 'false' },
    }
    const refused = await runAgro(testDatabase, 'users', 'promote', 'amina@example.org')
    expect([refused.code, refused.stdout, refused.stderr]).toEqual([1, '', REFUSAL])
    const migrated = await runAgro(testDatabase, 'migrate')
    expect([migrated.code, migrated.stdout]).toEqual([0, 'applied tiles_of.sql\n'])
    const promoted = await runAgro(testDatabase, 'users', 'promote', 'amina@example.org')
    expect(promoted.stderr).toBe('There is no account amina@example.org; `agro users list` shows them.\n')
  })
})

// The embedded database lets one process in.
describe.skipIf(process.env.TEST_DATABASE_KIND === 'embedded')(
  'a migration that breaks older versions',
  () => {
    const BREAKING = '0041_history_in_one_table.sql'
    /** All of them: those of extensions are there with these. */
    const listBreaking = async () => (await readScripts()).filter(breaksOlder).map(({ name }) => name)

    /** The database as a version before the migration has left it, for all that `migrate` looks at. */
    async function withOlder(work: (opened: TestCluster, older: pg.Client) => Promise<void>): Promise<void> {
      const opened = await openOwnTestCluster('new')
      const url = opened.testDatabase.config.DATABASE_URL as string
      // What 1.0.0 and 1.1.0 call themselves.
      const older = new pg.Client({ connectionString: url, application_name: 'agro-advisory' })
      try {
        const database = opened.cluster.connectForMaintenance()
        await migrate(database.writer, await scriptsUpTo(40, SINCE_0041))
        await database.close()
        await older.connect()
        await work(opened, older)
      } finally {
        await older.end()
        await opened.cluster.close()
        await opened.testDatabase.drop()
      }
    }

    const appliedAfter0040 = async (client: pg.Client) =>
      (await client.query("select name from applied_script where kind = 'migration' and name > '0041'"))
        .rowCount

    test('is refused beside processes of one: by migrate, by commands and by a start, each of which names them', async () => {
      await withOlder(async ({ testDatabase }, older) => {
        const { rows } = await older.query('select pg_backend_pid() as pid')
        const sentence = new RegExp(
          `Older versions of the service run, and ${BREAKING} breaks them: process ${rows[0].pid} \\(agro-advisory, role \\w+, from [\\w.:]+\\)\\. Nothing was changed: stop them, or say \`agro migrate --force\`\\.`,
        )
        const migrated = await runAgro(testDatabase, 'migrate', '--json')
        expect([migrated.code, JSON.parse(migrated.stdout)]).toEqual([
          1,
          { error: expect.stringMatching(sentence), code: 'DATABASE_IN_USE' },
        ])
        expect((await runAgro(testDatabase, 'users', 'promote', 'amina@example.org')).stderr).toMatch(
          sentence,
        )
        const service = startService(testDatabase.environment)
        expect(await service.ended).toBe(1)
        expect(service.stderr()).toMatch(sentence)
        expect(await appliedAfter0040(older)).toBe(0)
      })
    })

    test('names them to a role that may not see more of them', async () => {
      await withOlder(async ({ testDatabase }, older) => {
        const role = `agro_test_owner_${process.pid}`
        await older.query(`create role ${role} login; grant all on database ${older.database} to ${role};
        grant all on schema public to ${role}; grant select on all tables in schema public to ${role}`)
        const url = new URL(testDatabase.environment.DATABASE_URL as string)
        url.username = role
        try {
          const { code, stderr } = await runAgro(
            { ...testDatabase, environment: { ...testDatabase.environment, DATABASE_URL: url.href } },
            'migrate',
          )
          expect([code, stderr]).toEqual([
            1,
            expect.stringMatching(/breaks them: process \d+ \(agro-advisory, role \w+\)\./),
          ])
        } finally {
          await older.query(`drop owned by ${role}; drop role ${role}`)
        }
      })
    })

    test('is refused beside one that answers no requests, whose sessions come and go', async () => {
      await withOlder(async ({ cluster, testDatabase }, older) => {
        await older.query(`
          insert into release (code, product, country_code, crop_code, forecast_period, version, source, licence, checksum)
          values ('old', 'yield', 'eth', 'wheat', '2026-07-01', 1, '-', '-', '-')`)
        await older.end()
        const idle = new pg.Client({
          connectionString: testDatabase.config.DATABASE_URL,
          application_name: 'agro-advisory',
        })
        const database = cluster.connectForMaintenance()
        try {
          let migrated: Promise<unknown> | undefined
          const said = await new Promise<string>((progress) => {
            migrated = migrate(database.writer, undefined, { progress }).catch((error) => error)
          })
          expect(said).toMatch(/^looking for older versions that run, for 65 s/)
          await idle.connect()
          expect(await migrated).toMatchObject({ code: 'DATABASE_IN_USE' })
          expect(await appliedAfter0040(idle)).toBe(0)
        } finally {
          await database.close()
          await idle.end()
        }
      })
    })

    test('is refused where one connects while it runs, and leaves nothing', async () => {
      await withOlder(async ({ cluster, testDatabase }, older) => {
        await older.end()
        const later = new pg.Client({
          connectionString: testDatabase.config.DATABASE_URL,
          application_name: 'agro-advisory 1.1.9',
        })
        const watcher = new pg.Client(testDatabase.config.DATABASE_URL)
        await watcher.connect()
        const database = cluster.connectForMaintenance()
        try {
          // The scripts wait for their lock: by then the first look is over.
          await watcher.query('begin; lock table advisory_feedback')
          const migrated = migrate(database.writer).catch((error) => error)
          const waits = "select from pg_locks where not granted and relation = 'advisory_feedback'::regclass"
          await vi.waitFor(async () => expect((await watcher.query(waits)).rowCount).toBe(1), PATIENCE)
          await later.connect()
          await watcher.query('commit')
          expect(await migrated).toMatchObject({
            code: 'DATABASE_IN_USE',
            message: expect.stringContaining('agro-advisory 1.1.9'),
          })
          expect(await appliedAfter0040(watcher)).toBe(0)
        } finally {
          await database.close()
          await watcher.end()
          await later.end()
        }
      })
    })

    test('is applied with --force, which says that there is no way back; own processes and others are in no way', async () => {
      await withOlder(async ({ testDatabase }, older) => {
        const last = (await listBreaking()).at(-1)
        const forced = await runAgro(testDatabase, 'migrate', '--force')
        expect([forced.code, forced.stdout.split('\n').slice(-2)]).toEqual([
          0,
          [`No way back: versions without ${last} cannot go on.`, ''],
        ])
        expect(await appliedAfter0040(older)).toBeGreaterThan(10)
        const { stdout } = await runAgro(testDatabase, 'doctor')
        expect(stdout).toContain(`There is no way back to a version without ${last}.`)
      })
      await withOlder(async ({ cluster, testDatabase }, older) => {
        await older.query("set application_name = 'psql'")
        const own = cluster.connect()
        await own.pool.query('select 1')
        const migrated = await runAgro(testDatabase, 'migrate', '--json')
        expect([migrated.code, JSON.parse(migrated.stdout).no_way_back]).toEqual([0, await listBreaking()])
        await own.close()
      })
    })
  },
)
