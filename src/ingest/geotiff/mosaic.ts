import { OperatorError } from '#src/errors.ts'
import { type PixelGrid, ROUNDING } from '#src/raster/grid.ts'
import type { RasterFile } from './file.ts'
import { type Piece, type Placement, placementOf } from './placement.ts'
import { refuseAbsurdGrid } from './size.ts'

/**
 * The smallest grid that has the pixels of all files.
 *
 * @throws {OperatorError} where their pixels do not lie in the same columns and rows
 */
export function mosaicOf([first, ...others]: readonly [RasterFile, ...RasterFile[]]): Placement {
  if (others.length === 0) return placementOf(first.grid)
  const pieces = [first, ...others].map(({ grid, path }, file): Piece => {
    refuseOtherSpacing(first, { grid, path })
    const { width, height } = grid
    const column = (grid.originX - first.grid.originX) / first.grid.pixelWidth
    const row = (grid.originY - first.grid.originY) / first.grid.pixelHeight
    const place = { column: Math.round(column), row: Math.round(row) }
    if (Math.max(Math.abs(column - place.column), Math.abs(row - place.row)) > ROUNDING) {
      throw new OperatorError(
        `${path} has pixels that lie between those of ${first.path}; files of one layer share their columns and rows: gdalwarp -tap puts them there.`,
      )
    }
    return { file, ...place, width, height, from: { column: 0, row: 0 } }
  })
  const column = Math.min(...pieces.map((piece) => piece.column))
  const row = Math.min(...pieces.map((piece) => piece.row))
  const { originX, originY, pixelWidth, pixelHeight } = first.grid
  const grid = {
    originX: originX + column * pixelWidth,
    originY: originY + row * pixelHeight,
    pixelWidth,
    pixelHeight,
    width: Math.max(...pieces.map((piece) => piece.column + piece.width)) - column,
    height: Math.max(...pieces.map((piece) => piece.row + piece.height)) - row,
  }
  refuseAbsurdGrid(grid, `${first.path} with the other files of its layer`)
  return {
    grid,
    pieces: pieces.map((piece) => ({ ...piece, column: piece.column - column, row: piece.row - row })),
  }
}

/** Pixels of one size stay in their columns and rows from one end of a file to the other. */
function refuseOtherSpacing(first: RasterFile, { grid, path }: { grid: PixelGrid; path: string }): void {
  const { pixelWidth, pixelHeight } = first.grid
  const apart = Math.max(
    Math.abs(((grid.pixelWidth - pixelWidth) * grid.width) / pixelWidth),
    Math.abs(((grid.pixelHeight - pixelHeight) * grid.height) / pixelHeight),
  )
  if (apart <= ROUNDING) return
  throw new OperatorError(
    `${path} has pixels of ${sizeOf(grid)}, and ${first.path} of ${sizeOf(first.grid)}; files of one layer have pixels of one size: gdalwarp -tr makes them so.`,
  )
}

function sizeOf({ pixelWidth, pixelHeight }: PixelGrid): string {
  return `${pixelWidth} x ${pixelHeight}`
}
