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
    files: [{ block: { width: 100, height: 100 }, heldBytes: 0, grid }],
    pixelBytes: 4,
    isBlank,
  }
  return layer as unknown as Parameters<typeof planWindows>[1][number]
}

test('windows are of what a layer has, and leave out what none was written in', () => {
  const layers = [layerWith([0, 0], [1, 0], [9, 0]), layerWith([5, 2])]
  expect(planWindows(grid, layers, layers)).toEqual([
    { row: 0, column: 0, width: 224, height: 128 },
    { row: 0, column: 896, width: 104, height: 128 },
    { row: 128, column: 448, width: 224, height: 128 },
    { row: 256, column: 448, width: 224, height: 44 },
  ])
})

test('nothing is read of a file without any pixel', () => {
  const layers = [layerWith()]
  expect(planWindows(grid, layers, layers)).toEqual([])
})

/** A layer of as many files as single strips, one under the other, of five Float32 bands. */
function layerOfStrips(files: number): Parameters<typeof planWindows>[1][number] {
  const strip = () => ({ block: { width: 17_000, height: 1 }, heldBytes: 20, grid: WIDE })
  const layer = { files: Array.from({ length: files }, strip), pixelBytes: 20, isBlank: () => false }
  return layer as unknown as Parameters<typeof planWindows>[1][number]
}

const WIDE: Grid = { ...grid, width: 17_000, height: 6000 }

test.each([
  { files: 3, height: 128 },
  { files: 4, height: 96 },
  { files: 24, height: 16 },
])(
  'windows are so low that the rows that $files files hold as single strips fit: $height rows',
  ({ files, height }) => {
    const together = [layerOfStrips(files)]
    expect(planWindows(WIDE, together, together)[0]).toEqual({ row: 0, column: 0, width: 17_000, height })
    const one = layerOfStrips(1)
    const onOtherGrid = layerOfStrips(files - 1)
    expect(planWindows(WIDE, [one], [one, onOtherGrid])[0]).toEqual({
      row: 0,
      column: 0,
      width: 17_000,
      height,
    })
  },
)
