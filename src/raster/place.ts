import type { Geotransform, Grid, GridSize } from './grid.ts'
import { measureOf } from './pixel-area.ts'
import { ellipsoidArea, planarArea, type Rings } from './rings.ts'
import { type GridPolygon, snapped } from './scan.ts'

export interface PlacedPolygon extends GridPolygon {
  /** In the measure of the grid. */
  area: number
  /** All of them lie on the grid. */
  within: boolean
}

/**
 * @param polygons in the CRS of the grid
 * @param geographic in degrees
 */
export function placeOnGrid(grid: Grid, geographic: boolean, polygons: Rings[]): PlacedPolygon {
  const tolerance = toleranceOf(grid, polygons)
  const rings = polygons.flatMap((polygon) =>
    polygon.map((ring, index) => oriented(onGrid(grid, ring, tolerance), index > 0)),
  )
  const { pixelArea } = measureOf(grid, false)
  return {
    rings,
    tolerance,
    area: geographic
      ? ellipsoidArea(polygons)
      : -rings.reduce((sum, ring) => sum + planarArea(ring), 0) * pixelArea(0),
    within: rings.every((ring) => liesWithin(ring, grid)),
  }
}

/**
 * Units in the last place: coordinates on a border are mostly computed from corner and size of pixels in several
 * steps.
 */
const UNITS = 64

/** Distance at which a coordinate counts as on a border. */
function toleranceOf({ originX, originY, pixelWidth, pixelHeight }: Geotransform, polygons: Rings[]): number {
  let x = Math.abs(originX)
  let y = Math.abs(originY)
  for (const ring of polygons.flat()) {
    for (let at = 0; at < ring.length; at += 2) {
      x = Math.max(x, Math.abs(ring[at] as number))
      y = Math.max(y, Math.abs(ring[at + 1] as number))
    }
  }
  return UNITS * Number.EPSILON * Math.max(x / pixelWidth, y / Math.abs(pixelHeight))
}

function onGrid(
  { originX, originY, pixelWidth, pixelHeight }: Geotransform,
  ring: Float64Array,
  tolerance: number,
): Float64Array {
  const placed = new Float64Array(ring.length)
  for (let at = 0; at < ring.length; at += 2) {
    placed[at] = snapped(((ring[at] as number) - originX) / pixelWidth, tolerance)
    placed[at + 1] = snapped(((ring[at + 1] as number) - originY) / pixelHeight, tolerance)
  }
  return placed
}

/** GeoJSON rings run either way. */
function oriented(ring: Float64Array, hole: boolean): Float64Array {
  if (planarArea(ring) > 0 === hole) return ring
  const reversed = new Float64Array(ring.length)
  for (let at = 0; at < ring.length; at += 2) {
    reversed[at] = ring[ring.length - 2 - at] as number
    reversed[at + 1] = ring[ring.length - 1 - at] as number
  }
  return reversed
}

function liesWithin(ring: Float64Array, { width, height }: GridSize): boolean {
  for (let at = 0; at < ring.length; at += 2) {
    const column = ring[at] as number
    const row = ring[at + 1] as number
    if (column < 0 || column > width || row < 0 || row > height) return false
  }
  return true
}
