import Flatbush from 'flatbush'
import geographic from 'geographiclib-geodesic'
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

/** To the nearest edge, in units of the coordinates. */
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
      // From 0 to 1 along the edge.
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
export const TOO_NEAR = 1e-6

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

interface Neighbour {
  item: number
  squaredDistance: number
}

/** An immutable index of extents. */
export class BoxTree {
  readonly #extents: readonly LevelExtent[]
  /** The library needs at least one extent. */
  readonly #index: Flatbush | undefined

  constructor(extents: readonly LevelExtent[]) {
    this.#extents = extents
    if (extents.length === 0) return
    this.#index = new Flatbush(extents.length)
    for (const { west, south, east, north } of extents) this.#index.add(west, south, east, north)
    this.#index.finish()
  }

  /** @param margin along each axis */
  isInAny(x: number, y: number, margin: number): boolean {
    return this.#index?.collides(x - margin, y - margin, x + margin, y + margin) ?? false
  }

  /**
   * The nearest `count`, and those no farther than the last of them plus a margin.
   *
   * @param squaredDistanceTo at least that of its box; called for few more than are found
   */
  nearest(
    x: number,
    y: number,
    count: number,
    margin: number,
    squaredDistanceTo: (item: number) => number,
  ): Neighbour[] {
    const found: Neighbour[] = []
    let farthest = Number.POSITIVE_INFINITY
    // Boxes come nearest first, until they are farther than the items.
    for (let boxes = 2 * count; ; boxes *= 2) {
      const items = this.#index?.neighbors(x, y, boxes) ?? []
      for (const item of items.slice(found.length)) {
        if (this.#squaredDistance(item, x, y) > farthest) return sortNearest(found, farthest)
        found.push({ item, squaredDistance: squaredDistanceTo(item) })
        const last = found.length < count ? undefined : sortNearest(found, farthest)[count - 1]
        if (last) farthest = Math.max(last.squaredDistance, (Math.sqrt(last.squaredDistance) + margin) ** 2)
      }
      if (items.length < boxes) return sortNearest(found, farthest)
    }
  }

  #squaredDistance(item: number, x: number, y: number): number {
    const { west, south, east, north } = this.#extents[item] as LevelExtent
    return Math.max(west - x, 0, x - east) ** 2 + Math.max(south - y, 0, y - north) ** 2
  }
}

function sortNearest(neighbours: Neighbour[], farthest: number): Neighbour[] {
  return neighbours
    .filter(({ squaredDistance }) => squaredDistance <= farthest)
    .sort((a, b) => a.squaredDistance - b.squaredDistance)
}

/** Degrees. */
interface SpherePosition {
  longitude: number
  latitude: number
}

export interface NearestOnSphere extends SpherePosition {
  /** Radians. */
  angle: number
}

/** Numbers of a position on the unit sphere. */
const AXES = 3

const RADIANS = Math.PI / 180

/** Unit vectors of longitudes and latitudes by turns. */
export function onSphere(positions: Float64Array): Float64Array {
  const vectors = new Float64Array((positions.length / 2) * AXES)
  for (let at = 0; at * 2 < positions.length; at++) {
    const longitude = (positions[2 * at] as number) * RADIANS
    const latitude = (positions[2 * at + 1] as number) * RADIANS
    vectors[AXES * at] = Math.cos(latitude) * Math.cos(longitude)
    vectors[AXES * at + 1] = Math.cos(latitude) * Math.sin(longitude)
    vectors[AXES * at + 2] = Math.sin(latitude)
  }
  return vectors
}

/**
 * Edges are great circles, as in PostGIS before it measures on the ellipsoid.
 *
 * @param rings of `onSphere`
 */
export function nearestOnSphere(
  rings: readonly Float64Array[],
  { longitude, latitude }: SpherePosition,
): NearestOnSphere {
  const [px, py, pz] = onSphere(Float64Array.of(longitude, latitude)) as unknown as [number, number, number]
  // Squared chords grow with the angle, and stay precise for small ones.
  let least = Number.POSITIVE_INFINITY
  let x = 0
  let y = 0
  let z = 0
  for (const ring of rings) {
    let ax = ring[0] as number
    let ay = ring[1] as number
    let az = ring[2] as number
    for (let at = AXES; at < ring.length; at += AXES) {
      const bx = ring[at] as number
      const by = ring[at + 1] as number
      const bz = ring[at + 2] as number
      const toEnd = (px - bx) ** 2 + (py - by) ** 2 + (pz - bz) ** 2
      if (toEnd < least) {
        least = toEnd
        x = bx
        y = by
        z = bz
      }
      const cosine = ax * bx + ay * by + az * bz
      const alongA = px * ax + py * ay + pz * az
      const alongB = px * bx + py * by + pz * bz
      // Then the great circle comes nearest between the ends.
      if (alongB > alongA * cosine && alongA > alongB * cosine) {
        const nx = ay * (bz - az) - az * (by - ay)
        const ny = az * (bx - ax) - ax * (bz - az)
        const nz = ax * (by - ay) - ay * (bx - ax)
        const length = Math.sqrt(nx * nx + ny * ny + nz * nz)
        const sine = ((px - ax) * nx + (py - ay) * ny + (pz - az) * nz) / length
        const squared = sine * sine
        const toCircle = (2 * squared) / (1 + Math.sqrt(Math.max(0, 1 - squared)))
        if (toCircle < least) {
          least = toCircle
          x = px - (sine * nx) / length
          y = py - (sine * ny) / length
          z = pz - (sine * nz) / length
        }
      }
      ax = bx
      ay = by
      az = bz
    }
  }
  return {
    longitude: Math.atan2(y, x) / RADIANS,
    latitude: Math.atan2(z, Math.hypot(x, y)) / RADIANS,
    angle: 2 * Math.asin(Math.min(1, Math.sqrt(least) / 2)),
  }
}

const { Geodesic } = geographic

/** Metres on the WGS 84 ellipsoid (Karney, 2013). */
export function geodesicLength(from: SpherePosition, to: SpherePosition): number {
  const { latitude, longitude } = from
  const line = Geodesic.WGS84.Inverse(latitude, longitude, to.latitude, to.longitude, Geodesic.DISTANCE)
  return line.s12 as number
}
