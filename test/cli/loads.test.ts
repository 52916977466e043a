import { join } from 'node:path'
import pg from 'pg'
import { afterAll, afterEach, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest'
import { manifestText, writeManifest } from '#test/ingest/fixtures.ts'
import { writeTiff } from '#test/ingest/tiff.ts'
import { beginAgro, runAgro, startAgro } from '#test/setup/cli.ts'
import { newFolder } from '#test/setup/folders.ts'
import { ownDatabase } from '#test/setup/open-service.ts'
import { PATIENCE } from '#test/setup/patience.ts'
import { mountSmallDisk } from '#test/setup/small-disk.ts'

/** Pixels on each side: enough tiles to fill a disk of a megabyte. */
const SIZE = 512

const code = 'yield-eth-wheat-2025-01-v1'
const TILES = `${(SIZE / 16) ** 2} tiles`

const testDatabase = ownDatabase('empty')
let client: pg.Client
/** Holds up loads by its transaction. */
let holder: pg.Client
let manifest: string

beforeAll(async () => {
  client = new pg.Client(testDatabase.config.DATABASE_URL)
  holder = new pg.Client(testDatabase.config.DATABASE_URL)
  await Promise.all([client.connect(), holder.connect()])
  const folder = await newFolder()
  const row = Float32Array.from({ length: SIZE }, (_, column) => Math.sin(column) * 1000 + 2000)
  await writeTiff(join(folder, 'large.tif'), { width: SIZE, height: SIZE, row: () => row })
  manifest = await writeManifest(folder, manifestText([{ file: 'large.tif' }], { allow: ['extent'] }))
})
afterAll(async () => {
  await Promise.all([client.end(), holder.end()])
})
afterEach(async () => {
  await holder.query('rollback')
  await agro('releases', 'delete', code, '--force', '--yes')
  // Else the next release of the series would be a second version.
  await client.query('delete from release')
})

const agro = (...parameters: string[]) => runAgro(testDatabase, ...parameters)

const NOTHING = [0, 0, 0, 0, 0]

describe('a load that is running', () => {
  test('is listed as such, and can neither be deleted nor published', async () => {
    const load = await holdLoad(beginAgro)
    const { stdout } = await agro('releases', 'list', '--json')
    const [{ state, loader }] = JSON.parse(stdout)
    expect([state, loader]).toEqual(['loading', expect.any(Number)])
    const refusal = {
      code: 1,
      stdout: '',
      stderr: `${code} is being loaded (process ${loader} of the database): wait for it, or end that load first.\n`,
    }
    expect(await agro('releases', 'delete', code, '--yes', '--force')).toEqual(refusal)
    expect(await agro('releases', 'publish', code)).toEqual(refusal)
    const { rows: lockers } = await client.query(
      'select backend_xid as xid, backend_xmin as xmin from pg_stat_activity where pid = $1',
      [loader],
    )
    // It keeps no dead row of any table from being cleaned up.
    expect(lockers).toEqual([{ xid: null, xmin: null }])
    await holder.query('commit')
    expect((await load.ended).stdout).toMatch(`${code} is published: ${TILES}`)
  })

  test('is waited for by whoever ingests the same data, who then has nothing to do', async () => {
    const first = await holdLoad(beginAgro)
    const second = beginAgro(testDatabase, 'ingest', manifest)
    const waits = 'The same data are being loaded by another process: waiting for it.\n'
    await vi.waitUntil(() => second.result.stderr.includes(waits), PATIENCE)
    await holder.query('commit')
    expect((await first.ended).code).toBe(0)
    expect(await second.ended).toEqual({
      code: 0,
      stdout: `The same data are published as ${code}: nothing to do (--force loads them again).\n`,
      stderr: expect.stringContaining(waits),
    })
    expect((await rows()).slice(0, 3)).toEqual([1, 1, 1])
  })

  test('is replaced by whoever waits for it when it is killed, and what it left is deleted', async () => {
    const first = await holdLoad(startAgro)
    const second = beginAgro(testDatabase, 'ingest', manifest)
    await vi.waitUntil(() => second.result.stderr.includes('waiting for it'), PATIENCE)
    first.kill('SIGKILL')
    await first.ended
    await holder.query('commit')
    const { code: exit, stdout, stderr } = await second.ended
    expect([exit, stdout]).toEqual([0, expect.stringMatching(`^${code} is published: ${TILES}`)])
    expect(stderr).toContain(`The load of ${code} was cut off: its rows are deleted.\n`)
    expect((await rows()).slice(0, 3)).toEqual([1, 1, 1])
  })

  test('leaves nothing behind and ends with its code by SIGTERM', async () => {
    const load = await holdLoad(startAgro)
    load.kill('SIGTERM')
    const ending = 'Ending: what was begun is undone first (once more ends it at once).\n'
    await vi.waitUntil(() => load.result.stderr.includes(ending), PATIENCE)
    await holder.query('commit')
    const { code: ended, stdout } = await load.ended
    expect([ended, stdout]).toEqual([143, ''])
    expect(await rows()).toEqual(NOTHING)
  })

  test.each([
    ['its lock is', 'lock'],
    ['all its connections are', 'all'],
  ] as const)('ends with a sentence when %s lost, and leaves nothing behind', async (_, which) => {
    const load = await holdLoad(beginAgro)
    await terminate(which)
    await holder.query('commit')
    expect(await load.ended).toEqual({
      code: 1,
      stdout: '',
      stderr: expect.stringMatching(/\nThe database went away: [^\n]+\.\n$/),
    })
    expect(await rows()).toEqual(NOTHING)
  })
})

test('a release that waits to be published is not, by Ctrl-C', async () => {
  expect((await agro('ingest', manifest, '--no-publish')).code).toBe(0)
  await holder.query('begin; lock table publication in share row exclusive mode')
  const publishing = startAgro(testDatabase, 'ingest', manifest)
  const waits = `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`
  await vi.waitUntil(async () => (await client.query(waits)).rowCount === 1, PATIENCE)
  publishing.kill('SIGINT')
  await vi.waitUntil(() => publishing.result.stderr.includes('Ending: '), PATIENCE)
  await holder.query('commit')
  const { code: exit, stdout } = await publishing.ended
  expect([exit, stdout]).toEqual([130, ''])
  const { rows: published } = await client.query('select from publication')
  expect(published).toEqual([])
})

test('a copy that was loaded before there were checks is no reason not to load the data', async () => {
  await agro('ingest', manifest, '--no-publish')
  await client.query('update release set findings = null')
  const { stdout } = await agro('ingest', manifest)
  const second = code.replace('-v1', '-v2')
  expect(stdout).toMatch(`${second} is published: ${TILES}`)
  await agro('releases', 'delete', second, '--force', '--yes')
})

test('a load whose disk gets full ends with a sentence, and leaves nothing behind', async ({ skip }) => {
  const { rows: settings } = await client.query("select current_setting('data_directory') as folder")
  const disk = mountSmallDisk(settings[0].folder, 1)
  if (!disk) return skip('only root can mount a small disk, on the machine of the server')
  onTestFinished(disk.unmount)
  const { rows: named } = await client.query('select current_database() as name')
  const tablespace = `${named[0].name}_small`
  await client.query(`create tablespace ${tablespace} location '${disk.folder}'`)
  await client.query(`truncate raster_tile; alter table raster_tile set tablespace ${tablespace}`)
  const { code: exit, stdout, stderr } = await agro('ingest', manifest)
  expect([exit, stdout]).toEqual([1, ''])
  expect(stderr).toMatch(
    /\nThe disk of the database is full: could not extend file "[^"]+": No space left on device\. Make room there, and do it again\. What a load had written is deleted; `vacuum raster_tile, tile_summary` there frees its room\.\n$/,
  )
  expect(await rows()).toEqual(NOTHING)
  await client.query('alter table raster_tile set tablespace pg_default')
  await client.query(`drop tablespace ${tablespace}`)
  expect((await agro('ingest', manifest)).stdout).toMatch(`${code} is published: ${TILES}`)
})

async function rows(): Promise<number[]> {
  const tables = ['release', 'coverage', 'layer', 'raster_tile', 'tile_summary']
  const counts = tables.map((table) => `(select count(*)::integer from ${table})`)
  const { rows: found } = await client.query({ text: `select ${counts.join()}`, rowMode: 'array' })
  return found[0] ?? []
}

/** Begins a load which has written all tiles, and cannot write its layers before the transaction of the holder ends. */
async function holdLoad<Load>(begin: (...parameters: Parameters<typeof beginAgro>) => Load): Promise<Load> {
  await holder.query('begin; lock table layer in share row exclusive mode')
  const load = begin(testDatabase, 'ingest', manifest)
  await vi.waitUntil(
    async () =>
      (
        await client.query(
          `select from pg_stat_activity
           where datname = current_database() and wait_event_type = 'Lock' and query like 'insert into "layer"%'`,
        )
      ).rowCount === 1,
    PATIENCE,
  )
  return load
}

/** Ends the connections of loads that hold a lock of theirs, or all of them. */
async function terminate(which: 'lock' | 'all'): Promise<void> {
  const held =
    "exists (select from pg_locks where pg_locks.pid = pg_stat_activity.pid and locktype = 'advisory')"
  await client.query(
    `select pg_terminate_backend(pid) from pg_stat_activity
     where datname = current_database() and application_name like 'agro-advisory %'
       and ${which === 'lock' ? held : 'true'}`,
  )
}
