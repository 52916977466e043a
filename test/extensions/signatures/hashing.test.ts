import { readdir, rename } from 'node:fs/promises'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { sql } from 'kysely'
import { expect, test, vi } from 'vitest'
import { loadRelease } from '#src/ingest/load.ts'
import { createTestApp, startApp } from '#test/setup/app.ts'
import { newFolder } from '#test/setup/folders.ts'
import { captureLog } from '#test/setup/log.ts'
import { testOnServer } from '#test/setup/on-server.ts'
import { openService } from '#test/setup/open-service.ts'
import { PATIENCE } from '#test/setup/patience.ts'
import { onePixelRelease } from '#test/setup/releases.ts'
import { hasTileFiles } from '#test/setup/tile-files.ts'

const service = openService()

testOnServer('two processes share the releases without hashes, and compute each once', async () => {
  const { app, database, testDatabase } = service
  const listRoots = async () => {
    const { rows } = await sql<{ code: string; root: Buffer | null }>`
      select code, root from release left join release_proof on release_id = id order by code`.execute(
      database.writer,
    )
    return rows
  }
  const before = await listRoots()
  expect(before.length).toBeGreaterThan(3)
  await database.pool.query(`
    create table computed (release_id bigint);
    create function note_computed() returns trigger language plpgsql as $$
    begin
      insert into computed values (new.release_id);
      return new;
    end $$;
    create trigger note_computed after insert or update on release_proof for each row
    when (new.root is not null) execute function note_computed();
    delete from proof_node;
    delete from release_proof`)
  const other = await startApp(testDatabase.config)
  try {
    await vi.waitFor(async () => {
      for (const one of [app, other.app]) one.jobs.wake('hash-releases')
      expect(await listRoots()).toEqual(before)
    }, PATIENCE)
  } finally {
    await other.close()
  }
  const { rows } = await sql<{ times: number }>`
    select count(*)::integer as times from computed group by release_id`.execute(database.writer)
  expect(rows).toEqual(before.map(() => ({ times: 1 })))
})

/** The minutes that a claim still lasts; null for none. */
const CLAIMS = `
  select code, root is not null as hashed, round(extract(epoch from leased_until - now()) / 60)::integer as minutes
  from release left join release_proof on release_id = id order by id`

const testOnFiles = hasTileFiles ? testOnServer : test.skip

testOnFiles('a release that cannot be read keeps its claim, and others get their hashes', async () => {
  const folder = await newFolder()
  const store = join(folder, 'tiles')
  const { app, database, close } = await createTestApp({
    template: 'empty',
    settings: { TILE_STORE: String(pathToFileURL(store)) },
    async prepare(prepared) {
      await loadRelease(prepared, onePixelRelease({ Urea: 1 }, { forecastPeriod: '2026-01-01' }))
      await loadRelease(prepared, onePixelRelease({ Urea: 2 }, { forecastPeriod: '2026-02-01' }))
    },
  })
  const read = async (text: string) => (await database.pool.query(text)).rows
  try {
    const before = await read('select root from release_proof order by release_id')
    await read('delete from proof_node; delete from release_proof; delete from publication')
    const [{ name }] = await read('select name from granule order by coverage_id limit 1')
    const path = join(store, name.slice(0, 2), `${name}.tif`)
    await rename(path, join(folder, 'away'))
    await vi.waitFor(async () => {
      app.jobs.wake('hash-releases')
      expect(await read(CLAIMS)).toMatchObject([{ hashed: false, minutes: 10 }, { hashed: true }])
    }, PATIENCE)
    await rename(join(folder, 'away'), path)
    await read('update release_proof set leased_until = now() where root is null')
    await vi.waitFor(async () => {
      app.jobs.wake('hash-releases')
      expect(await read('select root from release_proof order by release_id')).toEqual(before)
    }, PATIENCE)
    expect(await readdir(folder)).toEqual(['tiles'])
  } finally {
    await close()
  }
})

testOnServer('what is no longer there at the end is not hashed, and its claim is given back', async () => {
  const { app, database, close } = await createTestApp({
    template: 'empty',
    settings: { LOG_LEVEL: 'info' },
    prepare: (prepared) => loadRelease(prepared, onePixelRelease({ Urea: 1 })),
  })
  const read = async (text: string) => (await database.pool.query(text)).rows
  const log = captureLog(app)
  const told = () => log.filter((line) => line.includes('the hashes of a release are computed'))
  try {
    await read(`
      delete from proof_node;
      delete from release_proof;
      create function take_away() returns trigger language plpgsql as $$
      begin
        update release set status = 'loading';
        return null;
      end $$;
      create trigger take_away after insert on proof_node for each row execute function take_away()`)
    app.jobs.wake('hash-releases')
    await vi.waitFor(
      async () => expect(await read(CLAIMS)).toMatchObject([{ hashed: false, minutes: 0 }]),
      PATIENCE,
    )
    expect(told()).toEqual([])
    await read("drop trigger take_away on proof_node; update release set status = 'ready'")
    await vi.waitFor(async () => {
      app.jobs.wake('hash-releases')
      expect(await read(CLAIMS)).toMatchObject([{ hashed: true }])
      expect(told()).toHaveLength(1)
    }, PATIENCE)
  } finally {
    await close()
  }
})

testOnServer('a process that stops gives its claim back', async () => {
  const { pool } = service.database
  await pool.query('delete from release_proof')
  const other = await startApp(service.testDatabase.config)
  const connection = await pool.connect()
  try {
    await connection.query('begin; lock table raster_tile in access exclusive mode')
    other.app.jobs.wake('hash-releases')
    const claims = 'select root, leased_until > now() as claimed from release_proof'
    await vi.waitFor(
      async () => expect((await pool.query(claims)).rows).toEqual([{ root: null, claimed: true }]),
      PATIENCE,
    )
    const closed = other.close()
    await connection.query('rollback')
    await closed
    expect((await pool.query(claims)).rows).toEqual([{ root: null, claimed: false }])
  } finally {
    connection.release()
  }
})
