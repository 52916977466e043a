import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { loadRelease } from '#src/ingest/load.ts'
import type { ReleaseSource } from '#src/ingest/source.ts'
import { createPixels } from '#src/raster/pixels.ts'
import { askForMany, collectionOf, rowsOf } from '#test/advice/polygons/ask.ts'
import { rectangle } from '#test/setup/boundaries.ts'
import { createTestAppWithPerson, type TestAppWithPerson } from '#test/setup/people.ts'
import { gridOf, layerOf, releaseDescription } from '#test/setup/releases.ts'
import { askWithin } from './ask.ts'
import { ellipsoidArea } from './brute-force.ts'

// Runs on a server alone: all of it is computed here, from tiles and summaries that are the same on both.

const PIXEL = 1 / 256
/** 5,184 tiles: more than are read pixel by pixel. */
const SIDE = 1152
const WINDOW = 128
const GRID = gridOf(4326, [37, 12], [PIXEL, -PIXEL], [SIDE, SIDE])

/** Steps of some pixels, and a grain in a part of them. */
function pixelAt(column: number, row: number): number {
  const step = Math.floor(column / 20) * 20 + Math.floor(row / 30) * 10
  return 1000 + step + (row < SIDE / 2 ? (column * 7 + row * 13) % 200 : 0)
}

function release(): ReleaseSource {
  const starts = Array.from({ length: SIDE / WINDOW }, (_, index) => index * WINDOW)
  return {
    description: releaseDescription({ product: 'yield' }),
    coverages: [
      {
        grid: GRID,
        layers: [
          layerOf('', {
            ...{ input: null, scale: 0.5, offset: 10, decimals: 1 },
            ...{ pixelType: '16BSI', nodata: -1 },
          }),
        ],
        windows: starts.flatMap((row) =>
          starts.map((column) => ({ row, column, width: WINDOW, height: WINDOW })),
        ),
        read: async ({ column, row, width, height }) => {
          const pixels = createPixels('16BSI', width * height)
          for (let at = 0; at < pixels.length; at++) {
            pixels[at] = pixelAt(column + (at % width), row + Math.floor(at / width))
          }
          return [pixels]
        },
      },
    ],
  }
}

/** How much of the first so many pixels each way has which value, by value. */
function areasByValue(side: number): Map<number, number> {
  const areas = new Map<number, number>()
  for (let row = 0; row < side; row++) {
    const [north, south] = [12 - row * PIXEL, 12 - (row + 1) * PIXEL]
    const area = ellipsoidArea([
      [37, north],
      [37 + PIXEL, north],
      [37 + PIXEL, south],
      [37, south],
      [37, north],
    ])
    for (let column = 0; column < side; column++) {
      const value = pixelAt(column, row) * 0.5 + 10
      areas.set(value, (areas.get(value) ?? 0) + area)
    }
  }
  return areas
}

function quantileOf(areas: Map<number, number>, part: number): number {
  const sorted = [...areas].sort(([a], [b]) => a - b)
  const total = sorted.reduce((sum, [, area]) => sum + area, 0)
  let upTo = 0
  for (const [value, area] of sorted) {
    upTo += area
    if (upTo >= part * total) return value
  }
  throw new Error('there are no values')
}

const PARTS = [0.1, 0.5, 0.9]

describe('how values are distributed', () => {
  let service: TestAppWithPerson
  beforeAll(async () => {
    service = await createTestAppWithPerson({
      template: 'empty',
      prepare: (database) => loadRelease(database, release()),
    })
  })
  afterAll(() => service.close())

  async function ask(side: number, query: string) {
    const geometry = rectangle(37, 12 - side * PIXEL, 37 + side * PIXEL, 12)
    const { app, person } = service
    const response = await app.inject({
      method: 'POST',
      url: `/advisory/yield?${query}`,
      headers: person.headers,
      payload: { geometry },
    })
    return response.json()
  }

  test('mean, extremes, cover and quantiles of a field of many pixels are exact', async () => {
    const areas = areasByValue(300)
    const [entry] = (await ask(300, 'quantiles=0.1,0.5,0.9')).yield_data
    expect(entry.quantiles).toEqual(
      PARTS.map((quantile) => ({ quantile, value: quantileOf(areas, quantile), error: 0 })),
    )
    const total = [...areas.values()].reduce((sum, area) => sum + area, 0)
    const mean = [...areas].reduce((sum, [value, area]) => sum + (value * area) / total, 0)
    const [least, most] = [Math.min(...areas.keys()), Math.max(...areas.keys())]
    expect(entry).toMatchObject({ yield_kg_ha: Number(mean.toFixed(1)), min: least, max: most })
    expect(entry.covered_percent).toBeCloseTo(100, 4)
    expect(entry).not.toHaveProperty('histogram')
  })

  test('those of more than a million pixels lie as near to the exact ones as they say', async () => {
    const areas = areasByValue(SIDE)
    const [entry] = (await ask(SIDE, 'quantiles=0.1&quantiles=0.5&quantiles=0.9')).yield_data
    expect(entry.quantiles.map(({ quantile }: { quantile: number }) => quantile)).toEqual(PARTS)
    for (const { quantile, value, error } of entry.quantiles) {
      expect(Math.abs(value - quantileOf(areas, quantile))).toBeLessThanOrEqual(error + 0.05)
      expect(error).toBeLessThan((entry.max - entry.min) / 10)
    }
    const [plain] = (await ask(SIDE, '')).yield_data
    const { quantiles: _, ...others } = entry
    expect(others).toEqual(plain)
  })

  test('many polygons have them as columns, and a histogram only where there is room for one', async () => {
    const geometry = rectangle(37, 12 - 300 * PIXEL, 37 + 300 * PIXEL, 12)
    const collection = collectionOf([{ type: 'Feature', geometry }])
    const asked = (accept: string, query: string) =>
      askForMany(service.app, service.person, 'yield', collection, { accept, query })
    const [row] = rowsOf((await asked('text/csv', '?quantiles=0.5,0.1')).body)
    const { yield_data } = await ask(300, 'quantiles=0.5,0.1')
    const [half, tenth] = yield_data[0].quantiles
    expect(row).toMatchObject({
      'quantile_0.5 Normal': String(half.value),
      'quantile_0.5_error Normal': '0',
      'quantile_0.1 Normal': String(tenth.value),
    })
    const { items } = (await asked('application/json', '?quantiles=0.5,0.1&histogram=3')).json()
    expect(items[0].yield_data[0]).toMatchObject({ quantiles: [half, tenth] })
    expect(items[0].yield_data[0].histogram).toHaveLength(3)
    const refused = await asked('text/csv', '?histogram=3')
    expect([refused.statusCode, refused.json().error]).toEqual([
      400,
      'histogram must be left out for CSV, GeoJSON and DHIS2, which have no columns for it.',
    ])
  })

  test.each([
    ['quantiles=2', 'quantiles.0 must be a number from 0 to 1.'],
    [
      `quantiles=${Array.from({ length: 21 }, (_, index) => index / 21)}`,
      'quantiles must have at most 20 items.',
    ],
  ])('%s is refused', async (query, error) => {
    expect(await ask(2, query)).toMatchObject({ code: 'INVALID_PARAMETERS', error })
  })

  test('in the body they are lists and numbers, and the history keeps them', async () => {
    const payload = { geometry: rectangle(37, 11.9, 37.1, 12), quantiles: [0.5], histogram: 2 }
    const { body } = await askWithin(service.app, service.person, 'yield', payload)
    const item = await service.app.inject({
      url: `/history/${body.history_id}`,
      headers: service.person.headers,
    })
    expect(item.json().request).toMatchObject({ quantiles: [0.5], histogram: 2 })
    expect(item.json().answer.yield_data).toEqual(body.yield_data)
  })
})
