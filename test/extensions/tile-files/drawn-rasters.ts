import fc from 'fast-check'
import { expect } from 'vitest'
import type { TileStoreName } from '#src/data/release-tables.ts'
import { requireStore, type StoredWindow, type TileStores } from '#src/data/tiles/store.ts'
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
export const raster = fc.record({
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

export function* windowsOf(
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

export function pixelsIn(
  { pixelType, nodata, palette }: BandCase,
  { row, column, width, height }: Window,
): Pixels {
  const pixels = createPixels(pixelType, width * height)
  for (let at = 0; at < pixels.length; at++) {
    const place = (row + Math.floor(at / width)) * 7919 + column + (at % width)
    // Whole tiles have no value, too.
    const isGap = Math.floor(place / 400) % 3 === 0
    pixels[at] = (isGap ? undefined : palette[place % palette.length]) ?? nodata ?? 0
  }
  return pixels
}

/** All tiles that a grid may have, and some beside it. */
export async function allTiles(stores: TileStores, store: TileStoreName, coverageId: number, grid: Grid) {
  const wanted = []
  for (let row = 0; row <= grid.height / TILE_SIZE; row++) {
    for (let column = 0; column <= grid.width / TILE_SIZE; column++) wanted.push({ coverageId, row, column })
  }
  const found = await requireStore(stores, store).find(wanted)
  return found.map((tile) => (tile instanceof Buffer ? tile.toString('hex') : tile))
}

/** Every pixel that windows have, by band, row and column; those without a value left out. */
export async function pixelsOfWindows(windows: AsyncIterable<StoredWindow>): Promise<string[]> {
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
