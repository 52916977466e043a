import { OperatorError } from '#src/errors.ts'
import type { Grid, Window } from '#src/raster/grid.ts'
import { TILE_SIZE } from '#src/raster/tiles.ts'
import type { RasterFile } from './file.ts'
import type { FileLayer } from './layers.ts'

/** Pixels are read in windows of about this many bytes over all layers of a coverage. */
const WINDOW_BYTES = 48 * 2 ** 20
const SMALLEST_WINDOW_HEIGHT = 128

/** Rows of a window are held whole, with all bands, of files that are one strip, however narrow the windows are. */
const MAX_HELD_BYTES = 128 * 2 ** 20

/**
 * Windows of what the files have of a grid: sparse ones leave out what has no value.
 *
 * @param release all its layers, on other grids too: their single strips hold rows until the files are closed
 * @throws {OperatorError} where files would take too much memory
 */
export function windowsOf(grid: Grid, layers: FileLayer[], release: FileLayer[]): Window[] {
  const tallest = tallestWindowOf(release)
  const step = inTiles(largestBlockOf(layers).width)
  return wholeWindowsOf(grid, layers, tallest).flatMap((window) => writtenParts(window, step, layers))
}

/** How many rows single strips may hold. They hold those of the last window that they were in, wherever the next one is. */
function tallestWindowOf(release: FileLayer[]): number {
  const files = filesOf(release)
  const heldByRow = files.reduce((sum, { heldBytes, grid }) => sum + heldBytes * grid.width, 0)
  const held = heldByRow * TILE_SIZE
  if (held <= MAX_HELD_BYTES) return wholeTiles(MAX_HELD_BYTES / heldByRow)
  const first = files.find(({ heldBytes }) => heldBytes > 0)
  throw new OperatorError(
    `${first?.path} and what is loaded with it are compressed as single strips so wide that ${TILE_SIZE} rows take ${held} bytes; at most ${MAX_HELD_BYTES} are held: convert them with gdal_translate -co TILED=YES -co COMPRESS=DEFLATE.`,
  )
}

/** The parts of a window side by side in which a layer has something. */
function writtenParts(window: Window, step: number, layers: FileLayer[]): Window[] {
  const parts: Window[] = []
  const end = window.column + window.width
  for (let column = window.column; column < end; column += step) {
    const part = { ...window, column, width: Math.min(step, end - column) }
    if (layers.every((layer) => layer.isBlank(part))) continue
    const before = parts.at(-1)
    if (before && before.column + before.width === column) before.width += part.width
    else parts.push(part)
  }
  return parts
}

/**
 * Windows of whole blocks of the files, as wide as the grid where memory allows: a block that two
 * windows share is decompressed twice. Where one block of each layer is too much, or so high that single strips would
 * hold too many rows beside it, it is, piece by piece.
 */
function wholeWindowsOf(grid: Grid, layers: FileLayer[], tallest: number): Window[] {
  const bytes = layers.reduce((sum, { pixelBytes }) => sum + pixelBytes, 0)
  const most = Math.floor(WINDOW_BYTES / bytes)
  const block = largestBlockOf(layers)
  let height = Math.min(inTiles(Math.max(block.height, SMALLEST_WINDOW_HEIGHT)), tallest)
  let width = grid.width
  if (width * height > most) height = Math.min(inTiles(block.height), tallest)
  if (width * height > most) {
    const across = Math.floor(most / height / block.width)
    width = inTiles(block.width * Math.max(across, 1))
  }
  if (width * height > most) height = wholeTiles(most / width)
  if (width * height > most) width = wholeTiles(most / height)
  const windows: Window[] = []
  for (let row = 0; row < grid.height; row += height) {
    for (let column = 0; column < grid.width; column += width) {
      windows.push({
        column,
        row,
        width: Math.min(width, grid.width - column),
        height: Math.min(height, grid.height - row),
      })
    }
  }
  return windows
}

/** The sides that no block of the files is longer than. */
function largestBlockOf(layers: FileLayer[]): { width: number; height: number } {
  const blocks = filesOf(layers).map(({ block }) => block)
  return {
    width: Math.max(...blocks.map(({ width }) => width)),
    height: Math.max(...blocks.map(({ height }) => height)),
  }
}

/** Each file once, however many layers are in it. */
function filesOf(layers: FileLayer[]): RasterFile[] {
  return [...new Set(layers.flatMap(({ files }) => files))]
}

/** As many pixels as make whole tiles, one of them at least. */
function wholeTiles(pixels: number): number {
  return Math.max(1, Math.floor(pixels / TILE_SIZE)) * TILE_SIZE
}

function inTiles(pixels: number): number {
  return Math.ceil(pixels / TILE_SIZE) * TILE_SIZE
}
