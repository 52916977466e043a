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

export interface PixelGrid extends Geotransform, GridSize {}

export interface Grid extends PixelGrid {
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

/**
 * The pixel that a position lies in, with the operations of the SQL function coverage_cell; null outside the grid.
 *
 * @param x in the coordinates of the grid, as y
 */
export function findCell(
  { originX, originY, pixelWidth, pixelHeight, width, height }: PixelGrid,
  x: number,
  y: number,
): { column: number; row: number } | null {
  const column = (x - originX) / pixelWidth
  const row = (y - originY) / pixelHeight
  if (!(column >= 0 && column < width && row >= 0 && row < height)) return null
  return { column: Math.floor(column), row: Math.floor(row) }
}

/** The centre of a pixel as sentences name it, in the coordinates of the grid. @param at its index in a window */
export function formatCentre(
  { originX, originY, pixelWidth, pixelHeight }: Geotransform,
  { column, row, width = 1 }: Pick<Window, 'column' | 'row'> & { width?: number },
  at = 0,
): string {
  const x = originX + (column + (at % width) + 0.5) * pixelWidth
  const y = originY + (row + Math.floor(at / width) + 0.5) * pixelHeight
  return [x, y].map((number) => Number(number.toPrecision(9))).join(', ')
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

export interface Measure {
  /** The area of a pixel with the height of this `row`, which may be a fraction. */
  density(row: number): number
  /** Of a whole pixel. */
  pixelArea(row: number): number
}

const RADIANS = Math.PI / 180

/** WGS 84: equatorial radius in metres, flattening, squared eccentricity. */
const RADIUS = 6378137
const FLATTENING = 1 / 298.257223563
const ECCENTRICITY_2 = FLATTENING * (2 - FLATTENING)

/** Gauss-Legendre on 0..1; the relative error of an area on a degree of latitude is below 1e-20. */
export const GAUSS_AT = [0.06943184420297371, 0.33000947820757187, 0.6699905217924281, 0.9305681557970262]
export const GAUSS_WEIGHT = [0.17392742256872692, 0.3260725774312731, 0.3260725774312731, 0.17392742256872692]

function integral(from: number, to: number, of: (at: number) => number): number {
  let sum = 0
  for (let point = 0; point < GAUSS_AT.length; point++) {
    sum += (GAUSS_WEIGHT[point] as number) * of(from + (GAUSS_AT[point] as number) * (to - from))
  }
  return sum * (to - from)
}

/**
 * M N cos(latitude), whose integral is the area of the ellipsoid (Snyder, Map Projections, 1987, equation 3-11), in
 * square metres a square radian.
 */
function ellipsoidDensity(latitude: number): number {
  const sine = Math.sin(latitude * RADIANS)
  const cosine = Math.sqrt(Math.max(0, 1 - sine * sine))
  return (RADIUS * RADIUS * (1 - ECCENTRICITY_2) * cosine) / (1 - ECCENTRICITY_2 * sine * sine) ** 2
}

/** Square metres on WGS 84 for geographic grids, else square units of the CRS. */
export function createMeasure(grid: Geotransform, geographic: boolean): Measure {
  const { originY, pixelWidth, pixelHeight } = grid
  if (!geographic) {
    const area = Math.abs(pixelWidth * pixelHeight)
    return { density: () => area, pixelArea: () => area }
  }
  const squareRadians = Math.abs(pixelWidth * pixelHeight) * RADIANS ** 2
  const density = (row: number) => squareRadians * ellipsoidDensity(originY + row * pixelHeight)
  return { density, pixelArea: (row) => integral(row, row + 1, density) }
}

/** Edges are cut by degrees of latitude before integration: the error stays below rounding, in a fifth of the time. */
const PIECE_DEGREES = 5

/**
 * Square metres on WGS 84; positive for anticlockwise rings. Edges are straight in longitude and latitude (RFC 7946,
 * section 3.1.1): the area to the meridian of the first position is integrated.
 *
 * @param ring longitudes and latitudes by turns, closed
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
