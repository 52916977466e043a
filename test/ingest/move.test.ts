// Runs on a server alone: the statements of both stores are tried on both databases by test/data/tiles.
import { readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { buildApp } from '#src/app.ts'
import { deleteRelease } from '#src/catalog/removal-queries.ts'
import { loadConfig } from '#src/config.ts'
import { moveRelease } from '#src/ingest/move.ts'
import { removeUnusedFiles } from '#src/ingest/unused-files.ts'
import { createTestApp, type TestApp } from '#test/setup/app.ts'
import { newFolder } from '#test/setup/folders.ts'
import { newPerson, type Person } from '#test/setup/people.ts'
import { answersOf, ingestKinds, KINDS } from './kinds.ts'

const DAY_MS = 24 * 3_600_000

/** So many kinds of rasters: what stores have is compared for any pixels in test/data/tiles. */
const SOME = 12

let service: TestApp
let person: Person
let folder: string
let codes: string[]
beforeAll(async () => {
  folder = join(await newFolder(), 'tiles')
  service = await createTestApp({
    template: 'empty',
    // Nothing is answered from memory: each answer is read from where the tiles are.
    settings: { TILE_STORE: String(pathToFileURL(folder)), TILE_CACHE_MB: '0', RELEASE_MAX_AGE_MS: '0' },
    prepare: async (database) => {
      codes = (await ingestKinds(database, KINDS.slice(0, SOME))).map(({ code }) => code)
    },
  })
  person = await newPerson(service.app)
}, 120_000)
afterAll(() => service.close())

const answers = (app = service.app, kinds = SOME) => answersOf(app, person, kinds)

async function countOf(table: 'raster_tile' | 'granule'): Promise<number> {
  const { count } = await service.database.writer
    .selectFrom(table)
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .executeTakeFirstOrThrow()
  return count
}

/** So many are moved back: each is written to the disk as a load is, which takes its time. */
const BACK = 4

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
}, 240_000)

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
  const count = async () =>
    (await readdir(folder, { recursive: true })).filter((name) => name.endsWith('.tif')).length
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
  const names = (await readdir(folder, { recursive: true })).filter((name) => name.endsWith('.tif'))
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
