import type { Extent } from './grid.ts'

/** Zoom z has 2^z by 2^z tiles in spherical Mercator (EPSG:3857), counted from the north-west. */
export interface MapTile {
  zoom: number
  column: number
  row: number
}

/** Pixels. */
export const MAP_TILE_SIZE = 256

/** The limit of web maps. */
export const HIGHEST_ZOOM = 22

/** Degrees: atan(sinh(pi)), the end of the square world. */
const HIGHEST_LATITUDE = 85.0511287798066

const DEGREES = 180 / Math.PI

/** At centres of pixels. */
export function longitudesOf({ zoom, column }: MapTile, size = MAP_TILE_SIZE): Float64Array {
  const world = size * 2 ** zoom
  return Float64Array.from({ length: size }, (_, at) => ((column * size + at + 0.5) / world) * 360 - 180)
}

/** At centres of pixels, from the north (Snyder, 1987, equation 7-4). */
export function latitudesOf({ zoom, row }: MapTile, size = MAP_TILE_SIZE): Float64Array {
  const world = size * 2 ** zoom
  return Float64Array.from({ length: size }, (_, at) => {
    const part = (row * size + at + 0.5) / world
    return Math.atan(Math.sinh(Math.PI * (1 - 2 * part))) * DEGREES
  })
}

export function degreesOfPixel(zoom: number): number {
  return 360 / (MAP_TILE_SIZE * 2 ** zoom)
}

/** The part on web maps. */
export function shownOf({ west, south, east, north }: Extent): Extent {
  return {
    west: Math.max(west, -180),
    south: Math.max(south, -HIGHEST_LATITUDE),
    east: Math.min(east, 180),
    north: Math.min(north, HIGHEST_LATITUDE),
  }
}
