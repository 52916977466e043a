import { expect, test } from 'vitest'
import { planWindows } from '#src/ingest/geotiff/source.ts'
import type { Grid, Window } from '#src/raster/grid.ts'

const grid: Grid = {
  srid: 4326,
  originX: 0,
  originY: 0,
  pixelWidth: 1,
  pixelHeight: -1,
  width: 1000,
  height: 300,
}

/** A layer in blocks of 100 x 100 pixels, of which those at some columns and rows were written. */
function layerWith(...written: [column: number, row: number][]): Parameters<typeof planWindows>[1][number] {
  const isBlank = ({ column, row, width, height }: Window) =>
    !written.some(
      ([x, y]) =>
        x * 100 < column + width && (x + 1) * 100 > column && y * 100 < row + height && (y + 1) * 100 > row,
    )
  const layer = {
    files: [{ block: { width: 100, height: 100 }, grid }],
    pixelBytes: 4,
    isBlank,
  }
  return layer as unknown as Parameters<typeof planWindows>[1][number]
}

test('windows are of what a layer has, and leave out what none was written in', () => {
  const layers = [layerWith([0, 0], [1, 0], [9, 0]), layerWith([5, 2])]
  expect(planWindows(grid, layers)).toEqual([
    { row: 0, column: 0, width: 224, height: 128 },
    { row: 0, column: 896, width: 104, height: 128 },
    { row: 128, column: 448, width: 224, height: 128 },
    { row: 256, column: 448, width: 224, height: 44 },
  ])
})

test('nothing is read of a file without any pixel', () => {
  const layers = [layerWith()]
  expect(planWindows(grid, layers)).toEqual([])
})
