import fc from 'fast-check'
import { expect, test } from 'vitest'
import { type ReleaseFacts, undeclaredNodata } from '#src/ingest/checks/rules.ts'
import { layerCollector } from '#src/ingest/statistics.ts'
import { gridOf, layerOf } from '#test/setup/releases.ts'

const SIZE = 64

/** A field of values that go from one to the next in small steps: hills, of which none is lower than 0. */
const smoothField = fc
  .record({
    height: fc.double({ min: 10, max: 8000, noNaN: true }),
    waves: fc.array(
      fc.record({
        x: fc.double({ min: -0.12, max: 0.12, noNaN: true }),
        y: fc.double({ min: -0.12, max: 0.12, noNaN: true }),
        phase: fc.double({ min: 0, max: 6.28, noNaN: true }),
      }),
      { minLength: 1, maxLength: 4 },
    ),
    /** Where the ground lies, in parts of the height: all below is 0. */
    ground: fc.double({ min: -1, max: 0.5, noNaN: true }),
  })
  .map(({ height, waves, ground }) =>
    Float32Array.from({ length: SIZE * SIZE }, (_, index) => {
      const [row, column] = [Math.floor(index / SIZE), index % SIZE]
      const hills = waves.map(({ x, y, phase }) => Math.sin(x * column + y * row + phase))
      const mean = hills.reduce((sum, hill) => sum + hill, 0) / waves.length
      return Math.max(0, height * (mean - ground))
    }),
  )
  // The top of a hill that is a few pixels wide has steps that are not small.
  .filter(goesInSmallSteps)

test('no value of a smooth field looks like nodata, its zeros neither', () => {
  fc.assert(
    fc.property(smoothField, (field) => {
      expect(findingsIn(field)).toEqual([])
    }),
    { numRuns: 30 },
  )
})

test('the edges of a field that is flat but for how floats are rounded do not', () => {
  // A hill of two values, one bit apart: the lower one is at all edges.
  const field = Float32Array.from({ length: SIZE * SIZE }, (_, index) => {
    const [row, column] = [Math.floor(index / SIZE), index % SIZE]
    return 100 - 4e-9 * ((row - SIZE / 2) ** 2 + (column - SIZE / 2) ** 2)
  })
  expect(new Set(field).size).toBe(2)
  expect(findingsIn(field)).toEqual([])
})

test('-9999 in two percent of the pixels always does, wherever they are', () => {
  const places = fc.uniqueArray(fc.nat(SIZE * SIZE - 1), { minLength: 82, maxLength: 82 })
  fc.assert(
    fc.property(smoothField, places, (field, filled) => {
      const pixels = field.slice()
      for (const place of filled) pixels[place] = -9999
      expect(findingsIn(pixels)).toMatchObject([{ figures: { value: -9999, part: 82 / SIZE ** 2 } }])
    }),
    { numRuns: 30 },
  )
})

test('a value that one pixel in a hundred has is left alone', () => {
  const field = Float32Array.from({ length: SIZE * SIZE }, (_, index) => (index < 40 ? -9999 : index))
  expect(findingsIn(field)).toEqual([])
})

/** Whether values differ, and neighbours by at most an eighth of that. */
function goesInSmallSteps(field: Float32Array): boolean {
  const [low, high] = [Math.min(...field), Math.max(...field)]
  if (low === high) return false
  return field.every((value, index) => {
    const right = index % SIZE === SIZE - 1 ? value : (field[index + 1] as number)
    const below = field[index + SIZE] ?? value
    return Math.max(Math.abs(right - value), Math.abs(below - value)) <= (high - low) / 8
  })
}

/** What the check finds in a layer of these pixels. */
function findingsIn(pixels: Float32Array) {
  const layers = [layerOf('Urea')]
  const grid = gridOf(4326, [38, 10], [1, -1], [SIZE, SIZE])
  const collector = layerCollector({ grid, layers })
  collector.add({ column: 0, row: 0, width: SIZE, height: SIZE }, [pixels])
  const read = collector.result().layers.map(({ layer, statistics, ...rest }) => {
    return { ...layer, statistics, raw: { pixelType: layer.pixelType, ...rest } }
  })
  const coverages = [
    { extent: { west: 0, south: 0, east: 0, north: 0 }, pixels: pixels.length, layers: read },
  ]
  return undeclaredNodata({ coverages } as unknown as ReleaseFacts, {} as never)
}
