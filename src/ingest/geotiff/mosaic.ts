import { OperatorError } from '#src/errors.ts'
import { shortNumber } from '#src/lib/round.ts'
import { type PixelGrid, ROUNDING, type Window } from '#src/raster/grid.ts'
import { refuseAbsurdGrid } from './bands.ts'
import type { RasterFile } from './file.ts'

/** The smallest common grid. */
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

/** Pixels of a size stay in their columns and rows over the whole file. */
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

const CIRCLE = 360
/** Larger numbers are no degrees. */
const FARTHEST = 540

/**
 * Moves a geographic grid between 180 degrees west and east, where points are looked up. A grid on both sides of the
 * meridian wraps around the Earth.
 */
export function betweenMeridians({ grid, pieces }: Placement, path: string): Placement {
  const { originX, pixelWidth, width } = grid
  const span = width * pixelWidth
  if (Math.max(-originX, originX + span) > FARTHEST) return { grid, pieces }
  if (span > CIRCLE + 2 * pixelWidth) {
    throw new OperatorError(
      `${path} has ${shortNumber(span)} degrees of longitude, and places twice that are the same: cut it with gdal_translate -projwin, or have all files of its layer count longitudes in one way with gdal_translate -a_ullr.`,
    )
  }
  const turns = Math.round((originX + span / 2) / CIRCLE)
  const moved = { ...grid, originX: originX - turns * CIRCLE }
  // Columns centred on the 180th meridian reach half beyond it.
  const reach = CIRCLE / 2 + pixelWidth * (0.5 + ROUNDING)
  if (Math.max(-moved.originX, moved.originX + span) <= reach) return { grid: moved, pieces }

  const around = Math.round(CIRCLE / pixelWidth)
  if (Math.abs(around * pixelWidth - CIRCLE) > ROUNDING * pixelWidth) {
    throw new OperatorError(
      `${path} lies on both sides of the 180th meridian, and ${CIRCLE} degrees are not a whole number of its columns: cut it there with gdal_translate -projwin, or give it other pixels with gdalwarp -tr.`,
    )
  }
  const first = Math.floor((-CIRCLE / 2 - moved.originX) / pixelWidth + ROUNDING)
  const last = Math.ceil((CIRCLE / 2 - moved.originX) / pixelWidth - ROUNDING)
  const rolled = { ...moved, originX: moved.originX + first * pixelWidth, width: last - first }
  refuseAbsurdGrid(rolled, `${path}, once around the Earth,`)
  return { grid: rolled, pieces: pieces.flatMap((piece) => wherever(piece, first, around, rolled)) }
}

/** @param first the first column of the grid, which wraps after `around` columns */
function wherever(
  piece: Piece,
  first: number,
  around: number,
  { width, height }: Placement['grid'],
): Piece[] {
  const whole = { column: 0, row: 0, width, height }
  return [-1, 0, 1].flatMap(
    (turn) => pieceIn(whole, { ...piece, column: piece.column - first + turn * around }) ?? [],
  )
}

interface Placement {
  grid: PixelGrid
  /** One covers the grid. Several may overlap; pixels outside have no value. */
  pieces: Piece[]
}

export interface Piece extends Window {
  /** The index of its file. */
  file: number
  /** Its first pixel in the file. */
  from: { column: number; row: number }
}

function placementOf(grid: PixelGrid): Placement {
  const { width, height } = grid
  return { grid, pieces: [{ file: 0, column: 0, row: 0, width, height, from: { column: 0, row: 0 } }] }
}

/** The part of a piece in a window. */
export function pieceIn(window: Window, { file, from, ...place }: Piece): Piece | undefined {
  const column = Math.max(window.column, place.column)
  const row = Math.max(window.row, place.row)
  const width = Math.min(window.column + window.width, place.column + place.width) - column
  const height = Math.min(window.row + window.height, place.row + place.height) - row
  if (width <= 0 || height <= 0) return undefined
  const first = { column: from.column + column - place.column, row: from.row + row - place.row }
  return { file, column, row, width, height, from: first }
}
