import { pathToFileURL } from 'node:url'
import fc from 'fast-check'
import { beforeAll, expect, test } from 'vitest'
import type { Database } from '#src/data/database.ts'
import type { TileStoreName } from '#src/data/release-tables.ts'
import { requireStore } from '#src/data/tiles/store.ts'
import { createTileStores } from '#src/data/tiles/stores.ts'
import { createPixelWriter } from '#src/ingest/pixel-writing.ts'
import { insertCoverage, insertRelease } from '#src/ingest/queries.ts'
import type { Grid } from '#src/raster/grid.ts'
import { newFolder } from '#test/setup/folders.ts'
import { openApp } from '#test/setup/open-service.ts'
import { runsOf } from '#test/setup/property-runs.ts'
import { allTiles, pixelsIn, pixelsOfWindows, raster, windowsOf } from './drawn-rasters.ts'

// Runs on both databases: the statements of each store are tried here.

const service = openApp({ template: 'empty' })
let source: Database
beforeAll(async () => {
  const { database } = service
  const TILE_STORE = String(pathToFileURL(await newFolder()))
  source = { ...database, config: { ...database.config, TILE_STORE } }
})

let versions = 0

test('a tile in files is the same as in the database, byte for byte, whatever the pixels, grid and windows', async () => {
  const stores = await createTileStores(source)
  await fc.assert(
    fc.asyncProperty(raster, async ({ grid, bands, windowSize, absent }) => {
      const haveGaps = bands.every(({ nodata }) => nodata !== undefined)
      const inDatabase = await newCoverage(grid, 'postgis')
      const inFiles = await newCoverage(grid, 'files')
      for (const [store, id] of [
        ['postgis', inDatabase],
        ['files', inFiles],
      ] as const) {
        const coverage = { id, grid, geographic: grid.srid === 4326, bands }
        const writer = await createPixelWriter(source, coverage, store)
        for (const window of windowsOf(grid, windowSize, haveGaps ? absent : [])) {
          await writer.add(
            window,
            bands.map((band) => pixelsIn(band, window)),
          )
        }
        await writer.finish()
      }
      const expected = await allTiles(stores, 'postgis', inDatabase, grid)
      expect(await allTiles(stores, 'files', inFiles, grid)).toEqual(expected)
      if (haveGaps) {
        expect(await pixelsOfWindows(requireStore(stores, 'files').windows(inFiles))).toEqual(
          await pixelsOfWindows(requireStore(stores, 'postgis').windows(inDatabase)),
        )
      }
    }),
    { numRuns: runsOf(18) },
  )
})

test('each store says that it has nothing of a coverage that is in the other', async () => {
  const stores = await createTileStores(source)
  const grid = { srid: 4326, originX: 38, originY: 9, pixelWidth: 1, pixelHeight: -1, width: 1, height: 1 }
  const [inDatabase, inFiles] = [await newCoverage(grid, 'postgis'), await newCoverage(grid, 'files')]
  const asked = [inDatabase, inFiles].map((coverageId) => ({ coverageId, row: 0, column: 0 }))
  expect(await requireStore(stores, 'postgis').find(asked)).toEqual([Buffer.alloc(0), null])
  expect(await requireStore(stores, 'files').find(asked)).toEqual([null, Buffer.alloc(0)])
})

async function newCoverage(grid: Grid, store: TileStoreName): Promise<number> {
  const { writer } = service.database
  const series = {
    product: 'forage',
    countryCode: 'eth',
    cropCode: null,
    forecastPeriod: null,
    synthetic: false,
  }
  const checksum = String(++versions)
  const release = await insertRelease(
    writer,
    { ...series, source: 'A test', licence: 'CC0-1.0', checksum },
    store,
  )
  const id = await insertCoverage(writer, release.id, grid, { west: 0, south: 0, east: 1, north: 1 })
  await writer.updateTable('release').set({ status: 'ready' }).where('id', '=', release.id).execute()
  return id
}
