import type { Position } from '#src/lookup/layers.ts'
import { findCell, type Geotransform, type GridSize, type Window } from '#src/raster/grid.ts'
import { nodataTolerance, type Pixels } from '#src/raster/pixels.ts'
import type { Bounds } from '#src/raster/rings.ts'
import { findUtmZone, projectUtm } from './transverse-mercator.ts'

/** Nothing here needs the service: the page of a pack has these very functions. */

/** Stored pixels of a band in a window, row by row. */
export interface PackBand {
  /** As a pixel reads; undefined where each has a value. */
  nodata: number | undefined
  pixels: Pixels
}

/** The pixels of a grid around an area. */
export interface PackGrid extends Geotransform, GridSize {
  srid: number
  /** Without any pixel where the grid does not reach the area. */
  window: Window
  /** In the order of the coverage; none where no pixel of the window has a value. */
  bands: PackBand[]
}

type PlacedGrid = Omit<PackGrid, 'bands'>

/** The longitudes and latitudes that need no transformation. */
export const WGS84 = 4326

/** Whether a position is found on grids of a system without a database. */
export function isPackable(srid: number): boolean {
  return srid === WGS84 || findUtmZone(srid) !== undefined
}

/** A position in the coordinates of a grid. @throws {RangeError} for a system that is not packable */
export function placeOn(
  { srid }: Pick<PlacedGrid, 'srid'>,
  { longitude, latitude }: Position,
): [x: number, y: number] {
  if (srid === WGS84) return [longitude, latitude]
  const zone = findUtmZone(srid)
  if (!zone) throw new RangeError(`positions cannot be found in EPSG:${srid}`)
  return projectUtm(zone, longitude, latitude)
}

/** The index of the pixel of a position in the window: null outside the grid, undefined outside the window alone. */
export function findPackedPixel(grid: PlacedGrid, position: Position): number | null | undefined {
  const cell = findCell(grid, ...placeOn(grid, position))
  if (cell === null) return null
  const { window } = grid
  const [column, row] = [cell.column - window.column, cell.row - window.row]
  if (column < 0 || row < 0 || column >= window.width || row >= window.height) return undefined
  return row * window.width + column
}

/** The stored pixel of each band at an index, NaN for none, as tiles have them. */
export function readPackedPixel({ bands }: Pick<PackGrid, 'bands'>, index: number): number[] {
  return bands.map(({ nodata, pixels }) => {
    const pixel = pixels[index] as number
    if (nodata === undefined) return pixel
    return Math.abs(pixel - nodata) <= nodataTolerance(pixels) ? Number.NaN : pixel
  })
}

/**
 * The stored pixels of each grid at a position, empty outside the grid, as the look-up of points has them. Undefined for a
 * position outside a window.
 */
export function readPacked(grids: readonly PackGrid[], position: Position): number[][] | undefined {
  const found: number[][] = []
  for (const grid of grids) {
    const index = findPackedPixel(grid, position)
    if (index === undefined) return undefined
    found.push(index === null ? [] : readPackedPixel(grid, index))
  }
  return found
}

/** Positions on a side of a rectangle of degrees: between them a side is as good as straight on any grid. */
const STEPS = 64

/** So many pixels more on each side: a side that bends reaches less far between two positions. */
const MARGIN = 2

/** Positions along the sides of a rectangle of degrees. */
function listSides([west, south, east, north]: Readonly<Bounds>): Position[] {
  return Array.from({ length: STEPS + 1 }, (_, step) => {
    const longitude = west + ((east - west) * step) / STEPS
    const latitude = south + ((north - south) * step) / STEPS
    return [
      { longitude, latitude: south },
      { longitude, latitude: north },
      { longitude: west, latitude },
      { longitude: east, latitude },
    ]
  }).flat()
}

/** The pixels of a grid that a rectangle of degrees covers, and some around it. */
export function findWindow(grid: Omit<PlacedGrid, 'window'>, rectangle: Readonly<Bounds>): Window {
  const corners = listSides(rectangle).map((side) => placeOn(grid, side))
  const columns = corners.map(([x]) => Math.floor((x - grid.originX) / grid.pixelWidth))
  const rows = corners.map(([, y]) => Math.floor((y - grid.originY) / grid.pixelHeight))
  const across = clipSpan(columns, grid.width)
  const down = clipSpan(rows, grid.height)
  if (across.count === 0 || down.count === 0) return { column: 0, row: 0, width: 0, height: 0 }
  return { column: across.from, row: down.from, width: across.count, height: down.count }
}

function clipSpan(positions: number[], size: number): { from: number; count: number } {
  const from = Math.max(0, Math.min(...positions) - MARGIN)
  const to = Math.min(size - 1, Math.max(...positions) + MARGIN)
  return { from, count: Math.max(0, to - from + 1) }
}
