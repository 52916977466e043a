import type { PixelGrid, Window } from '#src/raster/grid.ts'

/** A grid, and which pixels of which files its own are. */
export interface Placement {
  grid: PixelGrid
  /** One is the whole grid. Of several, some may lie on others, and what lies in none has no value. */
  pieces: Piece[]
}

/** A rectangle of pixels of a file, and where it lies in a grid. */
export interface Piece extends Window {
  /** Which of the files it is of. */
  file: number
  /** The first of its pixels in the file. */
  from: { column: number; row: number }
}

/** All pixels of a file, as a grid of their own. */
export function placementOf(grid: PixelGrid): Placement {
  const { width, height } = grid
  return { grid, pieces: [{ file: 0, column: 0, row: 0, width, height, from: { column: 0, row: 0 } }] }
}

/** What a window has of a piece; undefined where that is nothing. */
export function pieceIn(window: Window, { file, from, ...place }: Piece): Piece | undefined {
  const column = Math.max(window.column, place.column)
  const row = Math.max(window.row, place.row)
  const width = Math.min(window.column + window.width, place.column + place.width) - column
  const height = Math.min(window.row + window.height, place.row + place.height) - row
  if (width <= 0 || height <= 0) return undefined
  const first = { column: from.column + column - place.column, row: from.row + row - place.row }
  return { file, column, row, width, height, from: first }
}
