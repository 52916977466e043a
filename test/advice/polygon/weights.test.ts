import { sql } from 'kysely'
import { beforeAll, describe, expect, test } from 'vitest'
import { listCoverages, type ZonalCoverage, type ZonalStatistics } from '#src/advice/polygon/queries.ts'
import { type Computation, readTiles } from '#src/advice/polygon/tiles.ts'
import { weighPolygons } from '#src/advice/polygon/weighing.ts'
import { zonalStatistics } from '#src/advice/polygon/zonal-statistics.ts'
import { readUntil } from '#src/data/cancellable.ts'
import { loadRelease } from '#src/ingest/load.ts'
import type { Wait } from '#src/lib/time-budget.ts'
import { openService } from '#test/setup/open-service.ts'
import { runsOf } from '#test/setup/property-runs.ts'
import {
  areaOf,
  ellipsoidArea,
  missOf,
  type Polygons,
  planarArea,
  statisticsOf,
  weightsOf,
} from './brute-force.ts'
import { closed, randomNumbers, randomPolygons, type ShapeOptions } from './shapes.ts'
import { GRIDS, RANGES, release } from './weighed-layers.ts'

let coverages: ZonalCoverage[]
const service = openService({
  template: 'empty',
  prepare: (database) => loadRelease(database, release()),
})
beforeAll(async () => {
  const { id } = await service.database.reader.selectFrom('release').select('id').executeTakeFirstOrThrow()
  coverages = await listCoverages(service.database.reader, id)
})

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

  // Random ones are smaller than tiles, but for a few.
  test('so does one that has whole tiles in it, with and without summaries', async () => {
    const coverage = coverages.find(({ originX }) => originX === target.grid.originX) as ZonalCoverage
    const { within } = RANGES[target.name] as Pick<ShapeOptions, 'within'>
    const [west, south, east, north] = within
    const [x, y] = [(west + east) / 2, (south + north) / 2]
    const slanted = [
      [
        closed([
          [x - 1, y - 1.1],
          [x + 1.2, y - 1],
          [x + 1.1, y + 1.3],
          [x - 1.1, y + 1],
        ]),
      ],
    ]
    for (const summarised of [true, false]) {
      expect(await worstDifference(slanted as Polygons, target, { ...coverage, summarised })).toBeLessThan(
        1e-6,
      )
    }
  })
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
