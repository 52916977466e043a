// Runs on a server alone: the embedded database takes more memory than what is measured.
import { readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { deflateSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type CliResult, measureAgro, runAgro } from '#test/setup/cli.ts'
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
  /** Changes the bytes of the file. */
  damage?: (bytes: Buffer) => void
  says: string | RegExp
}

const BOMBS: Bomb[] = [
  {
    what: '3.6 GB of pixels in one strip of 3.5 MB',
    options: { width: 30_000, height: 30_000, strips: [zlibZeros(3.6e9)], tags: oneStrip(30_000) },
    says: 'bomb.tif has 3501097 bytes and says that they hold 3600000000 bytes of pixels: more than 1000 for one are not read of an image over 1073741824 bytes.\n',
  },
  {
    what: 'a strip of 600 MB that has 3 GB',
    options: {
      width: 15_000,
      height: 10_000,
      strips: [zlibZeros(3e9)],
      tags: {
        ...oneStrip(10_000),
        [TAGS.pixelScale]: ['double', [0.001, 0.001, 0]],
        [TAGS.nodata]: ['ascii', '0\0'],
      },
    },
    says: /^bomb\.tif cannot be read at rows 0 to \d+: the block at byte \d+ holds more than the 600000000 bytes of its pixels\.\n$/,
  },
  {
    what: 'a strip that says it has 1,600 bytes and has 3.6 GB',
    options: { width: 20, height: 20, strips: [zlibZeros(3.6e9)], tags: oneStrip(20) },
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
      strips: [zlibZeros(1e9)],
      tags: {
        ...oneStrip(500),
        258: ['short', Array(4000).fill(8)],
        277: ['short', [4000]],
        339: ['short', Array(4000).fill(1)],
      },
    },
    // What it is full of is no bomb, only the sum at the end is wrong.
    says: /^bomb\.tif cannot be read at rows 0 to \d+: incorrect data check\.\n$/,
  },
  {
    what: 'a sparse strip of 30,000 x 30,000 pixels that nobody has written',
    options: {
      width: 30_000,
      height: 30_000,
      strips: [],
      tags: { ...oneStrip(30_000), 273: ['long', [0]], 279: ['long', [0]] },
    },
    says: 'bomb.tif has 266 bytes and says that they hold 3600000000 bytes of pixels: more than 1000 for one are not read of an image over 1073741824 bytes.\n',
  },
]

const SMALL: TiffOptions = { width: 20, height: 20, row: () => new Float32Array(20) }

/** What a header says alone: whoever believes it asks for more memory than there is. */
const HEADERS: Bomb[] = [
  {
    what: 'more bands than there are rasters',
    options: { width: 1, height: 1, strips: [Buffer.alloc(4)], tags: { 277: ['long', [4_294_967_295]] } },
    says: 'bomb.tif has 4294967295 bands; at most 4096 are read.\n',
  },
  {
    what: 'a width and a height of 4 thousand million',
    options: {
      width: 4_294_967_295,
      height: 4_294_967_295,
      strips: [Buffer.alloc(4)],
      tags: oneStrip(4_294_967_295),
    },
    says: 'bomb.tif has 4294967295 x 4294967295 pixels; at most 250000 a side and 10000000000 in all are read: cut it with gdal_translate -projwin.\n',
  },
  {
    what: 'no width',
    options: { width: 0, height: 1, strips: [Buffer.alloc(4)] },
    says: 'bomb.tif is damaged: its size is not a number of pixels.\n',
  },
  {
    what: 'a table of 4 thousand million strips',
    options: SMALL,
    damage: (bytes) => bytes.writeUInt32LE(0xffff_ffff, entryOf(bytes, 273) + 4),
    says: 'bomb.tif says that its tag 273 has 4294967295 values, which are 17179869180 bytes; at most 8388608 are read of a tag.\n',
  },
  {
    what: 'GeoKeys of 4 thousand million numbers',
    options: SMALL,
    damage: (bytes) => bytes.writeUInt32LE(0xffff_ffff, entryOf(bytes, TAGS.geoKeys) + 4),
    says: 'bomb.tif says that its tag 34735 has 4294967295 values, which are 8589934590 bytes; at most 8388608 are read of a tag.\n',
  },
  {
    what: 'a directory that is followed by itself',
    options: SMALL,
    damage: (bytes) => {
      const directory = bytes.readUInt32LE(4)
      bytes.writeUInt32LE(directory, directory + 2 + bytes.readUInt16LE(directory) * 12)
    },
    says: 'bomb.tif is damaged: its directories go round in a circle.\n',
  },
]

/** Where the entry of a tag lies. */
function entryOf(bytes: Buffer, tag: number): number {
  const directory = bytes.readUInt32LE(4)
  const entries = Array.from(
    { length: bytes.readUInt16LE(directory) },
    (_, index) => directory + 2 + index * 12,
  )
  return entries.find((entry) => bytes.readUInt16LE(entry) === tag) as number
}

describe('agro ingest takes 512 MiB at most', () => {
  let testDatabase: TestDatabase
  let folder: string
  beforeAll(async () => {
    folder = await newFolder()
    testDatabase = await createTestDatabase('empty')
  })
  afterAll(() => testDatabase.drop())

  /** Ingests a bomb, and checks what is said. */
  async function refused<Result extends CliResult>(
    { options, damage, says }: Bomb,
    run: (...parameters: string[]) => Promise<Result>,
  ): Promise<Result> {
    const file = join(folder, 'bomb.tif')
    await writeTiff(file, options)
    const bytes = await readFile(file)
    expect(bytes.length).toBeLessThan(5e6)
    damage?.(bytes)
    await writeFile(file, bytes)
    const manifest = await writeManifest(folder, manifestText([{ file }], { allow: ['extent'] }))
    const result = await run('ingest', manifest)
    const said = result.stderr.replace(PROGRESS, '').replaceAll(`${folder}/`, '')
    if (typeof says === 'string') expect(said).toBe(says)
    else expect(said).toMatch(says)
    expect(result.code).toBe(1)
    return result
  }

  async function loaded(manifest: string, tiles: number): Promise<void> {
    const { peakBytes, stdout, ...result } = await measureAgro(testDatabase, 'ingest', manifest)
    expect({ ...result, stderr: result.stderr.replace(PROGRESS, '') }).toEqual({ code: 0, stderr: '' })
    expect(stdout).toMatch(
      new RegExp(` is published( in the place of \\S+)?: ${tiles} tiles in [\\d.]+ s\\.\n$`),
    )
    expect(peakBytes).toBeLessThan(BOUND)
  }

  test.each(BOMBS)('and refuses $what', async (bomb) => {
    const { peakBytes } = await refused(bomb, (...parameters) => measureAgro(testDatabase, ...parameters))
    expect(peakBytes).toBeLessThan(BOUND)
  })

  test.each(HEADERS)('and refuses $what, before it takes any', async (bomb) => {
    await refused(bomb, (...parameters) => runAgro(testDatabase, ...parameters))
  })

  test('and loads eight layers that are one strip of 55 MB each', async () => {
    const [width, height] = [3906, 3535]
    const pixels = new Float32Array(width * height)
    // Values in one corner: there is nothing to store of the others.
    for (let row = 0; row < 100; row++) pixels.fill(row + 1, row * width, row * width + 100)
    const layers = []
    for (let layer = 1; layer <= 8; layer++) {
      const file = join(folder, `strip-${layer}.tif`)
      await writeTiff(file, {
        width,
        height,
        strips: [deflateSync(Buffer.from(pixels.buffer), { level: 1 })],
        tags: { ...oneStrip(height), [TAGS.pixelScale]: ['double', [0.001, 0.001, 0]] },
      })
      layers.push({ file, scenario: `Scenario ${layer}`, nodata: 0 })
    }
    const manifest = await writeManifest(
      folder,
      manifestText(layers, { allow: ['empty', 'extent', 'scenarios-alike'] }),
    )
    await loaded(manifest, 49)
  })

  test('and loads 90,000 tiles of one pixel, of which a window has a great many', async () => {
    const file = join(folder, 'tiny.tif')
    const [width, height] = [300, 300]
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
    await loaded(manifest, 361)
  })
})
