import { cp, writeFile } from 'node:fs/promises'
import { pathToFileURL } from 'node:url'
import { sql } from 'kysely'
import pg from 'pg'
import { afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import { migrate } from '#src/data/migrate.ts'
import { OperatorError } from '#src/errors.ts'
import { loadRelease } from '#src/ingest/load.ts'
import { newFolder } from '#test/setup/folders.ts'
import { openApp } from '#test/setup/open-service.ts'
import { PATIENCE } from '#test/setup/patience.ts'
import { newPerson, type Person } from '#test/setup/people.ts'
import { onePixelRelease, PIXEL_CENTRE } from '#test/setup/releases.ts'

// Runs on a server alone: the embedded database has one session, so nobody is in the way.

describe('a migration while a dump is under way', () => {
  const service = openApp({
    template: 'empty',
    // Each point asks for what is published, and for its pixel; none may wait for long.
    settings: { RELEASE_MAX_AGE_MS: '0', TILE_CACHE_MB: '0', STATEMENT_TIMEOUT_MS: '2500' },
    prepare: (database) => loadRelease(database, onePixelRelease({ Urea: 1 })),
  })
  let person: Person
  let dump: pg.Client
  let dumpProcess: number
  let folder: URL

  beforeAll(async () => {
    person = await newPerson(service.app)
  })

  beforeEach(async () => {
    folder = pathToFileURL(`${await newFolder()}/`)
    await cp('sql', folder, { recursive: true })
    await writeFile(
      new URL('migrations/9001_columns.sql', folder),
      'alter table release add column test_note text; alter table history_item add column test_note text',
    )
    dump = new pg.Client({
      connectionString: service.database.pool.options.connectionString,
      application_name: 'a dump',
    })
    await dump.connect()
    const { rows } = await dump.query(
      `select pg_backend_pid() as pid, string_agg(quote_ident(relname), ', ') as tables
      from pg_class where relnamespace = 'public'::regnamespace and relkind = 'r'`,
    )
    dumpProcess = rows[0].pid
    await dump.query(`begin; lock table ${rows[0].tables} in access share mode`)
  })

  afterEach(() => dump.end())

  /** A point with a token reads what is published, and writes its history. */
  async function ask(): Promise<unknown> {
    const sent = { by: person, payload: PIXEL_CENTRE }
    const { status, body } = await service.post('/advisory/fertilizer/point', sent)
    return status === 200 && body.history_id ? undefined : [status, body]
  }

  test('waits in short attempts, lets requests of the older process go on, and is done when the dump is', async () => {
    const messages: string[] = []
    const failures: unknown[] = []
    let asked = 0
    let migrated = false
    const load = [1, 2, 3].map(async () => {
      while (!migrated) {
        const failure = await ask()
        if (failure) failures.push(failure)
        asked++
      }
    })
    const migration = migrate(service.database.writer, folder, {
      progress: (message) => messages.push(message),
    }).finally(() => {
      migrated = true
    })
    await vi.waitFor(() => expect(messages.length).toBeGreaterThanOrEqual(3), PATIENCE)
    await dump.query('commit')
    expect(await migration).toEqual(['9001_columns.sql'])
    await Promise.all(load)
    expect(failures).toEqual([])
    expect(asked).toBeGreaterThan(3)
    expect(messages.slice(0, 3)).toEqual(
      [0.25, 0.5, 1].map((seconds) =>
        expect.stringMatching(
          new RegExp(
            `^the schema is locked by process ${dumpProcess} \\(a dump, role \\w+, from [.:\\w]+, in a transaction since [-\\d]+ [:\\d]+ UTC\\): trying again in ${seconds} s$`,
          ),
        ),
      ),
    )
    await sql`alter table release drop column test_note`.execute(service.database.writer)
    await sql`alter table history_item drop column test_note`.execute(service.database.writer)
    await sql`delete from applied_script where name like '9%'`.execute(service.database.writer)
  })

  test('gives up in the end with a sentence that names who holds the lock, and leaves nothing', async () => {
    const migration = migrate(service.database.writer, folder, { patienceMs: 300 })
    const error = await migration.catch((reason) => reason)
    expect(error).toBeInstanceOf(OperatorError)
    expect(error.message).toMatch(
      new RegExp(
        `^The schema could not be changed for 0\\.3 s: process ${dumpProcess} \\(a dump, .*\\) holds locks on it\\. Nothing was changed; end that, or try again later\\.$`,
      ),
    )
    await dump.query('commit')
    expect(await ask()).toBeUndefined()
    expect(await migrate(service.database.writer)).toEqual([])
  })
})
