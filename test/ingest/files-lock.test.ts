// Runs on a server alone: the embedded database has one process, which waits for nobody.
import { readdir, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { sql } from 'kysely'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { listRecords } from '#src/data/audit-queries.ts'
import type { FileStore } from '#src/data/files/store.ts'
import { doAlone, lockWork } from '#src/data/work-lock.ts'
import { loadRelease } from '#src/ingest/load.ts'
import { moveRelease } from '#src/ingest/move.ts'
import { FILES_LOCK, removeUnusedFiles } from '#src/ingest/unused-files.ts'
import { type OpenTestDatabase, openTestDatabase } from '#test/setup/database.ts'
import { newFolder } from '#test/setup/folders.ts'
import { onePixelRelease } from '#test/setup/releases.ts'

let opened: OpenTestDatabase
let folder: string
let code: string
beforeAll(async () => {
  folder = join(await newFolder(), 'tiles')
  opened = await openTestDatabase('empty', { TILE_STORE: String(pathToFileURL(folder)) })
  code = (await loadRelease(opened.database, onePixelRelease({ Urea: 1 }))).code
})
afterAll(() => opened.close())

/** What happens in turn, told by whoever waits or is done. */
async function inTurn(lock: { shared: boolean }, begin: (onWait: () => void) => Promise<unknown>) {
  const events: string[] = []
  const { shared } = lock
  const held = shared
    ? await lockWork(opened.database, 1, { shared: FILES_LOCK })
    : await lockWork(opened.database, FILES_LOCK)
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

const WAITED = ['waits', 'unlocked', 'done']

test('nothing is swept while a release is loaded or moved', async () => {
  const { database } = opened
  expect(await inTurn({ shared: true }, (onWait) => removeUnusedFiles(database, { onWait }))).toEqual(WAITED)
})

test('nothing is loaded or moved while files are swept, and two loads do not wait for each other', async () => {
  const { database } = opened
  const source = onePixelRelease({ Urea: 2 }, { forecastPeriod: '2031-01-01' })
  const load = (onWait: () => void) => loadRelease(database, source, { tell: onWait })
  const move = (onWait: () => void) => moveRelease(database, code, 'postgis', { tell: onWait })
  expect(await inTurn({ shared: false }, load)).toEqual(WAITED)
  expect(await inTurn({ shared: false }, move)).toEqual(WAITED)
  const other = onePixelRelease({ Urea: 3 }, { forecastPeriod: '2031-02-01' })
  expect(await inTurn({ shared: true }, (tell) => loadRelease(database, other, { tell }))).toEqual([
    'done',
    'unlocked',
  ])
  expect(await moveRelease(database, code, 'files')).toBe(true)
})

test('what was not written to its end is swept after a day, and each sweep and move is audited', async () => {
  const { database } = opened
  const [name] = (await readdir(folder, { recursive: true })).filter((path) => path.endsWith('.tif'))
  const rest = join(folder, `${name}.0123456789ab`)
  await writeFile(rest, 'cut off')
  expect(await removeUnusedFiles(database)).toEqual({ files: 0, bytes: 0, unfinished: 0 })
  await utimes(rest, 0, 0)
  expect(await removeUnusedFiles(database)).toEqual({ files: 1, bytes: 7, unfinished: 1 })
  expect((await readdir(folder, { recursive: true })).filter((path) => path.includes('.tif.'))).toEqual([])
  const records = []
  const filter = { userId: undefined, since: undefined, kind: undefined }
  for await (const { kind, detail } of listRecords(database.writer, filter)) records.push([kind, detail])
  expect(records.filter(([kind]) => kind === 'files_swept' || kind === 'release_moved')).toEqual([
    ['files_swept', { files: 1, bytes: 7, unfinished: 1 }],
    ['release_moved', { release: code, store: 'files' }],
    ['release_moved', { release: code, store: 'postgis' }],
  ])
})

test('a move that has lost its lock leaves everything to whoever has it by now', async () => {
  const { database } = opened
  await moveRelease(database, code, 'postgis')
  const files = database.files as FileStore
  const write: FileStore['write'] = async (...file) => {
    await files.write(...file)
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
  const moving = moveRelease({ ...database, files: { ...files, write } }, code, 'files')
  await expect(moving).rejects.toThrow(/terminat/)
  const { tile_store } = await database.writer
    .selectFrom('release')
    .select('tile_store')
    .where('code', '=', code)
    .executeTakeFirstOrThrow()
  expect(tile_store).toBe('postgis')
  expect(await moveRelease(database, code, 'files')).toBe(true)
})

test('nothing is swept on the word of a database that names no files, unless somebody insists', async () => {
  const other = await openTestDatabase('empty', { TILE_STORE: String(pathToFileURL(folder)) })
  try {
    const paths = async () =>
      (await readdir(folder, { recursive: true })).filter((path) => path.endsWith('.tif'))
    const before = await paths()
    const now = Date.now() + 25 * 3_600_000
    await expect(removeUnusedFiles(other.database, { now })).rejects.toThrow('names no files at all')
    expect(await paths()).toEqual(before)
    const { files } = await removeUnusedFiles(other.database, { now, dryRun: true })
    expect(files).toBe(before.length)
    expect(await removeUnusedFiles(other.database, { now, force: true })).toMatchObject({ files })
    expect(await paths()).toEqual([])
  } finally {
    await other.close()
  }
})

test('work that is done alone is not held up for long by a machine that has gone away', async () => {
  const settings = await doAlone(opened.database.writer, 1, async (trx) => {
    const { rows } = await sql`
      select current_setting('tcp_keepalives_idle') as idle, current_setting('tcp_keepalives_interval') as interval,
        current_setting('tcp_keepalives_count') as count`.execute(trx)
    return rows
  })
  expect(settings).toEqual([{ idle: '30', interval: '10', count: '3' }])
})
