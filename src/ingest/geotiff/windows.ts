import type { Grid, Window } from '#src/raster/grid.ts'
import { TILE_SIZE } from '#src/raster/tiles.ts'
import type { FileLayer } from './layers.ts'

/** Pixels are read in windows of about this many bytes over all layers of a coverage. */
const WINDOW_BYTES = 48 * 2 ** 20
const SMALLEST_WINDOW_HEIGHT = 128

/** Windows of what the files have of a grid: sparse ones leave out what has no value. */
export function windowsOf(grid: Grid, layers: FileLayer[]): Window[] {
  const step = inTiles(largestBlockOf(layers).width)
  return wholeWindowsOf(grid, layers).flatMap((window) => writtenParts(window, step, layers))
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
 * windows share is decompressed twice. Where one block of each layer is too much, it is, piece by piece.
 */
function wholeWindowsOf(grid: Grid, layers: FileLayer[]): Window[] {
  const bytes = layers.reduce((sum, { pixelBytes }) => sum + pixelBytes, 0)
  const most = Math.floor(WINDOW_BYTES / bytes)
  const block = largestBlockOf(layers)
  let height = inTiles(Math.max(block.height, SMALLEST_WINDOW_HEIGHT))
  let width = grid.width
  if (width * height > most) height = inTiles(block.height)
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
  const blocks = [...new Set(layers.flatMap(({ files }) => files))].map(({ block }) => block)
  return {
    width: Math.max(...blocks.map(({ width }) => width)),
    height: Math.max(...blocks.map(({ height }) => height)),
  }
}

/** As many pixels as make whole tiles, one of them at least. */
function wholeTiles(pixels: number): number {
  return Math.max(1, Math.floor(pixels / TILE_SIZE)) * TILE_SIZE
}

function inTiles(pixels: number): number {
  return Math.ceil(pixels / TILE_SIZE) * TILE_SIZE
}
