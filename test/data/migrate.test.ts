import { cp, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { sql } from 'kysely'
import pg from 'pg'
import { afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import { loadConfig } from '#src/config.ts'
import { openCluster } from '#src/data/client.ts'
import type { Database } from '#src/data/database.ts'
import { migrate } from '#src/data/migrate.ts'
import { REFERENCE_FILE } from '#src/data/reference.ts'
import { listPendingScripts, readApplied, readScripts, refuseOlderSchema } from '#src/data/schema-state.ts'
import { OperatorError } from '#src/errors.ts'
import { EXTENSIONS } from '#src/extensions/index.ts'
import { testServer } from '#test/setup/database.ts'
import { newFolder } from '#test/setup/folders.ts'
import { openDatabase } from '#test/setup/open-service.ts'
import { PATIENCE } from '#test/setup/patience.ts'
import { databaseUrl, executeOnServer } from '#test/setup/server.ts'

const EMBEDDED = process.env.TEST_DATABASE_KIND === 'embedded'

const opened = openDatabase('empty')
let database: Database
/** A copy of the scripts, for tests to add to. */
let folder: string

beforeAll(async () => {
  database = opened.database
})

beforeEach(async () => {
  folder = await newFolder()
  await cp('sql', folder, { recursive: true })
})

/** Takes back what a test has migrated. */
afterEach(async () => {
  await sql`delete from applied_script where name like '9%' or name like 'test%'`.execute(database.writer)
  await sql`drop table if exists first, second, third`.execute(database.writer)
  await sql`drop function if exists test_answer`.execute(database.writer)
})

describe('migrations', () => {
  test('of extensions that are deleted are no newer ones, also where a version before extensions applied them', async () => {
    const all = await readScripts()
    const left = all
      .filter(({ extension }) => extension === null)
      .map((script) => (script.name === 'uuid_at.sql' ? { ...script, checksum: 'another' } : script))
    // Those of before had migrations up to 55.
    for (const own of ['extension', 'null::text']) {
      await sql`update applied_script set extension = ${sql.raw(own)} where name < '0056'`.execute(
        database.writer,
      )
      const applied = await readApplied(database.writer)
      expect(listPendingScripts(left, applied).map(({ name }) => name)).toEqual(['uuid_at.sql'])
    }
  })

  test('that were divided are known by the whole to versions that have it', async () => {
    const whole = `select checksum from applied_script where name = '0055_strangers_and_turns.sql'`
    expect(await ask(whole)).toEqual([
      { checksum: 'd85fc6fd04a4bb096820281c20fbb01fb6d23a0a0a18c255f91707b05fab1dd7' },
    ])
  })

  test('are applied once, in the order of their names', async () => {
    // Each needs the one before.
    await write('migrations/9003_third.sql', 'create table third as select * from second')
    await write('migrations/9001_first.sql', 'create table first as select 1 as x')
    await write(
      'migrations/9002_second.sql',
      'create table second as select * from first; insert into second values (2)',
    )
    expect(await migrateFolder()).toEqual(['9001_first.sql', '9002_second.sql', '9003_third.sql'])
    expect(await ask('select x from third order by x')).toEqual([{ x: 1 }, { x: 2 }])
    expect(await migrateFolder()).toEqual([])
    await write('migrations/9004_fourth.sql', 'insert into third values (3)')
    expect(await migrateFolder()).toEqual(['9004_fourth.sql'])
    expect(await migrateFolder()).toEqual([])
    expect(await ask('select count(*) from third')).toEqual([{ count: 3 }])
  })

  test('are refused when one was changed after it was applied', async () => {
    await write('migrations/9001_first.sql', 'create table first as select 1 as x')
    await migrateFolder()
    await write('migrations/9001_first.sql', 'create table first as select 2 as x')
    await write('migrations/9002_second.sql', 'create table second as select 1 as x')
    await expect(migrateFolder()).rejects.toThrow(
      new OperatorError(
        'Migration 9001_first.sql was changed after it was applied: put it back, and add a new one.',
        { code: 'SCHEMA' },
      ),
    )
    expect(await ask("select to_regclass('second') as second")).toEqual([{ second: null }])
  })

  test('of a newer version let this one go on, and its functions stay as they are', async () => {
    const text = await readFile(join(folder, 'functions/admin_areas_in_cell.sql'), 'utf8')
    await write('functions/admin_areas_in_cell.sql', text.replace('In PL/pgSQL', 'Made newer; in PL/pgSQL'))
    await write('migrations/9001_first.sql', 'create table first as select 1 as x')
    expect(await migrateFolder()).toEqual(['9001_first.sql', 'admin_areas_in_cell.sql'])
    try {
      expect(await migrate(database.writer)).toEqual([])
      await refuseOlderSchema(database.writer)
      expect(await migrateFolder()).toEqual([])
    } finally {
      await sql`update applied_script set replaced = '{}', checksum = '' where name = 'admin_areas_in_cell.sql'`.execute(
        database.writer,
      )
      await sql`delete from applied_script where name like '9%'`.execute(database.writer)
      expect(await migrate(database.writer)).toEqual(['admin_areas_in_cell.sql'])
    }
  })

  test('of a newer version that say so break this one: it is refused', async () => {
    await write(
      'migrations/9001_first.sql',
      '-- Why.\n-- breaks: older versions\ncreate table first as select 1 as x',
    )
    await migrateFolder()
    const refusal = new OperatorError(
      'The database was migrated by a newer version of the service (migration 9001_first.sql), and this one cannot go on with it: upgrade this one.',
      { code: 'SCHEMA' },
    )
    const own = EXTENSIONS.find(({ sql: folder }) => folder)?.name ?? null
    for (const extension of [null, own]) {
      await sql`update applied_script set extension = ${extension} where name = '9001_first.sql'`.execute(
        database.writer,
      )
      await expect(migrate(database.writer)).rejects.toThrow(refusal)
      await expect(refuseOlderSchema(database.writer)).rejects.toThrow(refusal)
    }
    await sql`update applied_script set extension = 'of another version' where name = '9001_first.sql'`.execute(
      database.writer,
    )
    expect(await migrate(database.writer)).toEqual([])
  })

  test('leave nothing when one fails: what came before it neither', async () => {
    await write('migrations/9001_first.sql', 'create table first as select 1 as x')
    await write('migrations/9002_second.sql', "create table second (x int); select 'x'::integer")
    const message = '9002_second.sql could not be applied: invalid input syntax for type integer: "x".'
    await expect(migrateFolder()).rejects.toThrow(new OperatorError(message))
    expect(await ask("select to_regclass('first') as first, to_regclass('second') as second")).toEqual([
      { first: null, second: null },
    ])
    await write('migrations/9002_second.sql', 'create table second (x int)')
    expect(await migrateFolder()).toEqual(['9001_first.sql', '9002_second.sql'])
  })

  // The embedded database has one connection: nobody is in the way.
  test.skipIf(EMBEDDED)('are begun anew where requests of another process are in their way', async () => {
    await sql.raw('create table first (); create table second ()').execute(database.writer)
    await write(
      'migrations/9001_both.sql',
      'alter table first add column x integer; alter table second add column x integer',
    )
    const request = new pg.Client(database.pool.options.connectionString)
    await request.connect()
    try {
      // Of the two, the one that looks first gives up: the migration.
      await request.query("set deadlock_timeout = '1min'; begin; lock table second")
      const migrated = migrateFolder()
      const waiting = "select from pg_locks where not granted and relation = 'second'::regclass"
      await vi.waitFor(async () => expect((await request.query(waiting)).rowCount).toBe(1), PATIENCE)
      await request.query('lock table first; commit')
      expect(await migrated).toEqual(['9001_both.sql'])
    } finally {
      await request.end()
    }
  })

  test.skipIf(EMBEDDED)(
    'are applied once when eight processes start on a fresh server database',
    async () => {
      const server = testServer()
      const name = `agro_test_fresh_${process.pid}_${Date.now()}`
      await executeOnServer(server, `create database ${name}`)
      const config = loadConfig({ DATABASE_URL: databaseUrl(server, name) })
      const databases = await Promise.all(
        Array.from({ length: 8 }, async () => (await openCluster(config)).connectForMaintenance()),
      )
      const applied = await Promise.all(databases.map(({ writer }) => migrate(writer)))
      const scripts = [...(await readScripts()).map(({ name }) => name), REFERENCE_FILE]
      expect(applied.filter((names) => names.length > 0)).toEqual([scripts])
      for (const each of databases) await each.close()
      await executeOnServer(server, `drop database ${name}`)
    },
  )
})

describe('functions', () => {
  const answering = (value: number) =>
    `create or replace function test_answer() returns integer language sql as 'select ${value}'`

  test('are applied again when their text has changed, and only then: not to what a newer version has replaced', async () => {
    await write('functions/test_answer.sql', answering(1))
    expect(await migrateFolder()).toEqual(['test_answer.sql'])
    expect(await migrateFolder()).toEqual([])
    await write('functions/test_answer.sql', answering(2))
    expect(await migrateFolder()).toEqual(['test_answer.sql'])
    await write('functions/test_answer.sql', answering(1))
    expect(await migrateFolder()).toEqual([])
    expect(await ask('select test_answer()')).toEqual([{ test_answer: 2 }])
    await write('functions/test_answer.sql', answering(3))
    expect(await migrateFolder()).toEqual(['test_answer.sql'])
  })

  test('and views each have a comment that says what they are for, and a file of their name', async () => {
    const functions = await ask(`
      with made as (
        select oid, 'pg_proc'::regclass as catalog, proname::text as name, pronamespace as namespace from pg_proc
        union all
        select oid, 'pg_class'::regclass, 'view_' || relname, relnamespace from pg_class where relkind = 'v'
      )
      select name, obj_description(oid, catalog::name) as comment
      from made
      where namespace = 'public'::regnamespace and not exists (
        select from pg_depend where classid = catalog and objid = made.oid and deptype = 'e'
      )
      order by name collate "C"`)
    const scripts = (await readScripts()).filter(({ kind }) => kind === 'function')
    const names = scripts.map(({ name }) => name.replace('.sql', '')).sort()
    expect(functions).toEqual(
      names.map((name) => ({ name, comment: expect.stringMatching(/^[A-Z].{20,}\.$/) })),
    )
  })
})

async function write(name: string, text: string): Promise<void> {
  await writeFile(join(folder, name), text)
}

function migrateFolder(): Promise<string[]> {
  return migrate(database.writer, pathToFileURL(`${folder}/`))
}

async function ask(statement: string): Promise<unknown[]> {
  return (await sql.raw(statement).execute(database.writer)).rows
}
