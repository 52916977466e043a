import { copyFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { deflateSync } from 'node:zlib'
import { zlibZeros } from './bombs.ts'
import type { LayerText } from './fixtures.ts'
import { TAGS, type Tag, type TiffOptions, writeTiff } from './tiff.ts'

/** What a command may take, whatever it is given. */
export const BOUND = 512 * 2 ** 20

const DEFLATE: Record<number, Tag> = { 259: ['short', [8]] }
const oneStrip = (height: number): Record<number, Tag> => ({ ...DEFLATE, 278: ['long', [height]] })
const pixelsOf = (degrees: number): Record<number, Tag> => ({
  [TAGS.pixelScale]: ['double', [degrees, degrees, 0]],
})
/** Tags of bands of a byte each. */
const bandsOf = (count: number): Record<number, Tag> => ({
  258: ['short', Array(count).fill(8)],
  277: ['short', [count]],
  339: ['short', Array(count).fill(1)],
})

/** How far a command is; a slow machine is told more often. */
export const PROGRESS = /^(loading|allowed|deleting the rest of \S+): .*\n/gm

export const BOMBS: [what: string, options: TiffOptions, says: RegExp, layer?: LayerText][] = [
  [
    'a strip of 100 MB that has 1 GB',
    {
      width: 5000,
      height: 5000,
      strips: [zlibZeros(1e9)],
      tags: { ...oneStrip(5000), ...pixelsOf(0.001), [TAGS.nodata]: ['ascii', '0\0'] },
    },
    /^bomb\.tif cannot be read at rows 0 to \d+: the block at byte \d+ holds more than the 100000000 bytes of its pixels\.\n$/,
  ],
  [
    'a strip that says it has 1,600 bytes and has 1 GB',
    { width: 20, height: 20, strips: [zlibZeros(1e9)], tags: oneStrip(20) },
    /^bomb\.tif cannot be read at rows 0 to 19: its DEFLATE data hold more than the 1600 bytes of its pixels\.\n$/,
  ],
  [
    'strips of 64 MB, of which a window has many',
    {
      width: 4000,
      height: 40_000,
      bits: 8,
      format: 1,
      strips: Array(10).fill(zlibZeros(64e6)),
      tags: { ...oneStrip(4000), ...pixelsOf(0.001), ...bandsOf(4) },
    },
    // What it is full of is no bomb, only the sum at the end is wrong.
    /^bomb\.tif cannot be read at rows \d+ to \d+: incorrect data check\.\n$/,
  ],
  [
    'a block of thousands of bands',
    {
      width: 500,
      height: 400,
      bits: 8,
      format: 1,
      strips: [zlibZeros(4.8e8)],
      tags: { ...oneStrip(400), ...bandsOf(2400) },
    },
    /^bomb\.tif cannot be read at rows 0 to \d+: incorrect data check\.\n$/,
  ],
  [
    'a sparse file whose pixels would all be values',
    sparse(),
    /^bomb\.tif has \d+ bytes and says that they hold 1075840000 bytes of pixels: more than 1000 for one are not read of an image over 1073741824 bytes\.\n$/,
    { nodata: 'none' },
  ],
]

/** 1.08 GB of pixels, of which one strip of a megabyte was written. */
function sparse(): TiffOptions {
  const [size, rows] = [16_400, 16]
  const pixels = Float32Array.from({ length: size * rows }, (_, index) => 1000 + (index % 500))
  const strips = Array.from({ length: size / rows }, (_, index) =>
    index === 1000 ? Buffer.from(pixels.buffer) : Buffer.alloc(0),
  )
  const nodata: Tag = ['ascii', '-9999\0']
  const tags = { ...pixelsOf(0.0005), 278: ['long', [rows]] satisfies Tag, [TAGS.nodata]: nodata }
  return { width: size, height: size, strips, tags }
}

export const SPARSE_MONTH = '2025-02'

/** Answers with the layers of the file that it has written. */
type Writing = (folder: string) => Promise<LayerText[]>

export const LOADED: [what: string, write: Writing, settings: Record<string, unknown>, tiles: number][] = [
  [
    'eight layers that are one strip of 55 MB each',
    async (folder) => {
      const [width, height] = [3906, 1767]
      const pixels = new Float64Array(width * height)
      // Values in one corner: there is nothing to store of the others.
      for (let row = 0; row < 100; row++) pixels.fill(row + 1, row * width, row * width + 100)
      const first = await writeTiff(join(folder, 'strip.tif'), {
        width,
        height,
        bits: 64,
        strips: [deflateSync(Buffer.from(pixels.buffer), { level: 1 })],
        tags: { ...oneStrip(height), ...pixelsOf(0.001) },
      })
      const layers = [1, 2, 3, 4, 5, 6, 7, 8].map((layer) => ({
        file: join(folder, `strip-${layer}.tif`),
        scenario: `Scenario ${layer}`,
        nodata: 0,
      }))
      await Promise.all(layers.map(({ file }) => copyFile(first, file)))
      return layers
    },
    { allow: ['empty', 'extent', 'range', 'scenarios-alike'] },
    49,
  ],
  [
    '38,400 tiles of one pixel, which are all of one window',
    async (folder) => {
      const file = join(folder, 'tiny.tif')
      const [width, height] = [300, 128]
      const pixel = deflateSync(Buffer.from(Float32Array.of(7).buffer))
      const tiles = (value: number): Tag => ['long', Array(width * height).fill(value)]
      const options = { width, height, strips: [pixel] }
      const none: Tag = ['long', []]
      const one: Tag = ['short', [1]]
      const tags = {
        ...DEFLATE,
        273: none,
        278: none,
        279: none,
        322: one,
        323: one,
        325: tiles(pixel.length),
      }
      // All of them are the same bytes, which lie at the end of the file.
      await writeTiff(file, { ...options, tags: { ...tags, 324: tiles(0) } })
      const { size } = await stat(file)
      await writeTiff(file, { ...options, tags: { ...tags, 324: tiles(size - pixel.length) } })
      return [{ file, scenario: 'Tiny' }]
    },
    { allow: ['extent', 'range'] },
    152,
  ],
  [
    'of a sparse file what was written alone',
    async (folder) => [{ file: await writeTiff(join(folder, 'sparse.tif'), sparse()) }],
    { allow: ['empty', 'extent', 'range'], forecast_period: SPARSE_MONTH },
    1025,
  ],
]
