import { sql } from 'kysely'
import { beforeAll, describe, expect, test } from 'vitest'
import { listCoverages, type ZonalCoverage, type ZonalStatistics } from '#src/advice/polygon/queries.ts'
import { type Computation, readTiles } from '#src/advice/polygon/tiles.ts'
import { weighPolygons } from '#src/advice/polygon/weighing.ts'
import { zonalStatistics } from '#src/advice/polygon/zonal-statistics.ts'
import { readUntil } from '#src/data/cancellable.ts'
import { loadRelease } from '#src/ingest/load.ts'
import type { CoverageSource, ReleaseSource } from '#src/ingest/source.ts'
import type { Wait } from '#src/lib/time-budget.ts'
import { createPixels, type PixelType } from '#src/raster/pixels.ts'
import { openService } from '#test/setup/open-service.ts'
import { runsOf } from '#test/setup/property-runs.ts'
import { gridOf, layerOf, releaseDescription } from '#test/setup/releases.ts'
import {
  areaOf,
  ellipsoidArea,
  missOf,
  type Polygons,
  planarArea,
  statisticsOf,
  weightsOf,
} from './brute-force.ts'
import { randomNumbers, randomPolygons, type ShapeOptions } from './shapes.ts'

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
const GRIDS: { name: string; grid: Grid; geographic: boolean; layers: TestLayer[] }[] = [
  { name: 'degrees', grid: DEGREES, geographic: true, layers: LAYERS },
  { name: 'south up', grid: SOUTH_UP, geographic: true, layers: LAYERS.slice(0, 2) },
  { name: 'projected', grid: KILOMETRES, geographic: false, layers: LAYERS.slice(0, 3) },
]

function release(): ReleaseSource {
  return {
    description: releaseDescription({ product: 'yield' }),
    coverages: GRIDS.map(({ grid, layers, name }) => coverageOf(grid, layers, name)),
  }
}

let coverages: ZonalCoverage[]
const service = openService({
  template: 'empty',
  prepare: (database) => loadRelease(database, release()),
})
beforeAll(async () => {
  const { id } = await service.database.reader.selectFrom('release').select('id').executeTakeFirstOrThrow()
  coverages = await listCoverages(service.database.reader, id)
})

const QUANTILES = [0, 0.1, 0.5, 0.9, 1]

function zonal(polygons: Polygons, of: ZonalCoverage[]): Promise<ZonalStatistics> {
  const { signal } = new AbortController()
  const rings = polygons.map((polygon) => polygon.map((ring) => Float64Array.from(ring.flat())))
  const wait: Wait = (something) => something()
  const reads = readUntil(service.database, signal)
  const computation: Computation = {
    ask: reads.ask,
    readTiles: (coverage, tiles) => readTiles(service.app.tiles, reads, coverage, tiles),
    wait,
    pause: async () => {},
  }
  const region = weighPolygons(computation, rings)
  return zonalStatistics(computation, of, region, { quantiles: QUANTILES, bins: 0 })
}

/** Parts that edges are divided into: lines in degrees are curves on a projected grid. */
const PARTS = 40

async function projected(polygons: Polygons, srid: number): Promise<Polygons> {
  const divided = polygons.map((polygon) =>
    polygon.map((ring) =>
      ring.flatMap(([x, y], index) => {
        const next = ring[index + 1]
        if (!next) return [[x, y]]
        return Array.from({ length: PARTS }, (_, part) => [
          x + ((next[0] - x) * part) / PARTS,
          y + ((next[1] - y) * part) / PARTS,
        ])
      }),
    ),
  )
  const { rows } = await sql<{ geometry: { coordinates: Polygons } }>`
    select st_asgeojson(
      st_transform(
        st_geomfromgeojson(${JSON.stringify({ type: 'MultiPolygon', coordinates: divided })}),
        ${srid}::integer
      ),
      15
    )::json as geometry`.execute(service.database.reader)
  return (rows[0] as { geometry: { coordinates: Polygons } }).geometry.coordinates
}

/** How far off an answer is, at worst, relatively; infinitely where a smallest or largest value differs. */
async function worstDifference(
  polygons: Polygons,
  { grid, geographic, layers }: (typeof GRIDS)[number],
  coverage: ZonalCoverage,
): Promise<number> {
  const { areaHa, layers: found } = await zonal(polygons, [coverage])
  const shape = geographic ? polygons : await projected(polygons, grid.srid)
  const weights = weightsOf(shape, grid, geographic ? ellipsoidArea : planarArea)
  const differences = [Math.abs(areaHa / (areaOf(polygons, ellipsoidArea) / 10_000) - 1)]
  for (const [index, { pixel, scale, offset }] of layers.entries()) {
    const valueAt = (column: number, row: number) => {
      const value = pixel(column, row)
      return value === null ? null : value * scale + offset
    }
    const expected = statisticsOf(weights, valueAt)
    const statistics = found[coverage.bands[index]?.index as number]
    if (!expected || !statistics) {
      differences.push(!expected && !statistics ? 0 : Number.POSITIVE_INFINITY)
      continue
    }
    const size = Math.max(Math.abs(expected.minimum), Math.abs(expected.maximum))
    differences.push(
      Math.abs(statistics.mean - expected.mean) / size,
      Math.abs(statistics.covered / expected.covered - 1),
      Math.abs(statistics.deviation - expected.deviation) / size,
      statistics.minimum === expected.minimum && statistics.maximum === expected.maximum
        ? 0
        : Number.POSITIVE_INFINITY,
      ...(statistics.distribution?.quantiles ?? []).map(({ quantile, value, error }) =>
        error === 0 ? missOf(weights, valueAt, quantile, value) : Number.POSITIVE_INFINITY,
      ),
    )
  }
  return Math.max(...differences)
}

const RANGES: Record<string, Pick<ShapeOptions, 'within' | 'largest'>> = {
  // Half of them lie across the edges of the grid.
  degrees: { within: [36, 3.8, 47, 12.6], largest: 5_000_000 },
  'south up': { within: [36, 5, 46, 11.5], largest: 5_000_000 },
  projected: { within: [36.6, 6.4, 39.6, 9.2], largest: 50_000 },
}

const POLYGONS = runsOf(24)

describe.each(GRIDS)('weights on a grid: $name', (target) => {
  test('random polygons come to what cutting out each pixel does, to a millionth', async () => {
    const coverage = coverages.find(({ originX }) => originX === target.grid.originX) as ZonalCoverage
    const random = randomNumbers(20_260_700 + target.grid.width)
    const { grid } = target
    const options: ShapeOptions = {
      ...(RANGES[target.name] as Pick<ShapeOptions, 'within' | 'largest'>),
      smallest: 0.05,
      origin: [grid.originX, grid.originY],
      pixel: target.geographic ? grid.pixelWidth : 0.03,
    }
    const off: unknown[] = []
    for (let index = 0; index < POLYGONS; index++) {
      const polygons = randomPolygons(random, index, options)
      const difference = await worstDifference(polygons, target, coverage)
      if (!(difference < 1e-6)) off.push({ index, difference, polygons: JSON.stringify(polygons) })
    }
    expect(off).toEqual([])
  }, 600_000)
})
