import type { Rings } from './rings.ts'

const LITTLE_ENDIAN = 1
const LINE_STRING = 2
const POLYGON = 3
const MULTI_POLYGON = 6
/** Byte order, type and the number of parts of a geometry; a ring has the number alone. */
const HEADER_BYTES = 9
const COUNT_BYTES = 4
const NUMBER_BYTES = 8

/** Polygons as a MultiPolygon in well-known binary. */
export function encodeMultiPolygon(polygons: Rings[]): Buffer {
  const rings = polygons.flat()
  const numbers = rings.reduce((sum, ring) => sum + ring.length, 0)
  const wkb = Buffer.allocUnsafe(
    HEADER_BYTES * (1 + polygons.length) + COUNT_BYTES * rings.length + NUMBER_BYTES * numbers,
  )
  let at = writeHeader(wkb, 0, MULTI_POLYGON, polygons.length)
  for (const polygon of polygons) {
    at = writeHeader(wkb, at, POLYGON, polygon.length)
    for (const ring of polygon) {
      at = wkb.writeUInt32LE(ring.length / 2, at)
      for (const number of ring) at = wkb.writeDoubleLE(number, at)
    }
  }
  return wkb
}

function writeHeader(wkb: Buffer, at: number, type: number, parts: number): number {
  return wkb.writeUInt32LE(parts, wkb.writeUInt32LE(type, wkb.writeUInt8(LITTLE_ENDIAN, at)))
}

/**
 * The polygons of a MultiPolygon in well-known binary, as `st_asbinary(geometry, 'NDR')` gives it.
 *
 * @throws {RangeError} where it is another geometry
 */
export function decodeMultiPolygon(wkb: Buffer): Rings[] {
  let at = 0
  const readHeader = (type: number): number => {
    if (wkb.readUInt8(at) !== LITTLE_ENDIAN || wkb.readUInt32LE(at + 1) !== type) {
      throw new RangeError('the geometry is not a little-endian MultiPolygon of two dimensions')
    }
    at += HEADER_BYTES
    return wkb.readUInt32LE(at - COUNT_BYTES)
  }
  return Array.from({ length: readHeader(MULTI_POLYGON) }, () =>
    Array.from({ length: readHeader(POLYGON) }, () => {
      const bytes = wkb.readUInt32LE(at) * 2 * NUMBER_BYTES
      const start = wkb.byteOffset + at + COUNT_BYTES
      at += COUNT_BYTES + bytes
      return new Float64Array(wkb.buffer.slice(start, start + bytes) as ArrayBuffer)
    }),
  )
}

/** Positions, longitudes and latitudes by turns, as a LineString in well-known binary: at least two. */
export function encodeLineString(positions: Float64Array): Buffer {
  const wkb = Buffer.allocUnsafe(HEADER_BYTES + NUMBER_BYTES * positions.length)
  let at = writeHeader(wkb, 0, LINE_STRING, positions.length / 2)
  for (const number of positions) at = wkb.writeDoubleLE(number, at)
  return wkb
}

/**
 * The positions of a LineString in well-known binary, as `st_asbinary(geometry, 'NDR')` gives it.
 *
 * @throws {RangeError} where it is another geometry
 */
export function decodeLineString(wkb: Buffer): Float64Array {
  if (wkb.readUInt8(0) !== LITTLE_ENDIAN || wkb.readUInt32LE(1) !== LINE_STRING) {
    throw new RangeError('the geometry is not a little-endian LineString of two dimensions')
  }
  const start = wkb.byteOffset + HEADER_BYTES
  return new Float64Array(wkb.buffer.slice(start, wkb.byteOffset + wkb.length) as ArrayBuffer)
}
