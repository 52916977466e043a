import type { Rings } from '#src/raster/rings.ts'
import { encodeMultiPolygon } from '#src/raster/tiles.ts'

/** Degrees only after a check. */
export type Bounds = [west: number, south: number, east: number, north: number]

export interface Shape {
  wkb: Buffer
  bounds: Bounds
  positions: number
}

type NoShape = 'it has no geometry' | 'its geometry is empty' | `its geometry is a ${string}`

/** Numbers of the smallest closed ring, two a position. */
const SMALLEST_RING = 8

/**
 * Drops heights, closes open rings, and drops rings with fewer than three corners. PostGIS finds other faults.
 *
 * @throws {RangeError} for coordinates that are no finite numbers
 */
export function readShape(geometry: unknown): Shape | NoShape {
  if (geometry === null || geometry === undefined) return 'it has no geometry'
  const polygons = polygonsIn(geometry)
  if (!polygons) return `its geometry is a ${String((geometry as { type?: unknown }).type)}`
  const usable = polygons.flatMap((rings) => {
    const [outer, ...holes] = rings.map(closed)
    // Holes without an outer ring lie in nothing.
    if (!outer || outer.length < SMALLEST_RING) return []
    return [[outer, ...holes.filter((hole) => hole.length >= SMALLEST_RING)]]
  })
  if (usable.length === 0) return 'its geometry is empty'
  return { wkb: encodeMultiPolygon(usable), bounds: measureBounds(usable), positions: count(usable) }
}

function polygonsIn(geometry: unknown): unknown[][] | undefined {
  const { type, coordinates, geometries } = geometry as Record<string, unknown>
  if (type === 'Polygon') return [asArray(coordinates)]
  if (type === 'MultiPolygon') return asArray(coordinates).map(asArray)
  if (type !== 'GeometryCollection') return undefined
  const parts = asArray(geometries).map(polygonsIn)
  return parts.some((part) => part) ? parts.flatMap((part) => part ?? []) : undefined
}

function asArray(value: unknown): unknown[] {
  return Array.isArray(value) ? value : []
}

function closed(positions: unknown): Float64Array {
  const ring = asArray(positions).flatMap((position): [number, number] => {
    const [x, y] = asArray(position)
    if (!isFiniteNumber(x) || !isFiniteNumber(y)) {
      throw new RangeError(`the coordinates ${JSON.stringify(position)} are not two numbers`)
    }
    return [x, y]
  })
  const [x, y] = ring
  const open = x !== undefined && y !== undefined && (x !== ring.at(-2) || y !== ring.at(-1))
  return Float64Array.from(open ? [...ring, x, y] : ring)
}

function isFiniteNumber(value: unknown): value is number {
  return Number.isFinite(value)
}

function measureBounds(polygons: Rings[]): Bounds {
  const bounds: Bounds = [
    Number.POSITIVE_INFINITY,
    Number.POSITIVE_INFINITY,
    Number.NEGATIVE_INFINITY,
    Number.NEGATIVE_INFINITY,
  ]
  for (const [outer = []] of polygons) {
    for (let at = 0; at < outer.length; at += 2) {
      const [x, y] = [outer[at] as number, outer[at + 1] as number]
      bounds[0] = Math.min(bounds[0], x)
      bounds[1] = Math.min(bounds[1], y)
      bounds[2] = Math.max(bounds[2], x)
      bounds[3] = Math.max(bounds[3], y)
    }
  }
  return bounds
}

function count(polygons: Rings[]): number {
  return polygons.flat().reduce((sum, ring) => sum + ring.length / 2, 0)
}
