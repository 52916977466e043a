import { createHash } from 'node:crypto'
import { type FileHandle, readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import {
  estimateFileBytes,
  type LayerWindow,
  writeGeotiff,
} from '#src/extensions/downloads/geotiff-writer.ts'
import type { Grid } from '#src/raster/grid.ts'
import { type Pixels, storedNodata } from '#src/raster/pixels.ts'
import { hasGdal, infoOfCog, METRES, run } from '#test/data/tiles/gdal.ts'
import { cogMistakes, readTiff, valuesOf } from '#test/data/tiles/tiff-reader.ts'
import { newFolder } from '#test/setup/folders.ts'
import {
  bytesOfPixels,
  CASES,
  layerOf,
  noPause,
  overviewOf,
  pixelsOfGrid,
  windowsOf,
} from './written-layers.ts'

if (!hasGdal)
  console.warn(
    'test/extensions/downloads/geotiff-writer.test.ts is skipped in part: it needs gdal-bin and python3-gdal.',
  )

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
