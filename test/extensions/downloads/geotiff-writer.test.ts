import { createHash } from 'node:crypto'
import { type FileHandle, readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import {
  estimateFileBytes,
  type GeotiffLayer,
  type LayerWindow,
  writeGeotiff,
} from '#src/extensions/downloads/geotiff-writer.ts'
import type { Grid } from '#src/raster/grid.ts'
import { createPixels, type Pixels, type PixelType, storedNodata } from '#src/raster/pixels.ts'
import { DEGREES, hasGdal, infoOfCog, METRES, run } from '#test/data/tiles/gdal.ts'
import { cogMistakes, readTiff, valuesOf } from '#test/data/tiles/tiff-reader.ts'
import { newFolder } from '#test/setup/folders.ts'

if (!hasGdal)
  console.warn(
    'test/extensions/downloads/geotiff-writer.test.ts is skipped in part: it needs gdal-bin and python3-gdal.',
  )

type Case = [name: string, grid: Grid, type: PixelType, nodata: number | undefined, levels: number]

const CASES: Case[] = [
  ['floats in degrees', { ...DEGREES, width: 1101 }, '32BF', -9999, 4],
  ['bytes with a nodata value', METRES, '8BUI', 255, 2],
  ['whole numbers that all have a value', METRES, '16BUI', undefined, 2],
  ['signed numbers around their nodata', METRES, '32BSI', 0, 2],
  ['doubles, rows from south to north', { ...METRES, originY: 900_000, pixelHeight: 30 }, '64BF', -1, 2],
  ['one block', { ...METRES, width: 256, height: 3 }, '16BSI', -1, 1],
]

/** A value of each pixel; a corner and some of the others have none. */
function pixelsOfGrid({ width, height }: Grid, type: PixelType, nodata: number | undefined): Pixels {
  const pixels = createPixels(type, width * height)
  for (let at = 0; at < pixels.length; at++) {
    const [x, y] = [at % width, Math.floor(at / width)]
    const isGap = (x < 300 && y < 270 && x > 20) || (x * 7 + y) % 5 === 0
    const value = type.endsWith('F') ? (x * 31 + y * 17) / 8 : ((x * 31 + y * 17) % 101) - 50
    pixels[at] = isGap && nodata !== undefined ? nodata : type.endsWith('UI') ? value + 50 : value
  }
  return pixels
}

/** As stores have them: in squares, of which those without a value are not there. */
async function* windowsOf(
  grid: Grid,
  pixels: Pixels,
  nodata: number | undefined,
): AsyncGenerator<LayerWindow> {
  const side = 16
  for (let row = 0; row < grid.height; row += side) {
    for (let column = 0; column < grid.width; column += side) {
      const width = Math.min(side, grid.width - column)
      const height = Math.min(side, grid.height - row)
      const window = { column, row, width, height }
      const part = pixels.slice(0, width * height)
      for (let y = 0; y < height; y++) {
        const start = (row + y) * grid.width + column
        part.set(pixels.subarray(start, start + width), y * width)
      }
      if (part.some((pixel) => pixel !== nodata)) yield { window, pixels: part }
    }
  }
}

/** The means of an overview, worked out from the level above it, pixel by pixel. */
function overviewOf(
  pixels: Pixels,
  width: number,
  nodata: number | undefined,
): { pixels: Pixels; width: number } {
  const height = pixels.length / width
  const [across, down] = [Math.ceil(width / 2), Math.ceil(height / 2)]
  const below = pixels.slice(0, across * down)
  for (let y = 0; y < down; y++) {
    for (let x = 0; x < across; x++) {
      const values = [0, 1].flatMap((dy) =>
        [0, 1].flatMap((dx) => {
          const [column, row] = [2 * x + dx, 2 * y + dy]
          const value = column < width && row < height ? pixels[row * width + column] : nodata
          return value === undefined || value === nodata ? [] : [value]
        }),
      )
      const mean = values.reduce((sum, value) => sum + value, 0) / values.length
      const rounded =
        pixels instanceof Float32Array || pixels instanceof Float64Array ? mean : Math.round(mean)
      below[y * across + x] =
        values.length === 0 ? (nodata as number) : rounded === nodata ? (values[0] as number) : rounded
    }
  }
  return { pixels: below, width: across }
}

function layerOf(grid: Grid, type: PixelType, nodata: number | undefined): GeotiffLayer {
  return {
    ...{ grid, geographic: grid.srid === 4326, type, nodata, scale: 0.5, offset: 1, unit: 'kg/ha' },
    ...{ name: 'Urea, Normal', description: 'Rates of « Urea »', licence: 'CC-BY-4.0' },
    facts: { SOURCE: 'A <test> & "more"' },
  }
}

function bytesOfPixels({ buffer, byteOffset, byteLength }: Pixels): Buffer {
  return Buffer.from(buffer as ArrayBuffer, byteOffset, byteLength)
}

const noPause = async () => {}

describe.each(CASES)('a layer of %s', (_, grid, type, declared, count) => {
  test('is a cloud-optimised GeoTIFF of its values, with the means of squares as overviews', async () => {
    const nodata = storedNodata(type, declared)
    const pixels = pixelsOfGrid(grid, type, nodata)
    const folder = await newFolder()
    const { handle, ...written } = await writeGeotiff(
      folder,
      layerOf(grid, type, nodata),
      windowsOf(grid, pixels, nodata),
      noPause,
    )
    expect(await readdir(folder)).toEqual([])
    const bytes = await readWhole(handle)
    const checksum = createHash('sha256').update(bytes).digest('hex')
    expect(written).toEqual({ bytes: bytes.length, checksum })
    expect(bytes.length).toBeLessThan(estimateFileBytes(grid, type))

    const images = readTiff(bytes)
    expect(cogMistakes(images)).toEqual([])
    expect(images.map(({ width }) => width)).toEqual(
      Array.from({ length: count }, (_, at) => Math.ceil(grid.width / 2 ** at)),
    )
    let level = { pixels, width: grid.width }
    for (const image of images) {
      expect(valuesOf(bytes, image).equals(bytesOfPixels(level.pixels))).toBe(true)
      level = overviewOf(level.pixels, level.width, nodata)
    }
    if (!hasGdal) return
    const path = join(folder, 'layer.tif')
    await writeFile(path, bytes)
    await expectOfGdal(path, grid, pixels, nodata)
  })
})

async function readWhole(handle: FileHandle): Promise<Buffer> {
  const chunks: Buffer[] = await handle.createReadStream({ start: 0 }).toArray()
  return Buffer.concat(chunks)
}

/** What GDAL makes of a file: the rules of its own script, where it lies, what it says, and all of its pixels. */
async function expectOfGdal(path: string, grid: Grid, pixels: Pixels, nodata: number | undefined) {
  const info = await infoOfCog(path, grid)
  expect(info.metadata['']).toMatchObject({
    AREA_OR_POINT: 'Area',
    SOURCE: 'A <test> & "more"',
    TIFFTAG_COPYRIGHT: 'CC-BY-4.0',
    TIFFTAG_IMAGEDESCRIPTION: 'Rates of « Urea »',
  })
  const [band] = info.bands
  expect(band).toMatchObject({
    block: [256, 256],
    description: 'Urea, Normal',
    unit: 'kg/ha',
    scale: 0.5,
    offset: 1,
  })
  // It is printed with the digits of a Float32.
  expect(band.noDataValue && Math.fround(band.noDataValue)).toBe(nodata && Math.fround(nodata))
  const raw = `${path}.raw`
  await run('gdal_translate', ['-q', '-of', 'ENVI', path, raw])
  expect((await readFile(raw)).equals(bytesOfPixels(pixels))).toBe(true)
}

test('a file whose pixels cannot be read to the end leaves nothing', async () => {
  const folder = await newFolder()
  async function* broken(): AsyncGenerator<LayerWindow> {
    yield { window: { column: 0, row: 0, width: 1, height: 1 }, pixels: Uint8Array.of(1) }
    throw new Error('the store is away')
  }
  const layer = layerOf(METRES, '8BUI', 255)
  await expect(writeGeotiff(folder, layer, broken(), noPause)).rejects.toThrow('the store is away')
  expect(await readdir(folder)).toEqual([])
})
