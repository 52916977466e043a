// Runs on a server alone: the statements of both stores are tried on both databases by test/data/tiles, and the embedded one waits for nobody.
import { readdir, readFile, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { sql } from 'kysely'
import { expect, onTestFinished, test, vi } from 'vitest'
import { buildApp } from '#src/app.ts'
import { deleteRelease } from '#src/catalog/removal-queries.ts'
import { loadConfig } from '#src/config.ts'
import { listRecords } from '#src/data/audit-queries.ts'
import type { TileStoreKind } from '#src/data/tiles/store.ts'
import { TILE_STORES } from '#src/data/tiles/stores.ts'
import { doAlone, lockWork } from '#src/data/work-lock.ts'
import { moveRelease } from '#src/extensions/tile-files/move.ts'
import { FILES_LOCK } from '#src/extensions/tile-files/store.ts'
import { removeUnusedFiles } from '#src/extensions/tile-files/unused-files.ts'
import { loadRelease } from '#src/ingest/load.ts'
import { answersOf, ingestKinds, KINDS } from '#test/ingest/kinds.ts'
import { openTestDatabase } from '#test/setup/database.ts'
import { newFolder } from '#test/setup/folders.ts'
import { openService } from '#test/setup/open-service.ts'
import { onePixelRelease } from '#test/setup/releases.ts'

const DAY_MS = 24 * 3_600_000

/** So many kinds of rasters: what stores have is compared for any pixels in test/data/tiles. */
const SOME = 4

const folder = join(await newFolder(), 'tiles')
let codes: string[]
const service = openService({
  template: 'empty',
  // Nothing is answered from memory: each answer is read from where the tiles are.
  settings: { TILE_STORE: String(pathToFileURL(folder)), TILE_CACHE_MB: '0', RELEASE_MAX_AGE_MS: '0' },
  prepare: async (database) => {
    codes = (await ingestKinds(database, KINDS.slice(0, SOME))).map(({ code }) => code)
  },
})

/** So many are moved back: each is written to the disk as a load is, which takes its time. */
const BACK = 2

test('rasters of many kinds are answered the same from files and from the database, byte for byte', async () => {
  const { database } = service
  const counts = async () => [await countOf('raster_tile'), await countOf('granule')]
  const move = async (some: string[], to: 'postgis' | 'files') => {
    for (const code of some) expect(await moveRelease(database, code, to)).toBe(true)
  }
  expect(await countOf('raster_tile')).toBe(0)
  const inFiles = await answers()
  const found = inFiles.filter((answer) => answer.startsWith('200'))
  expect(found.length).toBeGreaterThanOrEqual(2 * SOME)
  await move(codes.slice(BACK), 'postgis')
  const before = await counts()
  await move(codes.slice(0, BACK), 'postgis')
  expect(await countOf('granule')).toBe(0)
  expect(await answers()).toEqual(inFiles)
  await move(codes.slice(0, BACK), 'files')
  const back = await answers(service.app, BACK)
  expect(back).toEqual(inFiles.slice(0, back.length))
  expect(await counts()).toEqual(before)
  expect(await moveRelease(database, codes[0] as string, 'files')).toBe(false)
  await removeUnusedFiles(database, { now: Date.now() + DAY_MS })
})

test('whoever still believes the tiles to be where they were answers the same', async () => {
  const { database, testDatabase } = service
  const settings = { ...testDatabase.environment, RELEASE_MAX_AGE_MS: '60000', TILE_CACHE_MB: '0' }
  const app = await buildApp(loadConfig(settings), database)
  try {
    const before = await answers(app, 3)
    for (const to of ['postgis', 'files'] as const) {
      for (const code of codes.slice(0, 3)) await moveRelease(database, code, to)
      expect(await answers(app, 3)).toEqual(before)
    }
  } finally {
    await app.close()
  }
})

test('files that no release has are swept after a day', async () => {
  const { database } = service
  const count = async () => (await tiffs()).length
  const all = await count()
  await moveRelease(database, codes[1] as string, 'postgis')
  expect(await removeUnusedFiles(database)).toEqual({ files: 0, bytes: 0, unfinished: 0 })
  const { files } = await removeUnusedFiles(database, { dryRun: true, now: Date.now() + DAY_MS })
  expect(files).toBeGreaterThan(0)
  expect(await count()).toBe(all)
  expect((await removeUnusedFiles(database, { now: Date.now() + DAY_MS })).files).toBe(files)
  expect(await count()).toBe(all - files)
  expect(await moveRelease(database, codes[1] as string, 'files')).toBe(true)
  expect(await count()).toBe(all)
})

test('a release whose files are damaged is not moved, and one that was deleted cannot be', async () => {
  const { database } = service
  const code = codes[0] as string
  const tiles = await countOf('raster_tile')
  const names = await tiffs()
  const whole = new Map<string, Buffer>()
  for (const name of names) {
    const bytes = await readFile(join(folder, name))
    whole.set(name, bytes)
    await writeFile(join(folder, name), bytes.subarray(0, -1))
  }
  await expect(moveRelease(database, code, 'postgis')).rejects.toThrow()
  expect(await countOf('raster_tile')).toBe(tiles)
  for (const [name, bytes] of whole) await writeFile(join(folder, name), bytes)
  expect(await moveRelease(database, code, 'postgis')).toBe(true)
  await database.writer.transaction().execute((trx) => deleteRelease(trx, code, true))
  await expect(moveRelease(database, code, 'files')).rejects.toThrow(`There is no release ${code}`)
})

/** What happens one after the other, said by who waits or is done. */
async function inTurn(shared: boolean, begin: (onWait: () => void) => Promise<unknown>) {
  const events: string[] = []
  const held = shared
    ? await lockWork(service.database, 1, { shared: FILES_LOCK })
    : await lockWork(service.database, FILES_LOCK)
  let waits = () => {}
  const waiting = new Promise<void>((resolve) => {
    waits = resolve
  })
  const done = begin(() => {
    events.push('waits')
    waits()
  }).then(() => events.push('done'))
  await Promise.race([waiting, done])
  events.push('unlocked')
  held.unlock()
  await done
  return events
}

/** A release of one pixel. */
const CODE = 'fertilizer-eth-wheat-2026-07-v1'

const WAITED = ['waits', 'unlocked', 'done']

test('nothing is swept while a release is loaded or moved', async () => {
  const { database } = service
  expect(await inTurn(true, (onWait) => removeUnusedFiles(database, { onWait }))).toEqual(WAITED)
})

test('nothing is loaded or moved while files are swept, and two loads do not wait for each other', async () => {
  const { database } = service
  await loadRelease(database, onePixelRelease({ Urea: 1 }))
  const source = onePixelRelease({ Urea: 2 }, { forecastPeriod: '2031-01-01' })
  const load = (onWait: () => void) => loadRelease(database, source, { report: onWait })
  const move = (onWait: () => void) => moveRelease(database, CODE, 'postgis', { onWait })
  expect(await inTurn(false, load)).toEqual(WAITED)
  expect(await inTurn(false, move)).toEqual(WAITED)
  const other = onePixelRelease({ Urea: 3 }, { forecastPeriod: '2031-02-01' })
  expect(await inTurn(true, (report) => loadRelease(database, other, { report }))).toEqual([
    'done',
    'unlocked',
  ])
  expect(await moveRelease(database, CODE, 'files')).toBe(true)
})

test('what was not written to its end is swept after a day, and each sweep and move is audited', async () => {
  const { database } = service
  const [name] = await tiffs()
  const rest = join(folder, `${name}.0123456789ab`)
  await writeFile(rest, 'cut off')
  expect(await removeUnusedFiles(database)).toEqual({ files: 0, bytes: 0, unfinished: 0 })
  await utimes(rest, 0, 0)
  expect(await removeUnusedFiles(database)).toEqual({ files: 1, bytes: 7, unfinished: 1 })
  expect((await readdir(folder, { recursive: true })).filter((path) => path.includes('.tif.'))).toEqual([])
  const records = []
  const filter = { userId: undefined, since: undefined, kind: undefined }
  for await (const { kind, detail } of listRecords(database.writer, filter)) records.push([kind, detail])
  const moves = records.filter(([kind]) => kind === 'files_swept' || kind === 'release_moved')
  expect(moves.slice(0, 3)).toEqual([
    ['files_swept', { files: 1, bytes: 7, unfinished: 1 }],
    ['release_moved', { release: CODE, store: 'files' }],
    ['release_moved', { release: CODE, store: 'postgis' }],
  ])
})

test('a move that has lost its lock leaves everything to whoever has it by now', async () => {
  const { database } = service
  await moveRelease(database, CODE, 'postgis')
  const { files } = TILE_STORES as { files: Required<TileStoreKind> }
  const { createWriter } = files
  async function end(): Promise<void> {
    await sql`
      select pg_terminate_backend(pid) from pg_locks
      where locktype = 'advisory' and pid <> pg_backend_pid()
        and database = (select oid from pg_database where datname = current_database())`.execute(
      database.writer,
    )
    // Another one begins as soon as it can.
    const { unlock } = await lockWork(database, FILES_LOCK)
    unlock()
  }
  vi.spyOn(files, 'createWriter').mockImplementation(async (...of) => {
    const writer = await createWriter(...of)
    return { ...writer, finish: () => writer.finish().then(end) }
  })
  onTestFinished(() => void vi.restoreAllMocks())
  await expect(moveRelease(database, CODE, 'files')).rejects.toThrow(/terminat/)
  const { tile_store } = await database.writer
    .selectFrom('release')
    .select('tile_store')
    .where('code', '=', CODE)
    .executeTakeFirstOrThrow()
  expect(tile_store).toBe('postgis')
  expect(await moveRelease(database, CODE, 'files')).toBe(true)
})

test('nothing is swept on the word of a database that names no files, unless somebody insists', async () => {
  const other = await openTestDatabase('empty', { TILE_STORE: String(pathToFileURL(folder)) })
  try {
    const before = await tiffs()
    const now = Date.now() + DAY_MS
    await expect(removeUnusedFiles(other.database, { now })).rejects.toThrow('names no files at all')
    expect(await tiffs()).toEqual(before)
    const { files } = await removeUnusedFiles(other.database, { now, dryRun: true })
    expect(files).toBe(before.length)
    expect(await removeUnusedFiles(other.database, { now, force: true })).toMatchObject({ files })
    expect(await tiffs()).toEqual([])
  } finally {
    await other.close()
  }
})

test('work that is done alone is not held up for long by a machine that has gone away', async () => {
  const settings = await doAlone(service.database.writer, 1, async (trx) => {
    const { rows } = await sql`
      select current_setting('tcp_keepalives_idle') as idle, current_setting('tcp_keepalives_interval') as interval,
        current_setting('tcp_keepalives_count') as count`.execute(trx)
    return rows
  })
  expect(settings).toEqual([{ idle: '30', interval: '10', count: '3' }])
})

const tiffs = async () => (await readdir(folder, { recursive: true })).filter((path) => path.endsWith('.tif'))

const answers = (app = service.app, kinds = SOME) => answersOf(app, service.person, kinds)

async function countOf(table: 'raster_tile' | 'granule'): Promise<number> {
  const { count } = await service.database.writer
    .selectFrom(table)
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .executeTakeFirstOrThrow()
  return count
}
