import type { TileAddress } from '#src/tiles/store.ts'
import type { NumberedCoverage } from './published-release.ts'
import type { Position } from './queries.ts'

/** A pixel of a tile, and the number of the tile. */
export interface PixelPlace {
  key: number
  column: number
  row: number
}

/** A tile by its number, and what it is called in the database. */
export interface NumberedTile extends TileAddress {
  key: number
}

/** Where the pixel is that a position lies in; null where that is not on the grid. */
export function placeIn(coverage: NumberedCoverage, { longitude, latitude }: Position): PixelPlace | null {
  const x = (longitude - coverage.originX) / coverage.pixelWidth
  const y = (latitude - coverage.originY) / coverage.pixelHeight
  if (!(x >= 0 && x < coverage.width && y >= 0 && y < coverage.height)) return null
  return placeOf(coverage, Math.floor(x), Math.floor(y))
}

/** The same of a pixel that is known by its column and row on the grid. */
export function placeOf(coverage: NumberedCoverage, column: number, row: number): PixelPlace {
  const { tileSize } = coverage
  const tileColumn = Math.floor(column / tileSize)
  const tileRow = Math.floor(row / tileSize)
  return {
    key: coverage.firstTile + tileRow * coverage.tileColumns + tileColumn,
    column: column % tileSize,
    row: row % tileSize,
  }
}

export function tileOf({ id, firstTile, tileColumns }: NumberedCoverage, key: number): NumberedTile {
  const tile = key - firstTile
  return { key, coverageId: id, row: Math.floor(tile / tileColumns), column: tile % tileColumns }
}

/** The centre of a tile, of what of it is on the grid. On another grid it lies in the tile of the same place. */
export function centreOf(coverage: NumberedCoverage, key: number): Position {
  const { originX, originY, pixelWidth, pixelHeight, width, height, tileSize } = coverage
  const { row, column } = tileOf(coverage, key)
  const middle = (tile: number, end: number) => (tile * tileSize + Math.min((tile + 1) * tileSize, end)) / 2
  return {
    longitude: originX + middle(column, width) * pixelWidth,
    latitude: originY + middle(row, height) * pixelHeight,
  }
}
