import { describe, expect, test } from 'vitest'
import { createMeasure } from '#src/raster/grid.ts'
import type { Rings } from '#src/raster/rings.ts'
import { projectOnGrid } from '#src/raster/scan.ts'
import { summarizePixels } from '#src/raster/summary.ts'
import {
  decodeWeights,
  encodeWeights,
  gridKey,
  type PolygonWeights,
  scanWeights,
} from '#src/raster/weights.ts'
import type { Polygons } from '#test/advice/polygon/brute-force.ts'
import { randomNumbers, randomPolygons } from '#test/advice/polygon/shapes.ts'
import { rectangle } from '#test/setup/square.ts'

const TILE_SIZE = 16

function gridAt(srid: number, corner: [number, number], [pixelWidth, pixelHeight]: [number, number]) {
  const [originX, originY] = corner
  const size = { width: 821, height: 653, tileSize: TILE_SIZE }
  return { srid, originX, originY, pixelWidth, pixelHeight, ...size }
}

const GRIDS = [
  { name: 'degrees', grid: gridAt(4326, [36.4, 12.3], [0.0125, -0.0125]) },
  { name: 'degrees, from the south', grid: gridAt(4326, [36.41, 5.37], [0.0125, 0.01]) },
  { name: 'a plane', grid: gridAt(32637, [3_640_000, 1_230_000], [1250, -1250]) },
]

describe.each(GRIDS)('on a grid in $name', ({ grid }) => {
  const options = {
    within: [36, 3.8, 47, 12.6] as [number, number, number, number],
    smallest: 0.05,
    largest: 5_000_000,
    origin: [36.4, 12.3] as [number, number],
    pixel: 0.0125,
  }

  test('weights of fields, slivers, holes and several polygons are read as they were written, to the last bit', () => {
    const random = randomNumbers(31)
    let inside = 0
    for (let index = 0; index < 180; index++) {
      const { scanned, decode } = weightsOf(grid, randomPolygons(random, index, options))
      const decoded = decode()
      // Object.is, so that 0 and -0 differ.
      expect(decoded).toStrictEqual(scanned)
      inside += scanned.rows.filter((row) => row.inside.length > 0).length
    }
    expect(inside).toBeGreaterThan(100)
  })

  test('pixels that are summed up alone come to the same bits as all pixels of their tiles', () => {
    const random = randomNumbers(32)
    for (let index = 0; index < 60; index++) {
      const { scanned } = weightsOf(grid, randomPolygons(random, index, options))
      for (const { row, border } of scanned.rows) {
        for (const { column, ...covered } of border) {
          const width = Math.min(TILE_SIZE, grid.width - column * TILE_SIZE)
          const height = Math.min(TILE_SIZE, grid.height - row * TILE_SIZE)
          const pixels = Float32Array.from({ length: width * height }, () =>
            random() < 0.2 ? -1 : 1e4 + random(),
          )
          const all = new Float64Array(width * height)
          covered.indexes.forEach((index, at) => {
            all[index] = covered.areas[at] as number
          })
          expect(summarizePixels({ pixels, nodata: -1 }, covered)).toStrictEqual(
            summarizeAll(pixels, -1, all),
          )
        }
      }
    }
  })
})

/** The statistics of a tile, each of whose pixels has an area. */
function summarizeAll(pixels: Float32Array, nodata: number, areas: Float64Array) {
  const found = [...pixels].map((pixel, at) => ({ pixel, area: areas[at] as number }))
  const valid = found.filter(({ pixel, area }) => pixel !== nodata && area > 0)
  const weight = valid.reduce((sum, { area }) => sum + area, 0)
  const mean = weight === 0 ? 0 : valid.reduce((sum, { area, pixel }) => sum + area * pixel, 0) / weight
  return {
    weight,
    mean,
    squares: valid.reduce((sum, { area, pixel }) => sum + area * (pixel - mean) * (pixel - mean), 0),
    minimum: valid.reduce((least, { pixel }) => Math.min(least, pixel), Number.POSITIVE_INFINITY),
    maximum: valid.reduce((most, { pixel }) => Math.max(most, pixel), Number.NEGATIVE_INFINITY),
  }
}

const pixelsIn = ({ rows }: ReturnType<typeof read>) =>
  rows.flatMap(({ border }) => border.flatMap(({ areas }) => [...areas]))

describe('weights take few bytes', () => {
  /** Pixels of about 300 m. */
  const FINE = { ...gridAt(4326, [33, 15], [1 / 360, -1 / 360]), width: 5400, height: 4320 }

  /** @param pixels from the corner of a pixel to the middle of the square, and its half side */
  function squareOn(pixels: number, half: number): Polygons {
    const [x, y] = [38 + pixels / 360, 9 - pixels / 360]
    const [size] = [half / 360]
    return [rectangle(x - size, y - size, x + size, y + size).coordinates as Polygons[number]]
  }

  test.each([
    ['within a pixel', 0.5, 17],
    ['over four pixels', 4, 43],
  ])('a field of a hectare %s', (_, pixels, expected) => {
    expect(weightsOf(FINE, squareOn(pixels, 0.16)).bytes?.length).toBe(expected)
  })

  test('a zone of 12,000 km2', () => {
    const options = { within: [38, 9, 38, 9], smallest: 1_200_000, largest: 1_200_000 }
    const shape = { ...options, origin: [33, 15], pixel: 1 / 360 } as Parameters<typeof randomPolygons>[2]
    const { scanned, bytes } = weightsOf(FINE, randomPolygons(randomNumbers(33), 0, shape))
    const partial = new Set(pixelsIn(scanned)).size
    expect(partial).toBeGreaterThan(1000)
    expect((bytes as Uint8Array).length / partial).toBeLessThan(13)
  })

  test('a polygon whose border has too many pixels is not encoded', () => {
    const strips = Array.from({ length: 20 }, (_, at) => rectangle(34.001 + at / 2, 4, 34.301 + at / 2, 14))
    const polygons = strips.map(({ coordinates }) => coordinates as Polygons[number])
    const { scanned, bytes } = weightsOf(FINE, polygons)
    expect(pixelsIn(scanned).length).toBeGreaterThan(130_000)
    expect(bytes).toBeUndefined()
  })

  test('a part of them is no weights', () => {
    const grid = FINE
    const { bytes } = weightsOf(grid, squareOn(0.5, 0.16))
    const part = (bytes as Uint8Array).slice(0, 5)
    expect(() => read(decodeWeights(part, grid, createMeasure(grid, true)))).toThrow(RangeError)
  })
})

test('the key of a grid is a text with all its numbers', () => {
  const { grid } = GRIDS[0] as (typeof GRIDS)[number]
  expect(gridKey(grid)).toBe('1 4326 36.4 12.3 0.0125 -0.0125 821 653 16')
})

type TestGrid = ReturnType<typeof gridAt>

const isGeographic = ({ srid }: TestGrid) => srid === 4326

/** A plane has 100,000 of its units in a degree. */
function ringsOn(grid: TestGrid, polygons: Polygons): Rings[] {
  const units = isGeographic(grid) ? 1 : 100_000
  return polygons.map((rings) =>
    rings.map((ring) => Float64Array.from(ring.flat(), (number) => number * units)),
  )
}

function weightsOf(grid: TestGrid, polygons: Polygons) {
  const measure = createMeasure(grid, isGeographic(grid))
  const placed = projectOnGrid(grid, isGeographic(grid), ringsOn(grid, polygons))
  const rows = () => scanWeights(placed, grid, measure)
  const steps = encodeWeights(rows(), grid, measure)
  let step = steps.next()
  while (!step.done) step = steps.next()
  const bytes = step.value
  return {
    scanned: read(rows()),
    bytes,
    decode: () => read(decodeWeights(bytes as Uint8Array, grid, measure)),
  }
}

function read(steps: ReturnType<PolygonWeights['rows']>) {
  const rows = []
  let step = steps.next()
  for (; !step.done; step = steps.next()) if (step.value) rows.push(step.value)
  return { rows, total: step.value }
}
