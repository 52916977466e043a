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
