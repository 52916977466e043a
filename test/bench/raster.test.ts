import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { randomNumbers } from '#bench/load/random.ts'
import { writeGeoTiff } from '#bench/rasters/geotiff.ts'
import { loadRaster } from '#bench/rasters/raster.ts'
import { openRaster } from '#src/ingest/geotiff/file.ts'

async function temporaryFile(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'agro-bench-test-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  return join(folder, 'raster.tif')
}

// The wide one has a row a strip; the high one several strips, the last of which is shorter.
test.each([
  { width: 240_000, height: 3 },
  { width: 257, height: 2500 },
  { width: 1, height: 1 },
])('the ingest reads back what was written: $width x $height pixels', async ({ width, height }) => {
  const path = await temporaryFile()
  const grid = { originX: 33.5, originY: 14.25, pixelWidth: 0.0027, pixelHeight: -0.0031, width, height }
  const random = randomNumbers(width)
  const written: number[] = []
  const fill = (_row: number, values: Float32Array) => {
    for (let column = 0; column < width; column++) values[column] = random() < 0.3 ? -9999 : random() * 1000
    for (const value of values) written.push(value)
  }
  await writeGeoTiff(path, { grid, nodata: -9999, fill })

  const file = await openRaster(path)
  onTestFinished(() => file.close())
  expect(file.grid).toEqual(grid)
  expect(file.crs).toEqual({ kind: 'epsg', code: 4326 })
  expect(await file.band({ band: 1 }, new Set())).toMatchObject({ pixelType: '32BF', nodata: -9999 })
  const [pixels] = await file.read({ column: 0, row: 0, width, height }, [1])
  expect(
    Buffer.compare(
      Buffer.from(Float32Array.from(written).buffer),
      Buffer.from(pixels?.buffer as ArrayBuffer),
    ),
  ).toBe(0)
})

test('outside of a raster, and where it has none, there is no value', async () => {
  const path = await temporaryFile()
  const grid = { originX: 10, originY: 5, pixelWidth: 1, pixelHeight: -1, width: 2, height: 2 }
  await writeGeoTiff(path, { grid, nodata: 1, fill: (row, values) => values.set([row * 2, row * 2 + 1]) })
  const { valueAt } = await loadRaster(path)
  const at = (lng: number, lat: number) => valueAt({ lat, lng })
  expect([at(10, 5), at(11.5, 4.5), at(10.5, 3.5), at(11.999, 3.001)]).toEqual([0, undefined, 2, 3])
  expect([at(9.999, 4.5), at(12, 4.5), at(10.5, 5.001), at(10.5, 3)]).toEqual(new Array(4).fill(undefined))
})
