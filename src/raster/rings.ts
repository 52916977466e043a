import { type LevelExtent, ringArea } from './grid.ts'

/** Outer ring, then holes; longitudes and latitudes by turns, closed. */
export type Rings = Float64Array[]

/** Square metres on WGS 84. */
export function ellipsoidArea(polygons: Rings[]): number {
  return sumOfRings(polygons, ringArea)
}

/** Rings may run either way. */
export function sumOfRings(polygons: Rings[], area: (ring: Float64Array) => number): number {
  return polygons.reduce(
    (sum, rings) =>
      rings.reduce((of, ring, index) => of + (index === 0 ? 1 : -1) * Math.abs(area(ring)), sum),
    0,
  )
}

/** In square units of the coordinates; positive for anticlockwise rings. */
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

/**
 * Sutherland and Hodgman, 1974. Separate parts stay connected along the sides, which encloses nothing.
 *
 * @returns the same ring if it lies inside, an empty one if outside
 */
export function clip(ring: Float64Array, { west, south, east, north }: LevelExtent): Float64Array {
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

export interface BoundedPolygon extends LevelExtent {
  rings: Rings
}

/**
 * Degrees, 11 cm: nearer to an edge the database decides. Rounding here and in any PostGIS is far smaller, and some
 * versions count such positions as on the edge.
 */
const TOO_NEAR = 1e-6

export function boundedPolygon(rings: Rings): BoundedPolygon {
  const [west, south, east, north] = measureBounds(rings.slice(0, 1))
  return { rings, west, south, east, north }
}

export type Bounds = [west: number, south: number, east: number, north: number]

/** @param rings longitudes and latitudes by turns */
export function measureBounds(rings: ArrayLike<number>[]): Bounds {
  const bounds: Bounds = [Infinity, Infinity, -Infinity, -Infinity]
  for (const ring of rings) {
    for (let at = 0; at < ring.length; at += 2) {
      const [x, y] = [ring[at] as number, ring[at + 1] as number]
      bounds[0] = Math.min(bounds[0], x)
      bounds[1] = Math.min(bounds[1], y)
      bounds[2] = Math.max(bounds[2], x)
      bounds[3] = Math.max(bounds[3], y)
    }
  }
  return bounds
}

/** Undefined if too near to an edge. */
export function isWithinAny(polygons: BoundedPolygon[], x: number, y: number): boolean | undefined {
  let any = false
  for (const polygon of polygons) {
    const within = isWithin(polygon, x, y)
    if (within === undefined) return undefined
    any ||= within
  }
  return any
}

/** By crossings of an eastward ray. */
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
      // Positive to the left of the edge, scaled by its length.
      const side = (bx - ax) * (y - ay) - (by - ay) * (x - ax)
      const length = Math.abs(bx - ax) + Math.abs(by - ay)
      if (x >= Math.min(ax, bx) - TOO_NEAR && Math.abs(side) <= TOO_NEAR * length) return undefined
      // Edges own their lower end, so a ray through a vertex crosses one, both or none.
      if (ay > y !== by > y && side > 0 === by > ay) odd = !odd
    }
    ax = bx
    ay = by
  }
  return odd
}
