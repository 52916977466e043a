/** The pixels of a band, row by row. */
export type TilePixels =
  | Int8Array
  | Uint8Array
  | Int16Array
  | Uint16Array
  | Int32Array
  | Uint32Array
  | Float32Array
  | Float64Array

export interface TileBand {
  pixels: TilePixels
  /** The pixel that stands for no value, exactly as a pixel reads; undefined where each has a value. */
  nodata: number | undefined
}

/** A tile of a coverage: raw pixels, before scale and offset. */
export interface DecodedTile {
  width: number
  height: number
  bands: TileBand[]
}

/** The arrays that hold pixels, by PostGIS's code of the pixel type; the types of less than a byte take one. */
const ARRAYS = [
  Uint8Array,
  Uint8Array,
  Uint8Array,
  Int8Array,
  Uint8Array,
  Int16Array,
  Uint16Array,
  Int32Array,
  Uint32Array,
  undefined,
  Float32Array,
  Float64Array,
] as const

const PIXEL_BYTES = ARRAYS.map((PixelArray) => PixelArray?.BYTES_PER_ELEMENT)

const FLOAT32 = 10
const FLOAT64 = 11

const LITTLE_ENDIAN = 1
const WKB_VERSION = 0
const BANDS_AT = 3
const WIDTH_AT = 57
const HEIGHT_AT = 59
const HEADER_BYTES = 61

const PIXEL_TYPE = 0x0f
const ALL_NODATA = 0x20
const HAS_NODATA = 0x40
const OUTSIDE_DATABASE = 0x80

/**
 * Decodes a raster as PostgreSQL sends it: `rast::bytea`, PostGIS's well-known binary. The pixels are
 * copies, so that they do not keep the answer they came in.
 *
 * @throws {RangeError} where the bytes are not a raster of a little-endian server, kept in the database
 */
export function decodeTile(wkb: Buffer): DecodedTile {
  if (wkb.readUInt8(0) !== LITTLE_ENDIAN || wkb.readUInt16LE(1) !== WKB_VERSION) {
    throw new RangeError('the raster is not little-endian well-known binary of version 0')
  }
  const width = wkb.readUInt16LE(WIDTH_AT)
  const height = wkb.readUInt16LE(HEIGHT_AT)
  const bands: TileBand[] = []
  let at = HEADER_BYTES
  for (let count = wkb.readUInt16LE(BANDS_AT); count > 0; count--) {
    const flags = wkb.readUInt8(at)
    const PixelArray = ARRAYS[flags & PIXEL_TYPE]
    if (!PixelArray || flags & OUTSIDE_DATABASE) {
      throw new RangeError(`a band of kind ${flags} cannot be read`)
    }
    // The nodata value comes as a pixel of the band's type, right before the pixels.
    const bytes = PixelArray.BYTES_PER_ELEMENT * (1 + width * height)
    const start = wkb.byteOffset + at + 1
    if (at + 1 + bytes > wkb.length) throw new RangeError('the raster is cut off')
    const all = new PixelArray(wkb.buffer.slice(start, start + bytes) as ArrayBuffer)
    const pixels = all.subarray(1)
    const nodata = flags & HAS_NODATA ? all[0] : undefined
    if (nodata !== undefined && flags & ALL_NODATA) pixels.fill(nodata)
    bands.push({ pixels, nodata })
    at += 1 + bytes
  }
  return { width, height, bands }
}

/** Where the bytes of a tile are, as PostgreSQL has sent them. */
export interface StoredTile {
  view: DataView
  start: number
  length: number
}

/** PostGIS takes floats that differ by less than this for the same when it looks for nodata. */
const FLOAT_TOLERANCE = 1.1920928955078125e-7

/**
 * The values of one pixel in every band, null for none, read without decoding the tile: what ST_Value
 * answers. A pixel that is NaN has no value.
 *
 * @throws {RangeError} where the bytes are not a raster of a little-endian server, kept in the database
 */
export function pixelOfTile({ view, start }: StoredTile, column: number, row: number): (number | null)[] {
  if (view.getUint8(start) !== LITTLE_ENDIAN || view.getUint16(start + 1, true) !== WKB_VERSION) {
    throw new RangeError('the raster is not little-endian well-known binary of version 0')
  }
  const width = view.getUint16(start + WIDTH_AT, true)
  const pixels = width * view.getUint16(start + HEIGHT_AT, true)
  const place = 1 + row * width + column
  const bands = view.getUint16(start + BANDS_AT, true)
  const values = new Array<number | null>(bands)
  let at = start + HEADER_BYTES
  for (let band = 0; band < bands; band++) {
    const flags = view.getUint8(at)
    const type = flags & PIXEL_TYPE
    const bytes = PIXEL_BYTES[type]
    if (!bytes || flags & OUTSIDE_DATABASE) throw new RangeError(`a band of kind ${flags} cannot be read`)
    const value = readPixel(view, type, at + 1 + place * bytes)
    const none =
      (flags & HAS_NODATA) !== 0 &&
      ((flags & ALL_NODATA) !== 0 || isNodata(value, readPixel(view, type, at + 1), type))
    values[band] = none || Number.isNaN(value) ? null : value
    at += 1 + bytes * (1 + pixels)
  }
  return values
}

function isNodata(value: number, nodata: number, type: number): boolean {
  return type < FLOAT32 ? value === nodata : Math.abs(value - nodata) <= FLOAT_TOLERANCE
}

function readPixel(view: DataView, type: number, at: number): number {
  switch (type) {
    case FLOAT32:
      return view.getFloat32(at, true)
    case FLOAT64:
      return view.getFloat64(at, true)
    case 3:
      return view.getInt8(at)
    case 5:
      return view.getInt16(at, true)
    case 6:
      return view.getUint16(at, true)
    case 7:
      return view.getInt32(at, true)
    case 8:
      return view.getUint32(at, true)
    default:
      return view.getUint8(at)
  }
}
