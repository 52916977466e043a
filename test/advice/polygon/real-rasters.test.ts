import { join } from 'node:path'
import { fromFile } from 'geotiff'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Database } from '#src/data/client.ts'
import { ingestManifest, manifestText, writeManifest } from '#test/ingest/fixtures.ts'
import { newFolder } from '#test/setup/folders.ts'
import { createTestAppWithPerson, type TestAppWithPerson } from '#test/setup/people.ts'
import { hasSharedRasters, SHARED_RASTERS } from '#test/setup/shared-data.ts'
import { askWithin } from './ask.ts'
import { ellipsoidArea, type PixelGrid, type Polygons, statisticsOf, weightsOf } from './brute-force.ts'
import { randomNumbers, randomPolygons } from './shapes.ts'

const DECIMALS = 10

/** Rasters of fine and of coarse pixels, and polygons up to 1,000 and up to 50,000 square kilometres. */
const RASTERS = [
  {
    product: 'yield',
    file: 'et_wheat_yieldtypes_optimal_jja_probabilistic_normal_202207.tif',
    labels: { scenario: 'Normal', unit: 'kg/ha' },
    entries: 'yield_data',
    value: 'yield_kg_ha',
    largest: 100_000,
  },
  {
    product: 'forage',
    file: 'biomass_20240218.tif',
    labels: { input: 'All species', unit: 'score' },
    entries: 'forage_data',
    value: 'suitability_score',
    largest: 5_000_000,
  },
] as const

/** A raster as the geotiff library reads it, which is not what loads it. */
async function readRaster(file: string): Promise<{ grid: PixelGrid; pixels: Float32Array; nodata: number }> {
  const image = await (await fromFile(join(SHARED_RASTERS, file))).getImage()
  const [originX = 0, originY = 0] = image.getOrigin()
  const [pixelWidth = 0, pixelHeight = 0] = image.getResolution()
  const [pixels] = await image.readRasters({ interleave: false })
  if (!(pixels instanceof Float32Array)) throw new Error(`${file} has no Float32 pixels`)
  const grid = {
    originX,
    originY,
    pixelWidth,
    pixelHeight,
    width: image.getWidth(),
    height: image.getHeight(),
  }
  return { grid, pixels, nodata: Math.fround(image.getGDALNoData() ?? Number.NaN) }
}

async function ingestAll(database: Database): Promise<void> {
  const folder = await newFolder()
  for (const { product, file, labels } of RASTERS) {
    const seasonless = product === 'forage' && { crop: undefined, forecast_period: undefined }
    const text = manifestText([{ file: join(SHARED_RASTERS, file), decimals: DECIMALS, ...labels }], {
      product,
      ...seasonless,
    })
    await ingestManifest(database, await writeManifest(folder, text))
  }
}

describe.skipIf(!hasSharedRasters)(
  'polygons on real rasters have the mean, extremes and cover of all their pixels',
  () => {
    let service: TestAppWithPerson
    beforeAll(async () => {
      service = await createTestAppWithPerson({ template: 'empty', prepare: ingestAll })
    }, 300_000)
    afterAll(() => service.close())

    function ask(product: string, polygons: Polygons) {
      const geometry = { type: 'MultiPolygon', coordinates: polygons }
      return askWithin(service.app, service.person, product, { geometry })
    }

    test.each(RASTERS)('$file', async ({ product, file, entries, value, largest }) => {
      const { grid, pixels, nodata } = await readRaster(file)
      const east = grid.originX + grid.width * grid.pixelWidth
      const south = grid.originY + grid.height * grid.pixelHeight
      const options = {
        within: [grid.originX, south, east, grid.originY] as [number, number, number, number],
        smallest: 0.05,
        largest,
        origin: [grid.originX, grid.originY] as [number, number],
        pixel: grid.pixelWidth,
      }
      const random = randomNumbers(20220701)
      let compared = 0
      for (let index = 0; index < 60; index++) {
        // Stars, stars with holes, several stars and slivers: their corners lie anywhere.
        const polygons = randomPolygons(random, index % 4, options)
        const expected = statisticsOf(weightsOf(polygons, grid, ellipsoidArea), (column, row) => {
          const pixel = pixels[row * grid.width + column] as number
          return pixel === nodata || Number.isNaN(pixel) ? null : pixel
        })
        const { status, body } = await ask(product, polygons)
        if (!expected) {
          expect([status, ['NO_DATA', 'OUTSIDE_COUNTRY'].includes(body.code)]).toEqual([404, true])
          continue
        }
        compared++
        expect(status).toBe(200)
        const [entry] = body[entries]
        expect(Math.abs(entry[value] / expected.mean - 1)).toBeLessThan(1e-6)
        expect(Math.abs(entry.covered_percent - 100 * expected.covered)).toBeLessThan(6e-5)
        expect([entry.min, entry.max]).toEqual(
          [expected.minimum, expected.maximum].map((extreme) => Number(extreme.toFixed(DECIMALS))),
        )
      }
      expect(compared).toBeGreaterThan(10)
    })
  },
)
