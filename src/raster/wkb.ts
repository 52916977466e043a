import type { Grid, Window } from './grid.ts'
import {
  bytesOf,
  PIXEL_TYPES,
  type PixelArray,
  type Pixels,
  pixelArrayOf,
  type StoredBand,
} from './pixels.ts'
import type { Rings } from './rings.ts'

const LITTLE_ENDIAN = 1
const POLYGON = 3
const MULTI_POLYGON = 6
/** Byte order, type and number of parts; a ring has only the number. */
const HEADER_BYTES = 9
const COUNT_BYTES = 4
const NUMBER_BYTES = 8

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
 * Of `st_asbinary(geometry, 'NDR')`.
 *
 * @throws {RangeError} for other geometries
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

export interface TileBand {
  pixels: Pixels
  /** As a pixel reads; undefined if each has a value. */
  nodata: number | undefined
}

export interface DecodedTile {
  width: number
  height: number
  bands: TileBand[]
}

/** Offsets of the raster header (raster/doc/RFC2-WellKnownBinaryFormat of PostGIS); bands follow. */
const HEADER = {
  byteOrder: 0,
  version: 1,
  bands: 3,
  pixelWidth: 5,
  pixelHeight: 13,
  originX: 21,
  originY: 29,
  skewX: 37,
  skewY: 45,
  srid: 53,
  width: 57,
  height: 59,
  end: 61,
}

const WKB_VERSION = 0

/** A byte of type and flags, nodata as a pixel, then pixels row by row. */
const TYPE_BYTES = 1
const TYPE_CODE = 0x0f
const ALL_NODATA = 0x20
const HAS_NODATA = 0x40
const OUTSIDE_DATABASE = 0x80

/** @param pixels may be longer than the window */
export function encodeTile(grid: Grid, window: Window, bands: StoredBand[], pixels: Pixels[]): Buffer {
  const { column, row, width, height } = window
  const count = width * height
  const size = bands.reduce(
    (sum, { pixelType }) => sum + TYPE_BYTES + bytesOf(pixelType) * (1 + count),
    HEADER.end,
  )
  const wkb = Buffer.allocUnsafe(size)
  wkb.writeUInt8(LITTLE_ENDIAN, HEADER.byteOrder)
  wkb.writeUInt16LE(WKB_VERSION, HEADER.version)
  wkb.writeUInt16LE(bands.length, HEADER.bands)
  wkb.writeDoubleLE(grid.pixelWidth, HEADER.pixelWidth)
  wkb.writeDoubleLE(grid.pixelHeight, HEADER.pixelHeight)
  wkb.writeDoubleLE(grid.originX + column * grid.pixelWidth, HEADER.originX)
  wkb.writeDoubleLE(grid.originY + row * grid.pixelHeight, HEADER.originY)
  wkb.writeDoubleLE(0, HEADER.skewX)
  wkb.writeDoubleLE(0, HEADER.skewY)
  wkb.writeInt32LE(grid.srid, HEADER.srid)
  wkb.writeUInt16LE(width, HEADER.width)
  wkb.writeUInt16LE(height, HEADER.height)
  let at = HEADER.end
  bands.forEach(({ pixelType, nodata }, index) => {
    const { code, PixelArray } = PIXEL_TYPES[pixelType]
    at = wkb.writeUInt8(code | (nodata === undefined ? 0 : HAS_NODATA), at)
    for (const part of [PixelArray.of(nodata ?? 0), (pixels[index] as Pixels).subarray(0, count)]) {
      wkb.set(new Uint8Array(part.buffer, part.byteOffset, part.byteLength), at)
      at += part.byteLength
    }
  })
  return wkb
}

export interface BandRange {
  PixelArray: PixelArray
  /** Of nodata, a pixel right before the pixels. */
  start: number
  end: number
  hasNodata: boolean
  /** Every pixel is nodata. */
  isNodata: boolean
}

/** @throws {RangeError} for other bytes than a raster of a little-endian server, kept in the database */
export function readTileHeader(wkb: Buffer): { width: number; height: number; bands: BandRange[] } {
  if (wkb.readUInt8(HEADER.byteOrder) !== LITTLE_ENDIAN || wkb.readUInt16LE(HEADER.version) !== WKB_VERSION) {
    throw new RangeError('the raster is not little-endian well-known binary of version 0')
  }
  const width = wkb.readUInt16LE(HEADER.width)
  const height = wkb.readUInt16LE(HEADER.height)
  const bands: BandRange[] = []
  let at = HEADER.end
  for (let count = wkb.readUInt16LE(HEADER.bands); count > 0; count--) {
    const flags = wkb.readUInt8(at)
    const PixelArray = pixelArrayOf(flags & TYPE_CODE)
    if (!PixelArray || flags & OUTSIDE_DATABASE) {
      throw new RangeError(`a band of kind ${flags} cannot be read`)
    }
    const start = at + TYPE_BYTES
    const end = start + PixelArray.BYTES_PER_ELEMENT * (1 + width * height)
    if (end > wkb.length) throw new RangeError('the raster is cut off')
    const hasNodata = (flags & HAS_NODATA) !== 0
    bands.push({ PixelArray, start, end, hasNodata, isNodata: hasNodata && (flags & ALL_NODATA) !== 0 })
    at = end
  }
  return { width, height, bands }
}

/**
 * Of `rast::bytea`. Copies pixels, to release the answer.
 *
 * @throws {RangeError} as {@link readTileHeader}
 */
export function decodeTile(wkb: Buffer): DecodedTile {
  const { width, height, bands } = readTileHeader(wkb)
  return {
    width,
    height,
    bands: bands.map(({ PixelArray, start, end, hasNodata, isNodata }) => {
      const all = new PixelArray(new Uint8Array(wkb.subarray(start, end)).buffer)
      const pixels = all.subarray(1)
      const nodata = hasNodata ? all[0] : undefined
      if (nodata !== undefined && isNodata) pixels.fill(nodata)
      return { pixels, nodata }
    }),
  }
}
