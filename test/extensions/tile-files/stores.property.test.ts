import { pathToFileURL } from 'node:url'
import fc from 'fast-check'
import { beforeAll, expect, test } from 'vitest'
import type { Database } from '#src/data/database.ts'
import type { TileStoreName } from '#src/data/release-tables.ts'
import { requireStore, type StoredWindow, type TileStores } from '#src/data/tiles/store.ts'
import { createTileStores } from '#src/data/tiles/stores.ts'
import { createPixelWriter } from '#src/ingest/pixel-writing.ts'
import { insertCoverage, insertRelease } from '#src/ingest/queries.ts'
import type { Grid, Window } from '#src/raster/grid.ts'
import {
  createPixels,
  PIXEL_TYPES,
  type Pixels,
  type PixelType,
  type StoredBand,
  storedNodata,
} from '#src/raster/pixels.ts'
import { TILE_SIZE } from '#src/raster/tiles.ts'
import { newFolder } from '#test/setup/folders.ts'
import { openApp } from '#test/setup/open-service.ts'
import { runsOf } from '#test/setup/property-runs.ts'

// Runs on both databases: the statements of each store are tried here.

const service = openApp({ template: 'empty' })
let source: Database
beforeAll(async () => {
  const { database } = service
  const TILE_STORE = String(pathToFileURL(await newFolder()))
  source = { ...database, config: { ...database.config, TILE_STORE } }
})

interface BandCase extends StoredBand {
  /** What pixels are taken from, in turn; undefined for none. */
  palette: (number | undefined)[]
}

const band: fc.Arbitrary<BandCase> = fc
  .constantFrom(...(Object.keys(PIXEL_TYPES) as PixelType[]))
  .chain((pixelType) => {
    const { PixelArray } = PIXEL_TYPES[pixelType]
    const [bytes, isFloat] = [PixelArray.BYTES_PER_ELEMENT, pixelType.endsWith('F')]
    const bits = 8 * bytes - (pixelType.endsWith('SI') ? 1 : 0)
    const largest = isFloat ? 1e30 : 2 ** bits - 1
    const smallest = isFloat ? -1e30 : pixelType.endsWith('SI') ? -(2 ** bits) : 0
    const value = isFloat ? fc.double({ noNaN: true }) : fc.integer({ min: smallest, max: largest })
    const pixel = fc.oneof(fc.integer({ min: 0, max: 3 }), value)
    return fc.record({
      pixelType: fc.constant(pixelType),
      nodata: fc
        .option(fc.constantFrom(0, 1, largest, smallest), { nil: undefined })
        .map((nodata) => storedNodata(pixelType, nodata)),
      palette: fc.array(fc.option(pixel, { nil: undefined }), { minLength: 1, maxLength: 5 }),
    })
  })

/** Around the sizes of tiles, blocks and granules as often as between them. */
const side = fc.oneof(
  { weight: 3, arbitrary: fc.integer({ min: 1, max: 300 }) },
  { weight: 1, arbitrary: fc.constantFrom(15, 16, 17, 127, 128, 129, 512, 513) },
)
const raster = fc.record({
  grid: fc.record({
    srid: fc.constantFrom(4326, 32637),
    originX: fc.constantFrom(38, 37.99865, 400_000.3),
    originY: fc.constantFrom(9, -0.30001, 994_321.7),
    pixelWidth: fc.constantFrom(1 / 3, 0.0027, 30),
    pixelHeight: fc.constantFrom(-1 / 3, -0.0027, 30),
    width: side,
    height: side,
  }),
  bands: fc.array(band, { minLength: 1, maxLength: 4 }),
  windowSize: fc.record({
    width: fc.integer({ min: 1, max: 20 }).map((tiles) => tiles * TILE_SIZE),
    height: fc.integer({ min: 1, max: 20 }).map((tiles) => tiles * TILE_SIZE),
  }),
  /** Windows that are left out where all bands have gaps, by their number modulo 5: files are sparse. */
  absent: fc.array(fc.integer({ min: 0, max: 4 }), { maxLength: 2 }),
})

function* windowsOf(
  grid: Grid,
  size: { width: number; height: number },
  absent: number[],
): Generator<Window> {
  let number = 0
  for (let row = 0; row < grid.height; row += size.height) {
    for (let column = 0; column < grid.width; column += size.width) {
      if (absent.includes(number++ % 5)) continue
      const width = Math.min(size.width, grid.width - column)
      yield { row, column, width, height: Math.min(size.height, grid.height - row) }
    }
  }
}

function pixelsIn({ pixelType, nodata, palette }: BandCase, { row, column, width, height }: Window): Pixels {
  const pixels = createPixels(pixelType, width * height)
  for (let at = 0; at < pixels.length; at++) {
    const place = (row + Math.floor(at / width)) * 7919 + column + (at % width)
    // Whole tiles have no value, too.
    const isGap = Math.floor(place / 400) % 3 === 0
    pixels[at] = (isGap ? undefined : palette[place % palette.length]) ?? nodata ?? 0
  }
  return pixels
}

let versions = 0
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

/** All tiles that a grid may have, and some beside it. */
async function allTiles(stores: TileStores, store: TileStoreName, coverageId: number, grid: Grid) {
  const wanted = []
  for (let row = 0; row <= grid.height / TILE_SIZE; row++) {
    for (let column = 0; column <= grid.width / TILE_SIZE; column++) wanted.push({ coverageId, row, column })
  }
  const found = await requireStore(stores, store).find(wanted)
  return found.map((tile) => (tile instanceof Buffer ? tile.toString('hex') : tile))
}

/** Every pixel that windows have, by band, row and column; those without a value left out. */
async function pixelsOfWindows(windows: AsyncIterable<StoredWindow>): Promise<string[]> {
  const found: string[] = []
  let lastRow = 0
  for await (const { window, bands } of windows) {
    expect(window.row).toBeGreaterThanOrEqual(lastRow)
    lastRow = window.row
    for (const [index, { pixels, nodata }] of bands.entries()) {
      for (const [at, pixel] of pixels.entries()) {
        if (pixel === nodata) continue
        const place = `${window.row + Math.floor(at / window.width)} ${window.column + (at % window.width)}`
        found.push(`${index} ${place} ${pixel}`)
      }
    }
  }
  return found.sort()
}

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
}, 120_000)

test('each store says that it has nothing of a coverage that is in the other', async () => {
  const stores = await createTileStores(source)
  const grid = { srid: 4326, originX: 38, originY: 9, pixelWidth: 1, pixelHeight: -1, width: 1, height: 1 }
  const [inDatabase, inFiles] = [await newCoverage(grid, 'postgis'), await newCoverage(grid, 'files')]
  const asked = [inDatabase, inFiles].map((coverageId) => ({ coverageId, row: 0, column: 0 }))
  expect(await requireStore(stores, 'postgis').find(asked)).toEqual([Buffer.alloc(0), null])
  expect(await requireStore(stores, 'files').find(asked)).toEqual([null, Buffer.alloc(0)])
})
