import type { Ask } from '#src/database/cancellable.ts'
import { decodeMultiPolygon, encodeMultiPolygon, type Rings } from '#src/raster/geometry-wkb.ts'
import { measureOf, ringArea } from '#src/raster/pixel-area.ts'
import type { GridPolygon } from '#src/raster/scan.ts'
import { transformPolygons, type ZonalCoverage } from './zonal-queries.ts'

/** A polygon on a grid, and how much of the polygon that is. */
export interface PlacedPolygon extends GridPolygon {
  /** Its area in the measure of the grid. */
  area: number
  /** The part of the polygon's own area that it is: below 1 where it was cut off beyond the grid. */
  share: number
  /** Whether all of it lies on the grid. */
  within: boolean
}

/** The area of polygons on the WGS 84 ellipsoid, in square metres. */
export function areaOf(polygons: Rings[]): number {
  return sumOfRings(polygons, ringArea)
}

/**
 * Places polygons on the grid of a coverage.
 *
 * Grids in other coordinates than longitude and latitude are gone to by PostGIS. What lies far beyond
 * them is cut off first: it may not be possible to transform it.
 */
export async function placeOnGrid(
  ask: Ask,
  coverage: ZonalCoverage,
  polygons: Rings[],
): Promise<PlacedPolygon> {
  const inGridCrs = coverage.srid === 4326 ? { polygons, share: 1 } : await transform(ask, coverage, polygons)
  const tolerance = toleranceOf(coverage, inGridCrs.polygons)
  const rings = inGridCrs.polygons.flatMap((polygon) =>
    polygon.map((ring, index) => oriented(onGrid(coverage, ring, tolerance), index > 0)),
  )
  const { pixelArea } = measureOf(coverage, false)
  return {
    rings,
    tolerance,
    area: coverage.geographic
      ? areaOf(inGridCrs.polygons)
      : -rings.reduce((sum, ring) => sum + planarArea(ring), 0) * pixelArea(0),
    share: inGridCrs.share,
    within: inGridCrs.share === 1 && rings.every((ring) => liesWithin(ring, coverage)),
  }
}

/**
 * Degrees by which a polygon may reach beyond a projected grid. What is cut off counts by its area on the
 * ellipsoid, which is nearly the same: so the margin is as wide as projections allow for.
 */
const MARGIN = 3

/**
 * A line that is straight in longitude and latitude is a curve in the plane. Close to the equator it leaves
 * its chord by about 40 metres for the square of a degree; with steps as short as this (square degrees for
 * a degree of the polygon's width) that changes its area by less than 1e-9.
 */
const STEP = 7e-7

/** Polygons that would have more positions than this are divided more coarsely. */
const MOST_STEPS = 100_000

async function transform(
  ask: Ask,
  { srid, west, south, east, north }: ZonalCoverage,
  polygons: Rings[],
): Promise<{ polygons: Rings[]; share: number }> {
  const clipped = polygons
    .map((rings) =>
      rings.flatMap((ring) => {
        const part = clip(ring, west - MARGIN, south - MARGIN, east + MARGIN, north + MARGIN)
        return part.length > 0 ? [part] : []
      }),
    )
    .filter((rings) => rings.length > 0)
  if (clipped.length === 0) return { polygons: [], share: 0 }
  const length = clipped.flat().reduce((sum, ring) => sum + lengthOf(ring), 0)
  // As wide as a square with the same proportion of area to border.
  const width = (4 * sumOfRings(clipped, planarArea)) / length
  const step = Math.max(Math.sqrt(STEP * width), length / MOST_STEPS)
  const wkb = await transformPolygons(ask, encodeMultiPolygon(clipped), srid, step)
  const unchanged = clipped.flat().every((ring, index) => ring === polygons.flat()[index])
  return {
    polygons: decodeMultiPolygon(wkb),
    share: unchanged && clipped.length === polygons.length ? 1 : areaOf(clipped) / areaOf(polygons),
  }
}

/**
 * Cuts a ring off at the sides of a rectangle (Sutherland and Hodgman, 1974). Where it falls apart the
 * parts stay connected along the sides, there and back, which encloses nothing.
 *
 * @returns the ring itself where it lies inside, and an empty one where it lies outside
 */
function clip(ring: Float64Array, west: number, south: number, east: number, north: number): Float64Array {
  let numbers: ArrayLike<number> = ring
  const sides: [axis: 0 | 1, sign: 1 | -1, limit: number][] = [
    [0, 1, west],
    [0, -1, -east],
    [1, 1, south],
    [1, -1, -north],
  ]
  for (const [axis, sign, limit] of sides) {
    const beyond = (at: number) => sign * (numbers[at + axis] as number) - limit
    let outside = false
    for (let at = 0; at < numbers.length && !outside; at += 2) outside = beyond(at) < 0
    if (!outside) continue
    const result: number[] = []
    for (let at = 0; at + 3 < numbers.length; at += 2) {
      const from = beyond(at)
      const to = beyond(at + 2)
      if (from >= 0) result.push(numbers[at] as number, numbers[at + 1] as number)
      if (from >= 0 === to >= 0) continue
      const part = from / (from - to)
      const crossing = [0, 1].map((side) => {
        const start = numbers[at + side] as number
        return side === axis ? sign * limit : start + part * ((numbers[at + 2 + side] as number) - start)
      })
      result.push(...crossing)
    }
    if (result.length === 0) return new Float64Array()
    numbers = [...result, result[0] as number, result[1] as number]
  }
  return numbers === ring ? ring : Float64Array.from(numbers)
}

function lengthOf(ring: Float64Array): number {
  let length = 0
  for (let at = 0; at + 3 < ring.length; at += 2) {
    length += Math.hypot(
      (ring[at + 2] as number) - (ring[at] as number),
      (ring[at + 3] as number) - (ring[at + 1] as number),
    )
  }
  return length
}

/**
 * How many units in the last place a coordinate may be off: those that are meant to lie on a border have
 * most often been computed from the corner and the size of pixels, in several steps.
 */
const UNITS = 64

/** How far from a border of pixels a coordinate may come to lie that is meant to lie on it. */
function toleranceOf(
  { originX, originY, pixelWidth, pixelHeight }: ZonalCoverage,
  polygons: Rings[],
): number {
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
  { originX, originY, pixelWidth, pixelHeight }: ZonalCoverage,
  ring: Float64Array,
  tolerance: number,
): Float64Array {
  const snapped = (coordinate: number): number => {
    const border = Math.round(coordinate)
    return Math.abs(coordinate - border) <= tolerance ? border : coordinate
  }
  const placed = new Float64Array(ring.length)
  for (let at = 0; at < ring.length; at += 2) {
    placed[at] = snapped(((ring[at] as number) - originX) / pixelWidth)
    placed[at + 1] = snapped(((ring[at + 1] as number) - originY) / pixelHeight)
  }
  return placed
}

/** A ring that goes the way the scan wants it: GeoJSON's may go either way, whatever its rule. */
function oriented(ring: Float64Array, hole: boolean): Float64Array {
  if (planarArea(ring) > 0 === hole) return ring
  const reversed = new Float64Array(ring.length)
  for (let at = 0; at < ring.length; at += 2) {
    reversed[at] = ring[ring.length - 2 - at] as number
    reversed[at + 1] = ring[ring.length - 1 - at] as number
  }
  return reversed
}

function planarArea(ring: Float64Array): number {
  const x = ring[0] as number
  const y = ring[1] as number
  let twice = 0
  for (let at = 2; at + 3 < ring.length; at += 2) {
    twice += ((ring[at] as number) - x) * ((ring[at + 3] as number) - y)
    twice -= ((ring[at + 2] as number) - x) * ((ring[at + 1] as number) - y)
  }
  return twice / 2
}

function liesWithin(ring: Float64Array, { width, height }: ZonalCoverage): boolean {
  for (let at = 0; at < ring.length; at += 2) {
    const column = ring[at] as number
    const row = ring[at + 1] as number
    if (column < 0 || column > width || row < 0 || row > height) return false
  }
  return true
}

/** Adds up outer rings and takes away holes, whichever way they go. */
function sumOfRings(polygons: Rings[], area: (ring: Float64Array) => number): number {
  return polygons.reduce(
    (sum, rings) =>
      rings.reduce((of, ring, index) => of + (index === 0 ? 1 : -1) * Math.abs(area(ring)), sum),
    0,
  )
}
