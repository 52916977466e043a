import Flatbush from 'flatbush'
import geographic from 'geographiclib-geodesic'
import type { LevelExtent } from './grid.ts'

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
