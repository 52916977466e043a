import type { Geotransform } from './grid.ts'

/** How large the pixels of a grid are. */
export interface Measure {
  /** The area of a pixel of a row, if all of it were as it is at this height: `row` may be a fraction. */
  density(row: number): number
  /** The area of a whole pixel of a row. */
  pixelArea(row: number): number
}

const RADIANS = Math.PI / 180

/** WGS 84: the equatorial radius in metres, the flattening, and the square of the first eccentricity. */
const RADIUS = 6378137
const FLATTENING = 1 / 298.257223563
const ECCENTRICITY_2 = FLATTENING * (2 - FLATTENING)

/**
 * The points and weights of Gauss and Legendre on 0..1. On a degree of latitude the error of an area that
 * is integrated by them is below 1e-20 of it.
 */
export const GAUSS_AT = [0.06943184420297371, 0.33000947820757187, 0.6699905217924281, 0.9305681557970262]
export const GAUSS_WEIGHT = [0.17392742256872692, 0.3260725774312731, 0.3260725774312731, 0.17392742256872692]

/** The integral of a function from `from` to `to`. */
function integral(from: number, to: number, of: (at: number) => number): number {
  let sum = 0
  for (let point = 0; point < GAUSS_AT.length; point++) {
    sum += (GAUSS_WEIGHT[point] as number) * of(from + (GAUSS_AT[point] as number) * (to - from))
  }
  return sum * (to - from)
}

/**
 * The ellipsoid's area between two meridians and two parallels is the integral of M N cos(latitude) over
 * longitude and latitude (Snyder, Map Projections, 1987, equation 3-11): this is what is integrated, in
 * square metres for each square radian.
 */
function ellipsoidDensity(latitude: number): number {
  const sine = Math.sin(latitude * RADIANS)
  const cosine = Math.sqrt(Math.max(0, 1 - sine * sine))
  return (RADIUS * RADIUS * (1 - ECCENTRICITY_2) * cosine) / (1 - ECCENTRICITY_2 * sine * sine) ** 2
}

/**
 * The measure of a grid: square metres on the WGS 84 ellipsoid where it is geographic, and the square
 * units of its CRS where it is projected.
 */
export function measureOf(grid: Geotransform, geographic: boolean): Measure {
  const { originY, pixelWidth, pixelHeight } = grid
  if (!geographic) {
    const area = Math.abs(pixelWidth * pixelHeight)
    return { density: () => area, pixelArea: () => area }
  }
  const squareRadians = Math.abs(pixelWidth * pixelHeight) * RADIANS ** 2
  const density = (row: number) => squareRadians * ellipsoidDensity(originY + row * pixelHeight)
  return { density, pixelArea: (row) => integral(row, row + 1, density) }
}

/**
 * Edges are cut into pieces of at most so many degrees of latitude, to be integrated. The error is below what
 * is lost to rounding, and polygons whose edges reach from pole to pole take a fifth of the time.
 */
const PIECE_DEGREES = 5

/**
 * The area inside a ring on the WGS 84 ellipsoid, in square metres; positive where it runs anticlockwise.
 *
 * Edges are straight in longitude and latitude (RFC 7946, section 3.1.1), not geodesics: along them the
 * longitude is linear in the latitude, and the area to the meridian of the first position is integrated.
 *
 * @param ring longitudes and latitudes by turns, the last position the same as the first
 */
export function ringArea(ring: Float64Array): number {
  const reference = ring[0] as number
  let area = 0
  for (let at = 0; at + 3 < ring.length; at += 2) {
    const longitude = (ring[at] as number) - reference
    const latitude = ring[at + 1] as number
    const eastward = (ring[at + 2] as number) - (ring[at] as number)
    const northward = (ring[at + 3] as number) - latitude
    const pieces = Math.ceil(Math.abs(northward) / PIECE_DEGREES)
    for (let piece = 0; piece < pieces; piece++) {
      area += integral(piece / pieces, (piece + 1) / pieces, (part) => {
        return (longitude + part * eastward) * northward * ellipsoidDensity(latitude + part * northward)
      })
    }
  }
  return area * RADIANS ** 2
}
