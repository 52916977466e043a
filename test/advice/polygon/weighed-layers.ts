import type { CoverageSource, ReleaseSource } from '#src/ingest/source.ts'
import { createPixels, type PixelType } from '#src/raster/pixels.ts'
import { gridOf, layerOf, releaseDescription } from '#test/setup/releases.ts'
import type { ShapeOptions } from './shapes.ts'

interface TestLayer {
  type: PixelType
  scale: number
  offset: number
  pixel(column: number, row: number): number | null
}

const NODATA: Partial<Record<PixelType, number>> = {
  '32BF': -3.4028234663852886e38,
  '64BF': -Number.MAX_VALUE,
  '16BSI': -32768,
}

/** Values with a slope, waves and steps; holes of every size. */
const LAYERS: TestLayer[] = [
  {
    type: '32BF',
    scale: 1,
    offset: 0,
    pixel: (x, y) => (holed(x, y) ? null : Math.fround(4000 + 30 * x + 200 * Math.sin(y / 3))),
  },
  { type: '16BSI', scale: -0.1, offset: 120, pixel: (x, y) => ((x + y) % 7 === 0 ? null : x * 7 - y * 5) },
  { type: '8BUI', scale: 0.5, offset: -3, pixel: (x, y) => 1 + ((x * 31 + y * 17) % 250) },
  {
    type: '64BF',
    scale: 1,
    offset: 0,
    pixel: (x, y) => (x > 40 && x < 75 && y > 30 && y < 61 ? null : 1e6 + x / 7 + y / 11),
  },
]

function holed(x: number, y: number): boolean {
  return (x * 7919 + y * 104729) % 11 === 0 || (x % 40 > 30 && y % 48 > 36)
}

type Grid = CoverageSource['grid']

function coverageOf(grid: Grid, layers: TestLayer[], scenario: string): CoverageSource {
  const sources = layers.map(({ type, scale, offset }, index) =>
    layerOf('', {
      ...{ input: null, scenario: `${scenario} ${index}`, scale, offset },
      ...{ pixelType: type, nodata: NODATA[type] ?? 0 },
    }),
  )
  // Windows side by side, several tiles high, as those of wide files are.
  const windows = [0, 48, 96, 144].flatMap((row) =>
    [0, 64, 128, 192].map((column) => ({
      row,
      column,
      width: Math.min(64, grid.width - column),
      height: Math.min(48, grid.height - row),
    })),
  )
  return {
    grid,
    layers: sources,
    windows: windows.filter(({ width, height }) => width > 0 && height > 0),
    read: async ({ column, row, width, height }) =>
      layers.map(({ type, pixel }) => {
        const pixels = createPixels(type, width * height)
        for (let index = 0; index < pixels.length; index++) {
          const value = pixel(column + (index % width), row + Math.floor(index / width))
          pixels[index] = value ?? NODATA[type] ?? 0
        }
        return pixels
      }),
  }
}

const DEGREES = gridOf(4326, [36.4, 12.3], [0.05, -0.05], [205, 163])
const SOUTH_UP = gridOf(4326, [36.41, 5.37], [0.1, 0.07], [90, 80])
const KILOMETRES = gridOf(32637, [250_000, 1_000_000], [3000, -3000], [100, 90])

/** Three grids of one release: in degrees, in degrees with rows from south to north, and projected. */
export const GRIDS: { name: string; grid: Grid; geographic: boolean; layers: TestLayer[] }[] = [
  { name: 'degrees', grid: DEGREES, geographic: true, layers: LAYERS },
  { name: 'south up', grid: SOUTH_UP, geographic: true, layers: LAYERS.slice(0, 2) },
  { name: 'projected', grid: KILOMETRES, geographic: false, layers: LAYERS.slice(0, 3) },
]

export function release(): ReleaseSource {
  return {
    description: releaseDescription({ product: 'yield' }),
    coverages: GRIDS.map(({ grid, layers, name }) => coverageOf(grid, layers, name)),
  }
}

export const RANGES: Record<string, Pick<ShapeOptions, 'within' | 'largest'>> = {
  // Half of them lie across the edges of the grid.
  degrees: { within: [36, 3.8, 47, 12.6], largest: 5_000_000 },
  'south up': { within: [36, 5, 46, 11.5], largest: 5_000_000 },
  projected: { within: [36.6, 6.4, 39.6, 9.2], largest: 50_000 },
}
