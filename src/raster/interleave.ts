import type { Pixels } from './pixels.ts'
import { type BandPlace, readTileHeader } from './raster-wkb.ts'

/**
 * A tile to read single pixels from: the bands of a pixel lie side by side, so that they come into the
 * processor's cache together. Before scale and offset; NaN where there is no value.
 */
export interface InterleavedTile {
  width: number
  bands: number
  /** Where its first pixel is in `pixels`. */
  start: number
  /** Has room for more than the tile. */
  pixels: Float32Array | Float64Array
  /** How many numbers the tile has: pixels times bands. */
  length: number
}

/** PostGIS takes floats that differ by less than this for the same when it looks for nodata. */
const FLOAT_TOLERANCE = 1.1920928955078125e-7

/**
 * Puts the bands of a tile (`rast::bytea`) side by side, as numbers that hold all their pixels exactly.
 * What comes back holds until the next tile is read: it is to be copied.
 *
 * @throws {RangeError} as {@link readTileHeader}
 */
export type Interleave = (wkb: Buffer) => InterleavedTile

/** Makes one with buffers of its own: arrays made for each tile would cost more than the work. */
export function createInterleaver(): Interleave {
  let stored = Buffer.from(new ArrayBuffer(0))
  let made = new ArrayBuffer(0)

  return (wkb) => {
    const { width, height, bands } = readTileHeader(wkb)
    const count = width * height
    const length = count * bands.length
    const NumberArray = bands.every(fitsFloat32) ? Float32Array : Float64Array
    if (made.byteLength < length * 8) made = new ArrayBuffer(length * 8)
    const pixels = new NumberArray(made)
    for (let band = 0; band < bands.length; band++) {
      const { PixelArray, start, end, hasNodata, isNodata } = bands[band] as BandPlace
      if (stored.length < end - start) stored = Buffer.from(new ArrayBuffer(end - start))
      wkb.copy(stored, 0, start, end)
      const all = new PixelArray(stored.buffer, 0, 1 + count)
      // NaN is no number's neighbour.
      const nodata = hasNodata ? (all[0] as number) : Number.NaN
      put(all, nodata, isNodata, pixels, band, bands.length)
    }
    return { width, bands: bands.length, start: 0, pixels, length }
  }
}

/** Puts the pixels of a band, which follow its nodata value, into their places. */
function put(
  all: Pixels,
  nodata: number,
  isNodata: boolean,
  pixels: Float32Array | Float64Array,
  first: number,
  step: number,
): void {
  const isFloat = all instanceof Float32Array || all instanceof Float64Array
  const tolerance = isFloat ? FLOAT_TOLERANCE : 0
  for (let from = 1, to = first; from < all.length; from++, to += step) {
    const pixel = all[from] as number
    pixels[to] = isNodata || Math.abs(pixel - nodata) <= tolerance ? Number.NaN : pixel
  }
}

function fitsFloat32({ PixelArray }: BandPlace): boolean {
  return PixelArray.BYTES_PER_ELEMENT <= 2 || PixelArray === Float32Array
}
