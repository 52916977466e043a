// Runs on a server alone: what is read of a file does not depend on the database.
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { runAgro } from '#test/setup/cli.ts'
import { createTestDatabase, type TestDatabase } from '#test/setup/database.ts'
import { newFolder } from '#test/setup/folders.ts'
import { manifestText, writeManifest } from './fixtures.ts'
import { TAGS, writeTiff } from './tiff.ts'

/** Pixels on each side: 3.6 GB of them, of which one strip of 1.92 MB was written. */
const SIZE = 30_000
const STRIP_ROWS = 16
const WRITTEN = 1000

let testDatabase: TestDatabase
let folder: string

beforeAll(async () => {
  testDatabase = await createTestDatabase('empty')
  folder = await newFolder()
  const pixels = Float32Array.from({ length: SIZE * STRIP_ROWS }, (_, index) => 1000 + (index % 500))
  await writeTiff(join(folder, 'sparse.tif'), {
    width: SIZE,
    height: SIZE,
    strips: Array.from({ length: SIZE / STRIP_ROWS }, (_, index) =>
      index === WRITTEN ? Buffer.from(pixels.buffer) : Buffer.alloc(0),
    ),
    tags: {
      278: ['long', [STRIP_ROWS]],
      [TAGS.pixelScale]: ['double', [0.0005, 0.0005, 0]],
      [TAGS.nodata]: ['ascii', '-9999\0'],
    },
  })
})
afterAll(() => testDatabase.drop())

const ingest = async (layer: object = {}) =>
  runAgro(
    testDatabase,
    'ingest',
    await writeManifest(
      folder,
      manifestText([{ file: 'sparse.tif', ...layer }], { allow: ['empty', 'extent'] }),
    ),
  )

test('of a sparse file only what was written is loaded, however large it says it is', async () => {
  const { code, stdout } = await ingest()
  expect([code, stdout]).toEqual([0, expect.stringContaining(`: ${SIZE / 16} tiles in `)])
  const shown = await runAgro(testDatabase, 'releases', 'show', 'yield-eth-wheat-2025-01-v1', '--json')
  expect(JSON.parse(shown.stdout).layers).toEqual([
    expect.objectContaining({
      validCount: STRIP_ROWS * SIZE,
      minimum: 1000,
      maximum: 1499,
      mean: 1249.5,
    }),
  ])
})

test('a sparse file is refused where what was not written would be values', async () => {
  const { code, stderr } = await ingest({ nodata: 'none' })
  expect([code, stderr]).toEqual([
    1,
    expect.stringMatching(
      /sparse\.tif has \d+ bytes and says that they hold 3600000000 bytes of pixels: more than 1000 for one are not read of an image over 1073741824 bytes\.\n$/,
    ),
  ])
})
