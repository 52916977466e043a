import type { Rings } from '#src/raster/rings.ts'
import { invalid } from './geometry.ts'

/**
 * Rings that touch at one position. PostGIS compares each of them with each other: with a thousand,
 * that takes seconds. Nobody draws so many.
 */
const MOST_RINGS_AT_A_POSITION = 50

/**
 * Refuses holes within holes, polygons within polygons, and too many rings that touch at one position.
 * PostGIS would find the first two as well, but takes half a second for a few thousand of them.
 *
 * @throws {ApiError} says where
 */
export function refuseNesting(polygons: Rings[]): void {
  refuseCrowds(polygons)
  for (const [, ...holes] of polygons) {
    const found = firstNested(holes, (inner, outer) => contains(holes[outer] as Float64Array, inner))
    if (found) throw invalid('geometry', `has a hole within another hole, ${placeOf(found)}`)
  }
  const shells = polygons.map(([shell]) => shell as Float64Array)
  const found = firstNested(shells, (inner, outer) => {
    const [shell, ...holes] = polygons[outer] as [Float64Array, ...Rings]
    // Most often one vertex tells.
    if (holes.some((hole) => encloses(hole, inner[0] as number, inner[1] as number))) return false
    return contains(shell, inner) && !holes.some((hole) => contains(hole, inner))
  })
  if (found) throw invalid('geometry', `has a polygon within another one, ${placeOf(found)}`)
}

/** Where a position is, in a sentence. */
export function placeOf([longitude, latitude]: Iterable<number>): string {
  return `at longitude ${longitude}, latitude ${latitude}`
}

function refuseCrowds(polygons: Rings[]): void {
  const rings = polygons.flat()
  if (rings.length <= MOST_RINGS_AT_A_POSITION) return
  const counts = new Map<string, number>()
  for (const ring of rings) {
    const positions = new Set<string>()
    for (let at = 0; at < ring.length; at += 2) positions.add(`${ring[at]} ${ring[at + 1]}`)
    for (const position of positions) {
      const count = (counts.get(position) ?? 0) + 1
      if (count > MOST_RINGS_AT_A_POSITION) {
        const place = placeOf(position.split(' ').map(Number))
        throw invalid('geometry', `has more than ${MOST_RINGS_AT_A_POSITION} rings that touch ${place}`)
      }
      counts.set(position, count)
    }
  }
}

interface Box {
  ring: Float64Array
  index: number
  west: number
  south: number
  east: number
  north: number
}

function boxOf(ring: Float64Array, index: number): Box {
  const box = { ring, index, west: 180, south: 90, east: -180, north: -90 }
  for (let at = 0; at < ring.length; at += 2) {
    const longitude = ring[at] as number
    const latitude = ring[at + 1] as number
    if (longitude < box.west) box.west = longitude
    if (longitude > box.east) box.east = longitude
    if (latitude < box.south) box.south = latitude
    if (latitude > box.north) box.north = latitude
  }
  return box
}

/** The first ring that lies within another one, by a test; rings whose boxes do not nest are not tested. */
function firstNested(
  rings: Float64Array[],
  within: (inner: Float64Array, outer: number) => boolean,
): Float64Array | undefined {
  const boxes = rings.map(boxOf).sort((a, b) => a.west - b.west)
  for (const [index, inner] of boxes.entries()) {
    for (let before = index - 1; before >= 0; before--) {
      const outer = boxes[before] as Box
      if (outer.east < inner.east || outer.south > inner.south || outer.north < inner.north) continue
      if (within(inner.ring, outer.index)) return inner.ring
    }
  }
  return undefined
}

/**
 * Whether a ring lies inside another one that it does not cross. A vertex may lie on the other ring, where
 * the test is left to chance; all of them and the middle of an edge cannot.
 */
function contains(outer: Float64Array, inner: Float64Array): boolean {
  const [x, y] = [inner[0] as number, inner[1] as number]
  const [nextX, nextY] = [inner[2] as number, inner[3] as number]
  if (!encloses(outer, x, y) || !encloses(outer, (x + nextX) / 2, (y + nextY) / 2)) return false
  for (let at = 2; at < inner.length; at += 2) {
    if (!encloses(outer, inner[at] as number, inner[at + 1] as number)) return false
  }
  return true
}

function encloses(ring: Float64Array, x: number, y: number): boolean {
  let inside = false
  for (let at = 0; at + 3 < ring.length; at += 2) {
    const fromY = ring[at + 1] as number
    const toY = ring[at + 3] as number
    if (fromY > y === toY > y) continue
    const fromX = ring[at] as number
    if (x < fromX + ((y - fromY) / (toY - fromY)) * ((ring[at + 2] as number) - fromX)) inside = !inside
  }
  return inside
}
