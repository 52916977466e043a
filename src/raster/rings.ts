import type { Extent } from './grid.ts'
import { ringArea } from './pixel-area.ts'

/** A polygon: its outer ring, then its holes; each longitudes and latitudes by turns, closed. */
export type Rings = Float64Array[]

/** The area of polygons on the WGS 84 ellipsoid, in square metres. */
export function ellipsoidArea(polygons: Rings[]): number {
  return sumOfRings(polygons, ringArea)
}

/** Adds up outer rings and takes away holes, whichever way they go. */
export function sumOfRings(polygons: Rings[], area: (ring: Float64Array) => number): number {
  return polygons.reduce(
    (sum, rings) =>
      rings.reduce((of, ring, index) => of + (index === 0 ? 1 : -1) * Math.abs(area(ring)), sum),
    0,
  )
}

/** The area inside a ring in the square units of its coordinates; positive where it runs anticlockwise. */
export function planarArea(ring: Float64Array): number {
  const x = ring[0] as number
  const y = ring[1] as number
  let twice = 0
  for (let at = 2; at + 3 < ring.length; at += 2) {
    twice += ((ring[at] as number) - x) * ((ring[at + 3] as number) - y)
    twice -= ((ring[at + 2] as number) - x) * ((ring[at + 1] as number) - y)
  }
  return twice / 2
}

/** The length of a ring in the units of its coordinates. */
export function ringLength(ring: Float64Array): number {
  let length = 0
  for (let at = 0; at + 3 < ring.length; at += 2) {
    length += Math.hypot(
      (ring[at + 2] as number) - (ring[at] as number),
      (ring[at + 3] as number) - (ring[at + 1] as number),
    )
  }
  return length
}

/** The square of the distance from a position to the nearest edge of some rings, in the units of their coordinates. */
export function squaredDistanceTo(rings: readonly Float64Array[], x: number, y: number): number {
  let least = Number.POSITIVE_INFINITY
  for (const ring of rings) {
    let ax = (ring[0] as number) - x
    let ay = (ring[1] as number) - y
    for (let at = 2; at + 1 < ring.length; at += 2) {
      const bx = (ring[at] as number) - x
      const by = (ring[at + 1] as number) - y
      const ex = bx - ax
      const ey = by - ay
      const length = ex * ex + ey * ey
      // Where along the edge it comes nearest, from 0 to 1.
      const part = length === 0 ? 0 : Math.min(1, Math.max(0, -(ax * ex + ay * ey) / length))
      const dx = ax + part * ex
      const dy = ay + part * ey
      const squared = dx * dx + dy * dy
      if (squared < least) least = squared
      ax = bx
      ay = by
    }
  }
  return least
}

/**
 * Cuts a ring off at the sides of a rectangle (Sutherland and Hodgman, 1974). Where it falls apart the
 * parts stay connected along the sides, there and back, which encloses nothing.
 *
 * @returns the ring itself where it lies inside, and an empty one where it lies outside
 */
export function clip(ring: Float64Array, { west, south, east, north }: Extent): Float64Array {
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

/** A polygon with its extent. */
export interface BoundedPolygon extends Extent {
  rings: Rings
}

/**
 * Degrees from an edge, 11 cm on the ground: nearer than that, it is the database that decides. It is far beyond
 * what numbers are rounded by, here and in any version of PostGIS, some of which take what is so near for on the edge.
 */
export const TOO_NEAR = 1e-6

/** Adds its extent to a polygon. */
export function boundedPolygon(rings: Rings): BoundedPolygon {
  const shell = rings[0] as Float64Array
  let [west, south, east, north] = [shell[0], shell[1], shell[0], shell[1]] as [
    number,
    number,
    number,
    number,
  ]
  for (let at = 2; at < shell.length; at += 2) {
    const x = shell[at] as number
    const y = shell[at + 1] as number
    west = Math.min(west, x)
    east = Math.max(east, x)
    south = Math.min(south, y)
    north = Math.max(north, y)
  }
  return { rings, west, south, east, north }
}

/** Whether any of some polygons contains a position; undefined where it is too near to an edge to tell. */
export function isWithinAny(polygons: BoundedPolygon[], x: number, y: number): boolean | undefined {
  let any = false
  for (const polygon of polygons) {
    const within = isWithin(polygon, x, y)
    if (within === undefined) return undefined
    any ||= within
  }
  return any
}

/** By how often a ray to the east crosses the rings. */
function isWithin({ rings, west, south, east, north }: BoundedPolygon, x: number, y: number) {
  if (x < west - TOO_NEAR || x > east + TOO_NEAR || y < south - TOO_NEAR || y > north + TOO_NEAR) return false
  let within = false
  for (const ring of rings) {
    const crossed = isCrossedOddly(ring, x, y)
    if (crossed === undefined) return undefined
    within = within !== crossed
  }
  return within
}

function isCrossedOddly(ring: Float64Array, x: number, y: number): boolean | undefined {
  let odd = false
  let ax = ring[0] as number
  let ay = ring[1] as number
  for (let at = 2; at < ring.length; at += 2) {
    const bx = ring[at] as number
    const by = ring[at + 1] as number
    if (
      y >= Math.min(ay, by) - TOO_NEAR &&
      y <= Math.max(ay, by) + TOO_NEAR &&
      x <= Math.max(ax, bx) + TOO_NEAR
    ) {
      // Above 0 where the position lies to the left of the edge, and as far from it as this is long.
      const side = (bx - ax) * (y - ay) - (by - ay) * (x - ax)
      const length = Math.abs(bx - ax) + Math.abs(by - ay)
      if (x >= Math.min(ax, bx) - TOO_NEAR && Math.abs(side) <= TOO_NEAR * length) return undefined
      // An edge belongs to its lower end, so that a ray through a vertex crosses one edge, or both, or none.
      if (ay > y !== by > y && side > 0 === by > ay) odd = !odd
    }
    ax = bx
    ay = by
  }
  return odd
}
