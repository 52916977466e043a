/**
 * Where the pixels of a grid lie in its CRS: the geotransform without its rotation terms. The origin is the
 * outer corner of the first pixel; the pixel height is negative where rows run north to south.
 */
export interface Geotransform {
  originX: number
  originY: number
  pixelWidth: number
  pixelHeight: number
}

/** Pixels of a grid in a row, and its rows. */
export interface GridSize {
  width: number
  height: number
}

/** An axis-aligned grid of pixels that lies somewhere in a CRS that is not known here. */
export interface PixelGrid extends Geotransform, GridSize {}

/** An axis-aligned grid of pixels in a CRS. */
export interface Grid extends PixelGrid {
  /** PostGIS's id of the CRS. */
  srid: number
}

/** A grid that is stored in tiles. */
export interface TiledGrid extends Grid {
  /** Pixels on a side of a tile. */
  tileSize: number
}

/** A rectangle in longitude and latitude, decimal degrees. */
export interface Extent {
  west: number
  south: number
  east: number
  north: number
}

/** A rectangle of pixels. */
export interface Window {
  column: number
  row: number
  width: number
  height: number
}

/** Part of a pixel that grids which are meant to be the same may lie apart: their writers round in different ways. */
export const ROUNDING = 1e-3

/** Whether two grids are the same to within rounding anywhere, so that their layers can share tiles. */
export function sameGrid(a: Grid, b: Grid): boolean {
  const close = (difference: number, pixel: number) => Math.abs(difference) < Math.abs(pixel) * ROUNDING
  return (
    a.srid === b.srid &&
    a.width === b.width &&
    a.height === b.height &&
    close(a.originX - b.originX, a.pixelWidth) &&
    close(a.originY - b.originY, a.pixelHeight) &&
    close((a.pixelWidth - b.pixelWidth) * a.width, a.pixelWidth) &&
    close((a.pixelHeight - b.pixelHeight) * a.height, a.pixelHeight)
  )
}

/** The outline of a grid in CRS units, with so many points on each side, as x, y pairs. */
export function outline(grid: Grid, pointsPerSide: number): [number, number][] {
  const corners: [number, number][] = [
    [0, 0],
    [grid.width, 0],
    [grid.width, grid.height],
    [0, grid.height],
  ]
  return corners.flatMap(([fromColumn, fromRow], index) => {
    const [toColumn, toRow] = corners[(index + 1) % 4] as [number, number]
    return Array.from({ length: pointsPerSide }, (_, step): [number, number] => {
      const part = step / pointsPerSide
      return [
        grid.originX + (fromColumn + (toColumn - fromColumn) * part) * grid.pixelWidth,
        grid.originY + (fromRow + (toRow - fromRow) * part) * grid.pixelHeight,
      ]
    })
  })
}
