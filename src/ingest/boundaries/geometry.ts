/** West, south, east and north, decimal degrees once they are known to be degrees. */
export type Bounds = [west: number, south: number, east: number, north: number]

/** The polygons of a geometry, ready for the database. */
export interface Shape {
  /** A MultiPolygon, well-known binary. */
  wkb: Buffer
  bounds: Bounds
  positions: number
}

/** Why a geometry is no area. */
export type NoShape = 'it has no geometry' | 'its geometry is empty' | `its geometry is a ${string}`

type Ring = [number, number][]

/** A ring that is closed has at least so many positions. */
const SMALLEST_RING = 4

/**
 * The polygons in a GeoJSON geometry. Heights are left out, open rings are closed, and rings of fewer
 * than three corners enclose nothing and are left out; what else is wrong with them, PostGIS finds.
 *
 * @throws {RangeError} where a coordinate is not a finite number
 */
export function shapeOf(geometry: unknown): Shape | NoShape {
  if (geometry === null || geometry === undefined) return 'it has no geometry'
  const polygons = polygonsIn(geometry)
  if (!polygons) return `its geometry is a ${String((geometry as { type?: unknown }).type)}`
  const usable = polygons.flatMap((rings) => {
    const [outer, ...holes] = rings.map(closed)
    // Without its outer ring, a polygon's holes are holes in nothing.
    if (!outer || outer.length < SMALLEST_RING) return []
    return [[outer, ...holes.filter((hole) => hole.length >= SMALLEST_RING)]]
  })
  if (usable.length === 0) return 'its geometry is empty'
  return { wkb: multiPolygonWkb(usable), bounds: boundsOf(usable), positions: count(usable) }
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

function closed(positions: unknown): Ring {
  const ring = asArray(positions).map((position): [number, number] => {
    const [x, y] = asArray(position)
    if (!Number.isFinite(x) || !Number.isFinite(y)) {
      throw new RangeError(`the coordinates ${JSON.stringify(position)} are not two numbers`)
    }
    return [x as number, y as number]
  })
  const [first, last] = [ring[0], ring.at(-1)]
  if (first && last && (first[0] !== last[0] || first[1] !== last[1])) ring.push(first)
  return ring
}

function boundsOf(polygons: Ring[][]): Bounds {
  const bounds: Bounds = [
    Number.POSITIVE_INFINITY,
    Number.POSITIVE_INFINITY,
    Number.NEGATIVE_INFINITY,
    Number.NEGATIVE_INFINITY,
  ]
  for (const [outer] of polygons) {
    for (const [x, y] of outer as Ring) {
      bounds[0] = Math.min(bounds[0], x)
      bounds[1] = Math.min(bounds[1], y)
      bounds[2] = Math.max(bounds[2], x)
      bounds[3] = Math.max(bounds[3], y)
    }
  }
  return bounds
}

function count(polygons: Ring[][]): number {
  return polygons.reduce((sum, rings) => rings.reduce((inner, ring) => inner + ring.length, sum), 0)
}

const LITTLE_ENDIAN = 1
const POLYGON = 3
const MULTI_POLYGON = 6
/** Byte order, type and the number of parts, of a geometry; a ring has the number alone. */
const HEADER_BYTES = 9
const COUNT_BYTES = 4
const POSITION_BYTES = 16

function multiPolygonWkb(polygons: Ring[][]): Buffer {
  const rings = polygons.reduce((sum, polygon) => sum + polygon.length, 0)
  const wkb = Buffer.allocUnsafe(
    HEADER_BYTES * (1 + polygons.length) + COUNT_BYTES * rings + POSITION_BYTES * count(polygons),
  )
  let at = header(wkb, 0, MULTI_POLYGON, polygons.length)
  for (const polygon of polygons) {
    at = header(wkb, at, POLYGON, polygon.length)
    for (const ring of polygon) {
      at = wkb.writeUInt32LE(ring.length, at)
      for (const [x, y] of ring) at = wkb.writeDoubleLE(y, wkb.writeDoubleLE(x, at))
    }
  }
  return wkb
}

function header(wkb: Buffer, at: number, type: number, parts: number): number {
  return wkb.writeUInt32LE(parts, wkb.writeUInt32LE(type, wkb.writeUInt8(LITTLE_ENDIAN, at)))
}
