// Runs on a server alone: the embedded database takes more memory than what is measured.
import { copyFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { deflateSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { measureAgro, runAgro } from '#test/setup/cli.ts'
import { createTestDatabase, type TestDatabase } from '#test/setup/database.ts'
import { newFolder } from '#test/setup/folders.ts'
import { zlibZeros } from './bombs.ts'
import { manifestText, writeManifest } from './fixtures.ts'
import { TAGS, type Tag, type TiffOptions, writeTiff } from './tiff.ts'

/** What a command may take, whatever it is given. */
const BOUND = 512 * 2 ** 20

const DEFLATE: Record<number, Tag> = { 259: ['short', [8]] }
const oneStrip = (height: number): Record<number, Tag> => ({ ...DEFLATE, 278: ['long', [height]] })

/** How far a command is; a slow machine is told more often. */
const PROGRESS = /^(loading|allowed|deleting what is left of \S+): .*\n/gm

interface Bomb {
  what: string
  options: TiffOptions
  says: string | RegExp
}

const BOMBS: Bomb[] = [
  {
    what: 'a strip of 100 MB that has 1 GB',
    options: {
      width: 5000,
      height: 5000,
      strips: [zlibZeros(1e9)],
      tags: {
        ...oneStrip(5000),
        [TAGS.pixelScale]: ['double', [0.001, 0.001, 0]],
        [TAGS.nodata]: ['ascii', '0\0'],
      },
    },
    says: /^bomb\.tif cannot be read at rows 0 to \d+: the block at byte \d+ holds more than the 100000000 bytes of its pixels\.\n$/,
  },
  {
    what: 'a strip that says it has 1,600 bytes and has 1 GB',
    options: { width: 20, height: 20, strips: [zlibZeros(1e9)], tags: oneStrip(20) },
    says: 'bomb.tif cannot be read at rows 0 to 19: its DEFLATE data hold more than the 1600 bytes of its pixels.\n',
  },
  {
    what: 'strips of 64 MB, of which a window has many',
    options: {
      width: 4000,
      height: 40_000,
      bits: 8,
      format: 1,
      strips: Array(10).fill(zlibZeros(64e6)),
      tags: {
        ...oneStrip(4000),
        [TAGS.pixelScale]: ['double', [0.001, 0.001, 0]],
        277: ['short', [4]],
        258: ['short', [8, 8, 8, 8]],
        339: ['short', [1, 1, 1, 1]],
      },
    },
    // What it is full of is no bomb, only the sum at the end is wrong.
    says: /^bomb\.tif cannot be read at rows \d+ to \d+: incorrect data check\.\n$/,
  },
  {
    what: 'a block of thousands of bands',
    options: {
      width: 500,
      height: 500,
      bits: 8,
      format: 1,
      strips: [zlibZeros(6e8)],
      tags: {
        ...oneStrip(500),
        258: ['short', Array(2400).fill(8)],
        277: ['short', [2400]],
        339: ['short', Array(2400).fill(1)],
      },
    },
    // What it is full of is no bomb, only the sum at the end is wrong.
    says: /^bomb\.tif cannot be read at rows 0 to \d+: incorrect data check\.\n$/,
  },
]

describe('agro ingest takes 512 MiB at most', () => {
  let testDatabase: TestDatabase
  let folder: string
  beforeAll(async () => {
    folder = await newFolder()
    testDatabase = await createTestDatabase('empty')
  })
  afterAll(() => testDatabase.drop())

  async function loaded(manifest: string, tiles: number): Promise<void> {
    const { peakBytes, stdout, ...result } = await measureAgro(testDatabase, 'ingest', manifest)
    expect({ ...result, stderr: result.stderr.replace(PROGRESS, '') }).toEqual({ code: 0, stderr: '' })
    expect(stdout).toMatch(
      new RegExp(` is published( in the place of \\S+)?: ${tiles} tiles in [\\d.]+ s\\.\n$`),
    )
    expect(peakBytes).toBeLessThan(BOUND)
  }

  test.each(BOMBS)('and refuses $what', async ({ options, says }) => {
    const file = await writeTiff(join(folder, 'bomb.tif'), options)
    expect((await stat(file)).size).toBeLessThan(5e6)
    const manifest = await writeManifest(folder, manifestText([{ file }], { allow: ['extent'] }))
    const { code, stderr, peakBytes } = await measureAgro(testDatabase, 'ingest', manifest)
    const said = stderr.replace(PROGRESS, '').replaceAll(`${folder}/`, '')
    expect([code, said]).toEqual([1, typeof says === 'string' ? says : expect.stringMatching(says)])
    expect(peakBytes).toBeLessThan(BOUND)
  })

  test('and loads eight layers that are one strip of 55 MB each', async () => {
    const [width, height] = [3906, 1767]
    const pixels = new Float64Array(width * height)
    // Values in one corner: there is nothing to store of the others.
    for (let row = 0; row < 100; row++) pixels.fill(row + 1, row * width, row * width + 100)
    const first = await writeTiff(join(folder, 'strip.tif'), {
      width,
      height,
      bits: 64,
      strips: [deflateSync(Buffer.from(pixels.buffer), { level: 1 })],
      tags: { ...oneStrip(height), [TAGS.pixelScale]: ['double', [0.001, 0.001, 0]] },
    })
    const layers = []
    for (let layer = 1; layer <= 8; layer++) {
      const file = join(folder, `strip-${layer}.tif`)
      await copyFile(first, file)
      layers.push({ file, scenario: `Scenario ${layer}`, nodata: 0 })
    }
    const manifest = await writeManifest(
      folder,
      manifestText(layers, { allow: ['empty', 'extent', 'scenarios-alike'] }),
    )
    await loaded(manifest, 49)
  })

  test('and loads 38,400 tiles of one pixel, which are all of one window', async () => {
    const file = join(folder, 'tiny.tif')
    const [width, height] = [300, 128]
    const pixel = deflateSync(Buffer.from(Float32Array.of(7).buffer))
    const tiles = (value: number): Tag => ['long', Array(width * height).fill(value)]
    const options = { width, height, strips: [pixel] }
    const none: Tag = ['long', []]
    const one: Tag = ['short', [1]]
    const tags = { ...DEFLATE, 273: none, 278: none, 279: none, 322: one, 323: one, 325: tiles(pixel.length) }
    // All of them are the same bytes, which lie at the end of the file.
    await writeTiff(file, { ...options, tags: { ...tags, 324: tiles(0) } })
    const { size } = await stat(file)
    await writeTiff(file, { ...options, tags: { ...tags, 324: tiles(size - pixel.length) } })
    const manifest = await writeManifest(
      folder,
      manifestText([{ file, scenario: 'Tiny' }], { allow: ['extent'] }),
    )
    await loaded(manifest, 152)
  })

  test('and loads of a sparse file what was written alone, unless all else would be values', async () => {
    // 3.6 GB of pixels, of which one strip of 1.92 MB was written.
    const [size, rows] = [30_000, 16]
    const pixels = Float32Array.from({ length: size * rows }, (_, index) => 1000 + (index % 500))
    const file = await writeTiff(join(folder, 'sparse.tif'), {
      width: size,
      height: size,
      strips: Array.from({ length: size / rows }, (_, index) =>
        index === 1000 ? Buffer.from(pixels.buffer) : Buffer.alloc(0),
      ),
      tags: {
        278: ['long', [rows]],
        [TAGS.pixelScale]: ['double', [0.0005, 0.0005, 0]],
        [TAGS.nodata]: ['ascii', '-9999\0'],
      },
    })
    const settings = { allow: ['empty', 'extent'], forecast_period: '2025-02' }
    await loaded(await writeManifest(folder, manifestText([{ file }], settings)), size / 16)
    const code = 'yield-eth-wheat-2025-02-v1'
    const shown = JSON.parse((await runAgro(testDatabase, 'releases', 'show', code, '--json')).stdout)
    const statistics = { validCount: rows * size, minimum: 1000, maximum: 1499, mean: 1249.5 }
    expect(shown.layers).toMatchObject([statistics])

    const dense = await writeManifest(folder, manifestText([{ file, nodata: 'none' }], settings))
    const refused = await runAgro(testDatabase, 'ingest', dense)
    expect([refused.code, refused.stderr]).toEqual([
      1,
      expect.stringMatching(
        /sparse\.tif has \d+ bytes and says that they hold 3600000000 bytes of pixels: more than 1000 for one are not read of an image over 1073741824 bytes\.\n$/,
      ),
    ])
  })
})
