import { MAX_POSITIONS } from './feature.ts'

/** GeoJSON; of other types than polygons, only the type. */
type PackedGeometry =
  | { type: 'Polygon'; coordinates: Position[][] }
  | { type: 'MultiPolygon'; coordinates: Position[][][] }
  | { type: 'GeometryCollection'; geometries: PackedGeometry[] }
  | { type: OtherType }

type Position = [x: number, y: number]

const MAGIC = 'GP'
const HEADER_BYTES = 8
/** By the envelope code of the flags. */
const ENVELOPE_BYTES = [0, 32, 48, 48, 64]

const POLYGON = 3
const MULTI_POLYGON = 6
const COLLECTION = 7
const OTHER_TYPES = {
  1: 'Point',
  2: 'LineString',
  4: 'MultiPoint',
  5: 'MultiLineString',
  8: 'CircularString',
  9: 'CompoundCurve',
  10: 'CurvePolygon',
  11: 'MultiCurve',
  12: 'MultiSurface',
  15: 'PolyhedralSurface',
  16: 'TIN',
  17: 'Triangle',
} as const
type OtherType = (typeof OTHER_TYPES)[keyof typeof OTHER_TYPES]

/** Real files nest no collections. */
const MAX_DEPTH = 8

const DAMAGED = 'its geometry is damaged'

/**
 * A GeoPackage header, then well-known binary.
 *
 * @param number of the feature, for messages
 */
export function geometryOf(bytes: Buffer, number: number): PackedGeometry {
  try {
    if (bytes.toString('latin1', 0, 2) !== MAGIC) throw new Error(DAMAGED)
    const flags = bytes.readUInt8(3)
    const isExtended = (flags & 0x20) !== 0
    const envelopeBytes = ENVELOPE_BYTES[(flags >> 1) & 0x07]
    if (isExtended || envelopeBytes === undefined)
      throw new Error('its geometry is of a kind that is not read')
    return new WkbReader(bytes.subarray(HEADER_BYTES + envelopeBytes)).geometry(0)
  } catch (error) {
    // A number beyond the end.
    const reason = error instanceof RangeError ? DAMAGED : (error as Error).message
    throw new Error(`feature ${number}: ${reason}`)
  }
}

/** ISO and PostGIS flags; each part states its byte order. */
class WkbReader {
  readonly #bytes: Buffer
  #at = 0
  #littleEndian = true
  /** Counts rings too: millions of rings may have no positions. */
  #left = MAX_POSITIONS

  constructor(bytes: Buffer) {
    this.#bytes = bytes
  }

  geometry(depth: number): PackedGeometry {
    if (depth > MAX_DEPTH) throw new Error(DAMAGED)
    this.#littleEndian = this.#bytes.readUInt8(this.#at++) === 1
    const code = this.#uint32()
    const flagged = code >>> 28
    if ((flagged & 0x2) !== 0) this.#uint32()
    const base = code & 0x0fff_ffff
    const [type, dimensions] = [base % 1000, Math.floor(base / 1000)]
    const more = dimensions === 0 ? ((flagged >> 3) & 1) + ((flagged >> 2) & 1) : dimensions === 3 ? 2 : 1
    if (dimensions > 3) throw new Error(DAMAGED)
    if (type === POLYGON) return { type: 'Polygon', coordinates: this.#rings(2 + more) }
    if (type === MULTI_POLYGON) {
      const polygons = this.#parts(() => this.geometry(depth + 1))
      return { type: 'MultiPolygon', coordinates: polygons.map(coordinatesOf) }
    }
    if (type === COLLECTION) {
      return { type: 'GeometryCollection', geometries: this.#parts(() => this.geometry(depth + 1)) }
    }
    // The length of other types is unknown, so later parts cannot be read.
    const other = OTHER_TYPES[type as keyof typeof OTHER_TYPES]
    if (other === undefined) throw new Error(DAMAGED)
    if (depth > 0) throw new Error(`its geometry has a ${other} in it`)
    return { type: other }
  }

  #rings(numbers: number): Position[][] {
    return this.#parts(() => {
      const count = this.#uint32()
      if (count * numbers * 8 > this.#bytes.length - this.#at) throw new Error(DAMAGED)
      this.#take(count)
      return Array.from({ length: count }, (): Position => {
        const position: Position = [this.#double(this.#at), this.#double(this.#at + 8)]
        this.#at += numbers * 8
        return position
      })
    })
  }

  #parts<Part>(read: () => Part): Part[] {
    const count = this.#uint32()
    this.#take(count)
    const parts: Part[] = []
    for (let part = 0; part < count; part++) parts.push(read())
    return parts
  }

  #take(count: number): void {
    this.#left -= count
    if (this.#left < 0) throw new Error(`it has more than ${MAX_POSITIONS} positions and rings`)
  }

  #uint32(): number {
    this.#at += 4
    const at = this.#at - 4
    return this.#littleEndian ? this.#bytes.readUInt32LE(at) : this.#bytes.readUInt32BE(at)
  }

  #double(at: number): number {
    return this.#littleEndian ? this.#bytes.readDoubleLE(at) : this.#bytes.readDoubleBE(at)
  }
}

function coordinatesOf(polygon: PackedGeometry): Position[][] {
  if (polygon.type !== 'Polygon') throw new Error(DAMAGED)
  return polygon.coordinates
}
