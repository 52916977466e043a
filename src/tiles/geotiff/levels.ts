import type { GridSize } from '#src/raster/grid.ts'

/**
 * Pixels on a side of a block. A program that looks at a place fetches one or four of them, each of a quarter of a
 * megabyte at most; smaller ones would make the lists of them long, which are read first.
 */
export const GEOTIFF_BLOCK = 256

/** A layer, or an overview of it: each has half of the pixels on a side of the one before. */
export interface Level extends GridSize {
  /** Blocks side by side, and rows of them. */
  columns: number
  rows: number
}

/** A layer and its overviews, down to the one that has room in a block. */
export function levelsOf({ width, height }: GridSize): Level[] {
  const levels = [levelOf(width, height)]
  for (let last = levels[0] as Level; last.columns > 1 || last.rows > 1; last = levels.at(-1) as Level) {
    levels.push(levelOf(Math.ceil(last.width / 2), Math.ceil(last.height / 2)))
  }
  return levels
}

function levelOf(width: number, height: number): Level {
  return {
    width,
    height,
    columns: Math.ceil(width / GEOTIFF_BLOCK),
    rows: Math.ceil(height / GEOTIFF_BLOCK),
  }
}
