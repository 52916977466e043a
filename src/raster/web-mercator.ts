import type { Extent } from './grid.ts'

/**
 * A tile of the web's maps: at zoom z the world is a square of 2^z by 2^z tiles in the spherical Mercator
 * projection (EPSG:3857), counted from the north-west.
 */
export interface MapTile {
  zoom: number
  column: number
  row: number
}

/** Pixels on a side of a tile. */
export const MAP_TILE_SIZE = 256

/** Maps of the web go no further. */
export const HIGHEST_ZOOM = 22

/** Where the square of the world ends, in degrees of latitude: atan(sinh(pi)). */
const HIGHEST_LATITUDE = 85.0511287798066

const DEGREES = 180 / Math.PI

/** The longitudes of the centres of a tile's columns of pixels. */
export function longitudesOf({ zoom, column }: MapTile, size = MAP_TILE_SIZE): Float64Array {
  const world = size * 2 ** zoom
  return Float64Array.from({ length: size }, (_, at) => ((column * size + at + 0.5) / world) * 360 - 180)
}

/** The latitudes of the centres of a tile's rows of pixels, from the north (Snyder, 1987, equation 7-4). */
export function latitudesOf({ zoom, row }: MapTile, size = MAP_TILE_SIZE): Float64Array {
  const world = size * 2 ** zoom
  return Float64Array.from({ length: size }, (_, at) => {
    const part = (row * size + at + 0.5) / world
    return Math.atan(Math.sinh(Math.PI * (1 - 2 * part))) * DEGREES
  })
}

/** How many degrees of longitude a pixel of a tile has. */
export function degreesOfPixel(zoom: number): number {
  return 360 / (MAP_TILE_SIZE * 2 ** zoom)
}

/** What of an extent such maps show. */
export function shownOf({ west, south, east, north }: Extent): Extent {
  return {
    west: Math.max(west, -180),
    south: Math.max(south, -HIGHEST_LATITUDE),
    east: Math.min(east, 180),
    north: Math.min(north, HIGHEST_LATITUDE),
  }
}
