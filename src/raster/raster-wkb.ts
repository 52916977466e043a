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

/** Where a band is in the bytes of a tile. */
export interface BandPlace {
  PixelArray: Exclude<(typeof ARRAYS)[number], undefined>
  /** Of the nodata value, which comes as a pixel of the band's type right before the pixels. */
  start: number
  /** After the pixels. */
  end: number
  hasNodata: boolean
  /** Every pixel stands for no value. */
  isNodata: boolean
}

/**
 * Reads what a tile consists of, without its pixels.
 *
 * @throws {RangeError} where the bytes are not a raster of a little-endian server, kept in the database
 */
export function readTileHeader(wkb: Buffer): { width: number; height: number; bands: BandPlace[] } {
  if (wkb.readUInt8(0) !== LITTLE_ENDIAN || wkb.readUInt16LE(1) !== WKB_VERSION) {
    throw new RangeError('the raster is not little-endian well-known binary of version 0')
  }
  const width = wkb.readUInt16LE(WIDTH_AT)
  const height = wkb.readUInt16LE(HEIGHT_AT)
  const bands: BandPlace[] = []
  let at = HEADER_BYTES
  for (let count = wkb.readUInt16LE(BANDS_AT); count > 0; count--) {
    const flags = wkb.readUInt8(at)
    const PixelArray = ARRAYS[flags & PIXEL_TYPE]
    if (!PixelArray || flags & OUTSIDE_DATABASE) {
      throw new RangeError(`a band of kind ${flags} cannot be read`)
    }
    const start = at + 1
    const end = start + PixelArray.BYTES_PER_ELEMENT * (1 + width * height)
    if (end > wkb.length) throw new RangeError('the raster is cut off')
    const hasNodata = (flags & HAS_NODATA) !== 0
    bands.push({ PixelArray, start, end, hasNodata, isNodata: hasNodata && (flags & ALL_NODATA) !== 0 })
    at = end
  }
  return { width, height, bands }
}

/**
 * Decodes a raster as PostgreSQL sends it: `rast::bytea`, PostGIS's well-known binary. The pixels are
 * copies, so that they do not keep the answer they came in.
 *
 * @throws {RangeError} as {@link readTileHeader}
 */
export function decodeTile(wkb: Buffer): DecodedTile {
  const { width, height, bands } = readTileHeader(wkb)
  return {
    width,
    height,
    bands: bands.map(({ PixelArray, start, end, hasNodata, isNodata }) => {
      const bytes = wkb.buffer.slice(wkb.byteOffset + start, wkb.byteOffset + end)
      const all = new PixelArray(bytes as ArrayBuffer)
      const pixels = all.subarray(1)
      const nodata = hasNodata ? all[0] : undefined
      if (nodata !== undefined && isNodata) pixels.fill(nodata)
      return { pixels, nodata }
    }),
  }
}
