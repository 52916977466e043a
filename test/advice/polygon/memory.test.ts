import { expect, test } from 'vitest'
import type { ZonalCoverage } from '#src/advice/polygon/queries.ts'
import { createRegionKey } from '#src/advice/polygon/statistics.ts'
import { createRegions } from '#src/advice/polygon/weighing.ts'
import type { Rings } from '#src/raster/rings.ts'
import { rectangle } from '#test/setup/square.ts'

test('weights of the fields that were used last are in memory, and of no more than fit', async () => {
  expect([await weigh(fieldOf(0)), await weigh(fieldOf(0))]).toEqual([true, false])
  for (let index = 1; index < 45_000; index++) await weigh(fieldOf(index))
  expect(await weigh(fieldOf(44_999))).toBe(false)
  expect(await weigh(fieldOf(10_000))).toBe(false)
  expect(await weigh(fieldOf(1))).toBe(true)
})

test('those of a border of more than 100,000 pixels are not kept', async () => {
  const strips = Array.from({ length: 20 }, (_, at) => boxOf(34.001 + at / 2, 4, 34.301 + at / 2, 14))
  expect([await weigh(strips), await weigh(strips)]).toEqual([true, true])
  expect([await weigh(strips.slice(0, 5)), await weigh(strips.slice(0, 5))]).toEqual([true, false])
})

/** Pixels of about 300 m. */
const COVERAGE = {
  ...{ srid: 4326, geographic: true, originX: 33, originY: 15, pixelWidth: 1 / 360, pixelHeight: -1 / 360 },
  ...{ width: 5400, height: 4320, tileSize: 16 },
} as ZonalCoverage

const regionOf = createRegions()

/** Weighs a region, and says whether it had to. */
async function weigh(polygons: Rings[]): Promise<boolean> {
  let isWeighed = false
  const pause = async () => {
    isWeighed = true
  }
  const ask = () => Promise.reject(new Error('nothing is asked of the database'))
  const region = await regionOf({ ask, pause }, polygons, createRegionKey(polygons))
  await region.weightsOf(COVERAGE)
  return isWeighed
}

const boxOf = (...bounds: [number, number, number, number]): Rings => [
  Float64Array.from((rectangle(...bounds).coordinates[0] as number[][]).flat()),
]

/** A field of a hectare. */
function fieldOf(index: number): Rings[] {
  const [west, south] = [35 + (index % 1000) / 300, 5 + Math.floor(index / 1000) / 300]
  return [boxOf(west, south, west + 0.0009, south + 0.0009)]
}
