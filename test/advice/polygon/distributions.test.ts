import { describe, expect, test } from 'vitest'
import { loadRelease } from '#src/ingest/load.ts'
import type { ReleaseSource } from '#src/ingest/source.ts'
import { askForMany, collectionOf, rowsOf } from '#test/advice/polygons/ask.ts'
import { rectangle } from '#test/setup/boundaries.ts'
import { openService } from '#test/setup/open-service.ts'
import { gridOf, layerOf, releaseOn } from '#test/setup/releases.ts'
import { askWithin } from './ask.ts'
import { ellipsoidArea } from './brute-force.ts'

// Runs on a server alone: all of it is computed here, from tiles and summaries that are the same on both.

const PIXEL = 1 / 256
/** 5,184 tiles: more than are read pixel by pixel. */
const SIDE = 1152
const GRID = gridOf(4326, [37, 12], [PIXEL, -PIXEL], [SIDE, SIDE])

/** Steps of some pixels, and a grain in a part of them. */
function pixelAt(column: number, row: number): number {
  const step = Math.floor(column / 20) * 20 + Math.floor(row / 30) * 10
  return 1000 + step + (row < SIDE / 2 ? (column * 7 + row * 13) % 200 : 0)
}

function release(): ReleaseSource {
  const scaled = { input: null, scale: 0.5, offset: 10, decimals: 1 }
  const layer = layerOf('', { ...scaled, pixelType: '16BSI', nodata: -1 })
  const pixels = Int16Array.from({ length: SIDE * SIDE }, (_, at) =>
    pixelAt(at % SIDE, Math.floor(at / SIDE)),
  )
  return releaseOn(GRID, [layer], [pixels], { product: 'yield' })
}

const PARTS = [0.1, 0.5, 0.9]

describe('how values are distributed', () => {
  const service = openService({
    template: 'empty',
    prepare: (database) => loadRelease(database, release()),
  })

  async function ask(side: number, query: string) {
    const geometry = rectangle(37, 12 - side * PIXEL, 37 + side * PIXEL, 12)
    const sent = { by: service.person, payload: { geometry } }
    return (await service.post(`/advisory/yield?${query}`, sent)).body
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
    const [row] = rowsOf((await asked('text/csv', '?quantiles=0.5,0.1')).text)
    const { yield_data } = await ask(300, 'quantiles=0.5,0.1')
    const [half, tenth] = yield_data[0].quantiles
    expect(row).toMatchObject({
      'quantile_0.5 Normal': String(half.value),
      'quantile_0.5_error Normal': '0',
      'quantile_0.1 Normal': String(tenth.value),
    })
    const { items } = (await asked('application/json', '?quantiles=0.5,0.1&histogram=3')).body
    expect(items[0].yield_data[0]).toMatchObject({ quantiles: [half, tenth] })
    expect(items[0].yield_data[0].histogram).toHaveLength(3)
    const refused = await asked('text/csv', '?histogram=3')
    expect([refused.status, refused.body.error]).toEqual([
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
    const item = await service.get(`/history/${body.history_id}`, { by: service.person })
    expect(item.body.request).toMatchObject({ quantiles: [0.5], histogram: 2 })
    expect(item.body.answer.yield_data).toEqual(body.yield_data)
  })
})

/** How much of the first so many pixels each way has which value, by value. */
function areasByValue(side: number): Map<number, number> {
  const areas = new Map<number, number>()
  for (let row = 0; row < side; row++) {
    const [north, south] = [12 - row * PIXEL, 12 - (row + 1) * PIXEL]
    const [pixel = []] = rectangle(37, south, 37 + PIXEL, north).coordinates
    const area = ellipsoidArea(pixel)
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
