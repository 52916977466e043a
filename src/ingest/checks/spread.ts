import { BLOCK_FACTOR } from '#src/raster/blocks.ts'
import type { Extent, Geotransform, GridSize } from '#src/raster/grid.ts'

/** Blocks are at most so much of the country wide and high: what is masked to fields is there where a field is. */
const BLOCK_PART = 1 / 32

/** A place in a country, in the CRS of a grid. */
export interface Place {
  x: number
  y: number
}

/** A block of a grid: on level 0 it is a tile. */
export interface Block {
  row: number
  column: number
}

/** The level of the largest blocks that are small beside a country. */
export function spreadLevel(
  country: Extent,
  { west, south, east, north }: Extent,
  { width, height }: GridSize,
  tileSize: number,
): number {
  const acrossTiles = ((country.east - country.west) * BLOCK_PART * width) / (east - west) / tileSize
  const downTiles = ((country.north - country.south) * BLOCK_PART * height) / (north - south) / tileSize
  const tiles = Math.min(acrossTiles, downTiles)
  return Math.max(0, Math.floor(Math.log(tiles) / Math.log(BLOCK_FACTOR)))
}

/** The block that each place lies in; those outside of the grid are left out. */
export function blocksAt(
  places: Place[],
  { originX, originY, pixelWidth, pixelHeight, width, height }: Geotransform & GridSize,
  tileSize: number,
  level: number,
): Block[] {
  const side = tileSize * BLOCK_FACTOR ** level
  return places.flatMap(({ x, y }) => {
    const column = Math.floor((x - originX) / pixelWidth)
    const row = Math.floor((y - originY) / pixelHeight)
    if (!(column >= 0 && row >= 0 && column < width && row < height)) return []
    return { row: Math.floor(row / side), column: Math.floor(column / side) }
  })
}
