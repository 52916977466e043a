import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import type { EncodedGranule } from '#src/extensions/tile-files/granule.ts'
import { GranuleBuilder } from '#src/extensions/tile-files/granule-builder.ts'
import { loadZstd } from '#src/extensions/tile-files/zstd.ts'
import type { Grid, Window } from '#src/raster/grid.ts'
import {
  createPixels,
  type Pixels,
  type PixelType,
  type StoredBand,
  storedNodata,
} from '#src/raster/pixels.ts'
import { DEGREES, hasGdal, infoOfCog, METRES, run } from '#test/data/tiles/gdal.ts'
import { newFolder } from '#test/setup/folders.ts'

if (!hasGdal)
  console.warn('test/extensions/tile-files/gdal.test.ts is skipped: it needs gdal-bin and python3-gdal.')

interface Case {
  grid: Grid
  types: PixelType[]
  /** As a file declares it. */
  nodata: (number | undefined)[]
}

const CASES: Record<string, Case> = {
  'one band of floats': { grid: DEGREES, types: ['32BF'], nodata: [-9999] },
  'bytes with nodata values': { grid: METRES, types: ['8BUI', '8BSI'], nodata: [255, -128] },
  'bands of several types': { grid: DEGREES, types: ['8BUI', '16BSI', '32BF'], nodata: [0, -1, undefined] },
  'whole numbers beside floats': { grid: DEGREES, types: ['32BUI', '32BF'], nodata: [4294967295, -1] },
  'doubles, rows from south to north': {
    grid: { ...METRES, width: 700, height: 530, originY: 900_000, pixelHeight: 30 },
    types: ['64BF'],
    nodata: [undefined],
  },
}

describe.skipIf(!hasGdal).each(Object.entries(CASES))('a granule of %s', (_, kind) => {
  test('is a cloud-optimised GeoTIFF by the rules of GDAL, and has its pixels in 50 places', async () => {
    const folder = await newFolder()
    const { bands, granules } = await granulesOf(kind)
    const { width, height } = kind.grid
    expect(granules).toHaveLength(Math.ceil(width / 512) * Math.ceil(height / 512))
    expect(new Set(granules.map(({ row, column }) => `${row} ${column}`)).size).toBe(granules.length)
    for (const { bytes, row, column, name, headerBytes } of granules) {
      const path = join(folder, `${name}.tif`)
      await writeFile(path, bytes)
      expect(headerBytes).toBeLessThan(8192)
      const { grid } = kind
      const window = {
        column: column * 512,
        row: row * 512,
        width: Math.min(512, grid.width - column * 512),
        height: Math.min(512, grid.height - row * 512),
      }
      const info = await infoOfCog(path, {
        ...grid,
        ...window,
        originX: grid.originX + window.column * grid.pixelWidth,
        originY: grid.originY + window.row * grid.pixelHeight,
      })
      expect(info.metadata.IMAGE_STRUCTURE.COMPRESSION).toBe('ZSTD')
      expect(info.bands.map(({ block }: { block: number[] }) => block)).toEqual(bands.map(() => [128, 128]))
      const places = Array.from({ length: 50 }, (_, at) => [
        (at * 101) % window.width,
        (at * 67) % window.height,
      ]) as [number, number][]
      const asked = join(folder, 'places.txt')
      await writeFile(asked, `${places.map((place) => place.join(' ')).join('\n')}\n`)
      const ask = 'gdallocationinfo -valonly "$0" < "$1"'
      const answers = (await run('sh', ['-c', ask, path, asked])).stdout.trim().split('\n').map(Number)
      const expected = places.flatMap(([x, y]) =>
        bands.map((band) => {
          const one = { column: window.column + x, row: window.row + y, width: 1, height: 1 }
          return pixelsIn(band, one)[0]
        }),
      )
      expect(answers.map(near)).toEqual(expected.map((value) => near(value as number)))
    }
  })
})

/** gdallocationinfo writes fifteen digits of a number. */
function near(value: number): number {
  return Number(value.toPrecision(15))
}

/** A value of each pixel that the type holds; a corner and some of the others have none. */
function pixelsIn(band: StoredBand, { column, row, width, height }: Window): Pixels {
  const pixels = createPixels(band.pixelType, width * height)
  for (let at = 0; at < pixels.length; at++) {
    const [x, y] = [column + (at % width), row + Math.floor(at / width)]
    const isGap = (x < 256 && y < 200) || (x * 7 + y) % 5 === 0
    const value = band.pixelType.endsWith('F') ? (x * 31 + y * 17) / 8 : (x * 31 + y * 17) % 100
    pixels[at] = isGap && band.nodata !== undefined ? band.nodata : value
  }
  return pixels
}

async function granulesOf({
  grid,
  types,
  nodata,
}: Case): Promise<{ bands: StoredBand[]; granules: EncodedGranule[] }> {
  const bands = types.map((pixelType, index) => ({
    pixelType,
    nodata: storedNodata(pixelType, nodata[index]),
  }))
  const builder = new GranuleBuilder(await loadZstd(), { grid, geographic: grid.srid === 4326, bands })
  const granules: EncodedGranule[] = []
  for (let row = 0; row < grid.height; row += 96) {
    const window = { column: 0, row, width: grid.width, height: Math.min(96, grid.height - row) }
    const pixels = bands.map((band) => pixelsIn(band, window))
    granules.push(...builder.add(window, pixels))
  }
  return { bands, granules: [...granules, ...builder.finish()] }
}
