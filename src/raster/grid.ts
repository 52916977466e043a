/**
 * The geotransform without rotation. The origin is the outer corner of the first pixel; the pixel height is negative
 * from north to south.
 */
export interface Geotransform {
  originX: number
  originY: number
  pixelWidth: number
  pixelHeight: number
}

export interface GridSize {
  width: number
  height: number
}

/** Its CRS is unknown. */
export interface PixelGrid extends Geotransform, GridSize {}

export interface Grid extends PixelGrid {
  /** PostGIS's id. */
  srid: number
}

export interface TiledGrid extends Grid {
  tileSize: number
}

/** Decimal degrees. */
export interface LevelExtent {
  west: number
  south: number
  east: number
  north: number
}

export interface Window {
  column: number
  row: number
  width: number
  height: number
}

/** Share of a pixel: writers round differently. */
export const ROUNDING = 1e-3

/** Such grids share tiles. */
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

/** x, y pairs in units of the CRS. */
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
