import type { Extent } from './grid.ts'
import type { Rings } from './rings.ts'

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
