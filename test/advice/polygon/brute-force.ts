import pointInPolygon from 'point-in-polygon-hao'
import { type Geom, intersection } from 'polyclip-ts'
import type { Grid } from '#src/raster/grid.ts'

export type Ring = [number, number][]
export type Polygons = Ring[][]

/** How much of each pixel lies in a polygon. */
export interface Weights {
  area: number
  pixels: { column: number; row: number; weight: number }[]
}

/**
 * The weights of the pixels in polygons: every pixel in their extent is cut out of them by polyclip-ts,
 * unless no edge comes near it.
 *
 * @param area of a ring, without its sign
 */
export function weightsOf(polygons: Polygons, grid: Grid, area: (ring: Ring) => number): Weights {
  const total = areaOf(polygons, area)
  const positions = polygons.flat(2)
  const columns = positions.map(([x]) => (x - grid.originX) / grid.pixelWidth)
  const rows = positions.map(([, y]) => (y - grid.originY) / grid.pixelHeight)
  const last = (values: number[], limit: number) => Math.min(limit, Math.ceil(Math.max(...values) + 1e-9))
  const first = (values: number[]) => Math.max(0, Math.floor(Math.min(...values) - 1e-9))
  const pixels: Weights['pixels'] = []
  for (let row = first(rows); row < last(rows, grid.height); row++) {
    for (let column = first(columns); column < last(columns, grid.width); column++) {
      const box = boxOf(grid, column, row)
      const whole = area(box)
      const weight = nearAnEdge(polygons, box)
        ? areaOf(intersection(polygons as Geom, [box] as Geom) as Polygons, area)
        : inside(polygons, box)
          ? whole
          : 0
      // Pixels that rounding alone lets overlap: a millionth of a millionth of what there is.
      if (weight > 1e-12 * Math.min(whole, total)) pixels.push({ column, row, weight })
    }
  }
  return { area: total, pixels }
}

export function areaOf(polygons: Polygons, area: (ring: Ring) => number): number {
  return polygons.reduce(
    (sum, [shell, ...holes]) =>
      sum + area(shell as Ring) - holes.reduce((inner, hole) => inner + area(hole), 0),
    0,
  )
}

/**
 * Statistics of weighed pixels.
 *
 * @param valueAt null where a pixel has no value
 * @returns undefined where none has one
 */
export function statisticsOf(
  { area, pixels }: Weights,
  valueAt: (column: number, row: number) => number | null,
) {
  const found = pixels.flatMap(({ column, row, weight }) => {
    const value = valueAt(column, row)
    return value === null ? [] : [{ value, weight }]
  })
  if (found.length === 0) return undefined
  const weight = found.reduce((sum, pixel) => sum + pixel.weight, 0)
  const mean = found.reduce((sum, pixel) => sum + pixel.value * pixel.weight, 0) / weight
  const squares = found.reduce((sum, pixel) => sum + pixel.weight * (pixel.value - mean) ** 2, 0)
  return {
    mean,
    minimum: found.reduce((least, { value }) => Math.min(least, value), Number.POSITIVE_INFINITY),
    maximum: found.reduce((most, { value }) => Math.max(most, value), Number.NEGATIVE_INFINITY),
    deviation: Math.sqrt(squares / weight),
    covered: weight / area,
  }
}

/**
 * By how much of all weight a value misses to be a quantile: the weight up to it has to reach the part, and the weight
 * below it must not.
 */
export function missOf(
  { pixels }: Weights,
  valueAt: (column: number, row: number) => number | null,
  part: number,
  quantile: number,
): number {
  let [total, upTo, below] = [0, 0, 0]
  for (const { column, row, weight } of pixels) {
    const value = valueAt(column, row)
    if (value === null) continue
    total += weight
    if (value <= quantile) upTo += weight
    if (value < quantile) below += weight
  }
  return Math.max(0, part - upTo / total, below / total - part, upTo === below ? 1 : 0)
}

function boxOf({ originX, originY, pixelWidth, pixelHeight }: Grid, column: number, row: number): Ring {
  const [west, east] = [originX + column * pixelWidth, originX + (column + 1) * pixelWidth]
  const [one, other] = [originY + row * pixelHeight, originY + (row + 1) * pixelHeight]
  return [
    [west, one],
    [east, one],
    [east, other],
    [west, other],
    [west, one],
  ]
}

function nearAnEdge(polygons: Polygons, box: Ring): boolean {
  const [[x1, y1], , [x2, y2]] = box as [[number, number], unknown, [number, number]]
  const margin = 1e-6 * Math.abs(x2 - x1)
  const [west, east] = [Math.min(x1, x2) - margin, Math.max(x1, x2) + margin]
  const [south, north] = [Math.min(y1, y2) - margin, Math.max(y1, y2) + margin]
  return polygons.flat().some((ring) =>
    ring.some(([x, y], index) => {
      const [nextX, nextY] = ring[(index + 1) % ring.length] as [number, number]
      if (Math.max(x, nextX) < west || Math.min(x, nextX) > east) return false
      if (Math.max(y, nextY) < south || Math.min(y, nextY) > north) return false
      // The corners lie on both sides of the edge's line, or on it.
      const sides = [
        [west, south],
        [east, south],
        [east, north],
        [west, north],
      ].map(([cornerX, cornerY]) =>
        Math.sign((nextX - x) * ((cornerY as number) - y) - (nextY - y) * ((cornerX as number) - x)),
      )
      return !(sides.every((side) => side > 0) || sides.every((side) => side < 0))
    }),
  )
}

function inside(polygons: Polygons, box: Ring): boolean {
  const [[x1, y1], , [x2, y2]] = box as [[number, number], unknown, [number, number]]
  const middle: [number, number] = [(x1 + x2) / 2, (y1 + y2) / 2]
  return polygons.some((polygon) => pointInPolygon(middle, polygon) !== false)
}

export function planarArea(ring: Ring): number {
  const [[originX, originY]] = ring as [[number, number]]
  let twice = 0
  ring.forEach(([x, y], index) => {
    const [nextX, nextY] = ring[(index + 1) % ring.length] as [number, number]
    twice += (x - originX) * (nextY - originY) - (nextX - originX) * (y - originY)
  })
  return Math.abs(twice) / 2
}

const EQUATOR = 6378137
const E2 = 0.0066943799901413165
const E = Math.sqrt(E2)

/** The ordinate of the cylindrical equal-area projection on WGS 84, in metres (Snyder, 1987, p. 81). */
function equalAreaY(latitude: number): number {
  const sine = Math.sin((latitude * Math.PI) / 180)
  const q = (1 - E2) * (sine / (1 - E2 * sine * sine) - Math.log((1 - E * sine) / (1 + E * sine)) / (2 * E))
  return (EQUATOR * q) / 2
}

const PARTS = 200

/** The area of a ring on WGS 84 in square metres: projected to equal areas, its edges in many parts. */
export function ellipsoidArea(ring: Ring): number {
  const projected: Ring = []
  ring.forEach(([x, y], index) => {
    const [nextX, nextY] = ring[(index + 1) % ring.length] as [number, number]
    const parts = y === nextY ? 1 : PARTS
    for (let part = 0; part < parts; part++) {
      const longitude = x + ((nextX - x) * part) / parts
      const latitude = y + ((nextY - y) * part) / parts
      projected.push([(longitude * Math.PI * EQUATOR) / 180, equalAreaY(latitude)])
    }
  })
  return planarArea(projected)
}
