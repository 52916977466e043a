import type { RasterToWrite } from './geotiff.ts'

/** The extent of the published Ethiopian rasters: degrees of the north-west corner, and their size. */
const WEST = 33
const NORTH = 14.85
export const PIXEL_DEGREES = 0.0027
export const COLUMNS = 3906
export const ROWS = 3535

const NODATA = -9999

/**
 * Where the generated rasters have values, by the parts of the way from west to east and from north to
 * south: above 0. It holds in about half of the extent, in coherent regions as real rasters have them.
 */
function presence(east: number, south: number): number {
  return (
    Math.sin(8.2 * east + 0.4) * Math.sin(6.9 * south + 0.9) +
    0.35 * Math.cos(19.5 * east) +
    0.35 * Math.sin(17 * south) +
    0.05
  )
}

/**
 * A raster over Ethiopia made by a formula, the same every time. `finer` divides each pixel side, so
 * that the raster has `finer` squared times the pixels.
 *
 * @param phase rasters of different phases have different values, at the same places
 */
export function formulaRaster(phase: number, finer = 1): RasterToWrite {
  const width = Math.round(COLUMNS * finer)
  const height = Math.round(ROWS * finer)
  const grid = {
    originX: WEST,
    originY: NORTH,
    pixelWidth: (COLUMNS * PIXEL_DEGREES) / width,
    pixelHeight: -(ROWS * PIXEL_DEGREES) / height,
    width,
    height,
  }
  // Sines are computed once a column and once a row: a hundred million pixels take seconds.
  const tableOf = (length: number, wave: (part: number) => number) =>
    Float64Array.from({ length }, (_, index) => wave((index + 0.5) / length))
  const inEast = tableOf(width, (part) => Math.sin(8.2 * part + 0.4))
  const alongEast = tableOf(width, (part) => 0.35 * Math.cos(19.5 * part) + 0.05)
  const value = tableOf(width, (part) => 60 * Math.sin(40 * part + phase))
  return {
    grid,
    nodata: NODATA,
    fill(row, values) {
      const south = (row + 0.5) / height
      const inSouth = Math.sin(6.9 * south + 0.9)
      const alongSouth = 0.35 * Math.sin(17 * south)
      const level = 100 + 30 * Math.cos(31 * south + phase)
      for (let column = 0; column < width; column++) {
        const present = (inEast[column] as number) * inSouth + (alongEast[column] as number) + alongSouth > 0
        values[column] = present ? level + (value[column] as number) : NODATA
      }
    },
  }
}

/** Far enough from the edge of the regions that a raster of any fineness has a value there. */
export function surelyHasValue(longitude: number, latitude: number): boolean {
  const east = (longitude - WEST) / (COLUMNS * PIXEL_DEGREES)
  const south = (NORTH - latitude) / (ROWS * PIXEL_DEGREES)
  return east > 0 && east < 1 && south > 0 && south < 1 && presence(east, south) > 0.1
}
