import { mkdir, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { deflateSync } from 'node:zlib'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { openRaster } from '#src/ingest/geotiff/file.ts'
import { newFolder } from '#test/setup/folders.ts'
import { writeTiff } from './tiff.ts'

/** Of a little more than what is decompressed at once. */
const [WIDTH, HEIGHT] = [1500, 700]
let folder: string
let unpacked: string

beforeEach(async () => {
  folder = await newFolder()
  unpacked = join(folder, 'unpacked')
  await mkdir(unpacked)
  vi.stubEnv('TMPDIR', unpacked)
})
afterEach(() => void vi.unstubAllEnvs())

test('a window of a strip has its pixels, below or above the last one, and nothing is left', async () => {
  const { planes, raster } = await openStrips()
  for (const row of [0, 600, 400]) {
    const window = { column: 300, row, width: 700, height: 100 }
    const [first, second, third] = await raster.read(window, [1, 2, 3])
    for (const at of [0, 699, 700, 35_123, 69_999]) {
      const pixel = (row + Math.floor(at / 700)) * WIDTH + 300 + (at % 700)
      expect([first?.[at], second?.[at], third?.[at]]).toEqual([planes[0]?.[pixel], 0, planes[1]?.[pixel]])
    }
  }
  expect(await readdir(unpacked)).toEqual([])
  await raster.close()
})

test('a strip that is too short for its pixels is refused', async () => {
  const { raster } = await openStrips(4)
  await expect(raster.read({ column: 0, row: 0, width: 16, height: 16 }, [1])).rejects.toThrow(
    /^\S+strips\.tif cannot be read at rows 0 to 15: the block at byte \d+ is damaged: it is too short\.$/,
  )
  await raster.close()
})

/** Bands of one DEFLATE strip each; an empty one was never written. */
async function openStrips(skipped = 0) {
  const planes = [1, 2].map((plane) =>
    Float32Array.from({ length: WIDTH * HEIGHT }, (_, at) => plane * Math.floor(at / 7)),
  )
  const [first, last] = planes.map(({ buffer }) =>
    deflateSync(Buffer.from(buffer).subarray(skipped), { level: 1 }),
  )
  const path = await writeTiff(join(folder, 'strips.tif'), {
    width: WIDTH,
    height: HEIGHT,
    strips: [first as Buffer, Buffer.alloc(0), last as Buffer],
    tags: {
      258: ['short', [32, 32, 32]],
      259: ['short', [8]],
      277: ['short', [3]],
      278: ['long', [HEIGHT]],
      284: ['short', [2]],
      339: ['short', [3, 3, 3]],
    },
  })
  return { planes, raster: await openRaster(path) }
}
