import { readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { gunzipSync, gzipSync } from 'node:zlib'
import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { loadConfig } from '#src/config.ts'
import { migrate } from '#src/data/migrate.ts'
import { joinParts, readScripts } from '#src/data/schema-state.ts'
import { exportDatabase, importDatabase } from '#src/extensions/transfer/copy-queries.ts'
import { VERSION } from '#src/lib/version.ts'
import { type CliResult, runAgro } from '#test/setup/cli.ts'
import { createTestDatabase, type TestDatabase, withDatabase } from '#test/setup/database.ts'
import { newFolder } from '#test/setup/folders.ts'
import { ownDatabase } from '#test/setup/open-service.ts'
import { answersOf, logInTwice, type Usage, useService, withService } from '#test/setup/used-service.ts'

// Runs on a server alone: everything moves from there to an embedded database, and back.

const POINTS = 20
const MEBIBYTE = 1024 * 1024
const SECRET = { JWT_SECRET: 'a secret of both, of more than 32 bytes' }

const COUNTRY_SEQUENCE = "pg_get_serial_sequence('country', 'ordinal')"
/** Migrations leave a sequence so: set, and not used yet. */
const NEXT_COUNTRY = `select setval(${COUNTRY_SEQUENCE}, 900, false)`

/** Of a month that a new database has not made: the clock there may be behind, or the file younger than the schema. */
const ITEM_TO_COME = `
  select create_history_months(now() + interval '2 months');
  insert into history_item (id, user_id, subject_id, template_id, bytes, crop_code, request, answer)
  select uuid_at(now() + interval '2 months'), user_id, subject_id, template_id, bytes, crop_code, request, answer
  from history_item order by id limit 1`

/** A month that is being dropped goes along, and how far its items are counted away. */
const MONTH_GOING = `
  create table history_item_going_month () inherits (history_item_going);
  insert into history_item_going_month select * from history_item order by id limit 2;
  update history_removal as removal set user_id = item.user_id, id = item.id
  from (select user_id, id from history_item_going order by user_id, id limit 1) as item`

/** In both directions at once: the embedded one is opened beside two databases of a server. */
const scripts = (await readScripts()).filter(({ kind }) => kind === 'migration')
const [LAST_BUT_ONE, LAST] = [...scripts, ...joinParts(scripts)]
  .map(({ name }) => name)
  .sort()
  .slice(-2)

/** Runs `agro`, and leaves out how far it is, which a slow machine shows. */
async function agro(database: TestDatabase, ...parameters: string[]): Promise<CliResult> {
  const result = await runAgro(database, ...parameters)
  return { ...result, stderr: result.stderr.replaceAll(/^\w+: \d+ %.*\n/gm, '') }
}

describe.sequential('agro export and import', () => {
  let folder: string
  let source: TestDatabase
  let embedded: TestDatabase
  let target: TestDatabase
  let usage: Usage
  const file = (name: string) => join(folder, name)

  beforeAll(async () => {
    folder = await newFolder()
    source = await createTestDatabase('demo', SECRET)
    target = await createTestDatabase('empty', SECRET)
    const environment = { DATA_DIR: file('data'), DEMO_DATA: 'false', LOG_LEVEL: 'silent', ...SECRET }
    embedded = { kind: 'embedded', environment, config: loadConfig(environment), drop: async () => {} }
    usage = await withService(source.config, useService)
    await withDatabase(source, ({ pool }) => pool.query(`${ITEM_TO_COME};${MONTH_GOING};${NEXT_COUNTRY}`))
  })
  afterAll(async () => {
    await source.drop()
    await target.drop()
  })

  const answers = ({ config }: TestDatabase) =>
    withService(config, async (app) => {
      const found = await answersOf(app, usage, POINTS)
      expect(await logInTwice(app, usage)).toEqual([401, 200, 200])
      return found
    })

  const linesOf = async (name: string) =>
    gunzipSync(await readFile(file(name)))
      .toString()
      .split('\n')

  test('write a file that nobody else may read, and never over another one', async () => {
    const { code, stdout, stderr } = await agro(source, 'export', file('one.agro'), '--json')
    const { rows, tables } = JSON.parse(stdout)
    expect(code).toBe(0)
    expect(tables).toMatchObject({
      app_user: 1,
      api_key: 1,
      history_item: 7,
      history_item_going: 2,
      history_size: 1,
      two_factor: 1,
    })
    expect(rows).toBe(Object.values(tables as Record<string, number>).reduce((sum, count) => sum + count))
    expect(stderr).toMatch(/^note: It has the e-mails, the hashes of passwords/)
    expect((await stat(file('one.agro'))).mode & 0o777).toBe(0o600)
    expect(await agro(source, 'export', file('one.agro'))).toEqual({
      code: 1,
      stdout: '',
      stderr: `${file('one.agro')} is there already: name another file, or remove it.\n`,
    })
    expect((await linesOf('one.agro')).join('\n')).not.toContain(SECRET.JWT_SECRET)
  })

  test('move everything from a server to the embedded database, and back', async () => {
    const parts: Record<string, number[]> = {}
    const follow = (phase: string) => {
      const ofPhase: number[] = []
      parts[phase] = ofPhase
      return (part: number) => ofPhase.push(part)
    }
    await withDatabase(embedded, async ({ writer }) => {
      await migrate(writer)
      await importDatabase(writer, file('one.agro'), follow)
      await exportDatabase(writer, file('two.agro'), follow('exporting'))
    })
    // In which order rows come is the database's.
    expect((await linesOf('two.agro')).sort()).toEqual((await linesOf('one.agro')).sort())
    expect(await agro(target, 'import', file('two.agro'))).toMatchObject({ code: 0, stderr: '' })
    // They say how far they are, up to all of it.
    expect(Object.keys(parts)).toEqual(['importing', 'comparing', 'linking', 'exporting'])
    for (const done of Object.values(parts)) {
      expect(done).toEqual(done.toSorted((one, other) => one - other))
      expect([done.length > 10, done.at(-1)]).toEqual([true, expect.closeTo(1, 1)])
    }

    const [expected, found] = [await answers(source), await answers(target)]
    expect(Object.keys(expected).length).toBeGreaterThan(POINTS)
    expect(found).toEqual(expected)
  })

  test('leave triggers, foreign keys and sequences as they were', async () => {
    const schemaOf = (on: TestDatabase) =>
      withDatabase(on, async ({ pool }) => {
        const { rows } = await pool.query(`
          select conrelid::regclass::text as name, conname, pg_get_constraintdef(oid), convalidated
          from pg_constraint where connamespace = 'public'::regnamespace
          union all
          select tgrelid::regclass::text, tgname, tgenabled::text, true from pg_trigger where not tgisinternal
          order by 1, 2`)
        return rows
      })
    expect(await schemaOf(target)).toEqual(await schemaOf(source))
    await withDatabase(target, async ({ pool }) => {
      const { rows } = await pool.query(`select nextval(${COUNTRY_SEQUENCE})::integer as ordinal`)
      expect(rows).toEqual([{ ordinal: 900 }])
    })
    await withDatabase(target, async ({ writer }) => {
      const added = await sql<{ id: number }>`
        insert into audit_record (kind) values ('login') returning id`.execute(writer)
      const { rows } = await sql<{ most: number }>`
        select max(id) as most from audit_record where kind <> 'login' or id < ${added.rows[0]?.id}`.execute(
        writer,
      )
      expect(added.rows[0]?.id).toBeGreaterThan(rows[0]?.most as number)
      await expect(sql`delete from audit_record`.execute(writer)).rejects.toThrow(
        'neither changed nor removed',
      )
    })
  })

  test('go into no database that has something', async () => {
    expect(await agro(target, 'import', file('one.agro'))).toEqual({
      code: 1,
      stdout: '',
      stderr:
        'The database is not empty: admin_area has rows, of an import before or of a service with DEMO_DATA. An import needs a new one.\n',
    })
  })

  describe('into an empty database', () => {
    const empty = ownDatabase('empty')

    /** Imports a file with these lines; what is refused leaves nothing. */
    async function importing(lines: string[] | Buffer): Promise<string> {
      await writeFile(file('other.agro'), Buffer.isBuffer(lines) ? lines : gzipSync(lines.join('\n')))
      const { code, stderr } = await agro(empty, 'import', file('other.agro'))
      const users = await withDatabase(empty, ({ pool }) => pool.query('select from app_user'))
      expect({ code, users: users.rowCount }).toEqual({ code: 1, users: 0 })
      // Versions of Node say each in its way why a text is no JSON.
      return stderr.replaceAll(file('other.agro'), 'FILE').replace(/Unexpected token.*/, 'Unexpected token')
    }

    /** What a file becomes, by its lines and its bytes. */
    const CHANGES: Record<string, (lines: string[], packed: Buffer) => string[] | Buffer> = {
      'something else': () => Buffer.from('a text'),
      'another compressed file': () => ['{"a": 1}'],
      'what is no JSON': () => ['what is no JSON'],
      'a list of more than a mebibyte': ([head]) => [String(head), `[${'0,'.repeat(MEBIBYTE)}0]`],
      'a row of more than 64 mebibytes': ([head]) => [
        String(head),
        JSON.stringify('x'.repeat(65 * MEBIBYTE)),
      ],
      'half a file': (_, packed) => packed.subarray(0, packed.length / 2),
      'a file without its end': (lines) => lines.slice(0, -2),
      'one in which a name was changed': (lines) =>
        lines.map((line) => line.replace('Amina Bekele', 'Amina Bekela')),
      'one of an older schema': ([head, ...lines]) => [
        String(head).replace(new RegExp(`,\\{"name":"${LAST}[^}]*\\}`), ''),
        ...lines,
      ],
    }

    test('refuse what transcripts/imports.txt has, and leave nothing of it', async () => {
      const small = await createTestDatabase('empty')
      await agro(small, 'users', 'create', 'amina@example.org', '--name', 'Amina Bekele')
      await agro(small, 'export', file('small.agro'))
      await small.drop()
      const [lines, packed] = [await linesOf('small.agro'), await readFile(file('small.agro'))]
      const refusals: string[] = []
      for (const [what, change] of Object.entries(CHANGES)) {
        refusals.push(`${what}: ${await importing(change(lines, packed))}`)
      }
      const text = refusals
        .join('')
        .replaceAll(String(LAST_BUT_ONE), 'LAST-BUT-ONE')
        .replaceAll(String(LAST), 'LAST')
      await expect(text.replaceAll(VERSION, 'VERSION')).toMatchFileSnapshot('transcripts/imports.txt')
    })

    test('take tables that they do not name, with computed columns and partitions', async () => {
      const other = await createTestDatabase('empty')
      const make = (rows: string) => `
        create table by_month (
          id bigint generated always as identity,
          day date not null,
          twice bigint generated always as (2 * length(note)) stored,
          note text,
          parent bigint,
          primary key (id, day)
        ) partition by range (day);
        create table by_month_1 partition of by_month for values from ('2026-01-01') to ('2026-02-01');
        create table by_month_2 partition of by_month for values from ('2026-02-01') to ('2026-03-01');
        ${rows}`
      const rows = `insert into by_month (day, note) values ('2026-02-03', 'b'), ('2026-01-03', null), ('2026-01-04', '')`
      await withDatabase(other, ({ pool }) => pool.query(make(rows)))
      await withDatabase(empty, ({ pool }) => pool.query(make('')))
      expect((await agro(other, 'export', file('months.agro'))).code).toBe(0)
      expect(await agro(empty, 'import', file('months.agro'))).toMatchObject({ code: 0, stderr: '' })
      const found = await withDatabase(empty, async ({ pool }) => {
        await pool.query(`insert into by_month (day, note) values ('2026-02-05', 'later')`)
        return (await pool.query('select id, day, twice, note from by_month order by id')).rows
      })
      expect(found).toEqual([
        { id: 1, day: '2026-02-03', twice: 2, note: 'b' },
        { id: 2, day: '2026-01-03', twice: null, note: null },
        { id: 3, day: '2026-01-04', twice: 0, note: '' },
        { id: 4, day: '2026-02-05', twice: 10, note: 'later' },
      ])
      await other.drop()
    })
  })
})
