import { asPixels, type Pixels, type PixelType } from '#src/raster/pixels.ts'

export interface SampleLayout {
  pixelType: PixelType
  /** 2 for half-precision floats, which become Float32. */
  bytes: number
  float: boolean
  /** Eight samples a byte, the highest bit first, as in masks. */
  packed?: boolean
  /** 64-bit integers become exact Float64. */
  integers64?: 'signed' | 'unsigned'
  littleEndian: boolean
  predictor: number
}

/** The Predictor tag. */
export const PREDICTORS = { none: 1, horizontal: 2, floatingPoint: 3 } as const

/**
 * @param bytes changed in place, aligned to eight bytes
 * @param rowLength samples in a row
 * @param stride interleaved samples of a pixel
 */
export function decodeSamples(
  bytes: Uint8Array,
  layout: SampleLayout,
  rowLength: number,
  stride: number,
): Pixels {
  const { pixelType, predictor, float, packed, littleEndian } = layout
  if (packed) return unpacked(bytes, rowLength)
  if (predictor === PREDICTORS.floatingPoint) {
    // Its bytes are sorted from high to low in any byte order.
    undoFloatingPoint(bytes, layout.bytes, rowLength, stride)
  } else if (!littleEndian) {
    swap(bytes, layout.bytes)
  }
  if (predictor === PREDICTORS.horizontal) undoHorizontal(bytes, layout.bytes, rowLength, stride)
  if (float && layout.bytes === 2) return fromHalf(bytes)
  if (layout.integers64) return fromIntegers64(bytes, layout.integers64)
  return asPixels(pixelType, bytes)
}

/** Each row begins in a new byte. */
export function bytesOfRow({ bytes, packed }: SampleLayout, rowLength: number): number {
  return packed ? Math.ceil(rowLength / 8) : rowLength * bytes
}

function unpacked(bytes: Uint8Array, rowLength: number): Uint8Array {
  const rowBytes = Math.ceil(rowLength / 8)
  const rows = bytes.length / rowBytes
  const samples = new Uint8Array(rows * rowLength)
  for (let row = 0; row < rows; row++) {
    for (let at = 0; at < rowLength; at++) {
      const byte = bytes[row * rowBytes + (at >> 3)] as number
      samples[row * rowLength + at] = (byte >> (7 - (at & 7))) & 1
    }
  }
  return samples
}

function swap(bytes: Uint8Array, size: number): void {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length)
  if (size === 2) buffer.swap16()
  else if (size === 4) buffer.swap32()
  else if (size === 8) buffer.swap64()
}

/** Differences to the left sample (TIFF 6.0, section 14). */
function undoHorizontal(bytes: Uint8Array, size: number, rowLength: number, stride: number): void {
  const { buffer, byteOffset } = bytes
  const count = bytes.length / size
  if (size === 8) {
    const samples = new BigUint64Array(buffer, byteOffset, count)
    for (let start = 0; start < count; start += rowLength) {
      for (let at = start + stride, end = start + rowLength; at < end; at++) {
        samples[at] = (samples[at] as bigint) + (samples[at - stride] as bigint)
      }
    }
    return
  }
  const samples =
    size === 1
      ? bytes
      : size === 2
        ? new Uint16Array(buffer, byteOffset, count)
        : new Uint32Array(buffer, byteOffset, count)
  for (let start = 0; start < count; start += rowLength) {
    for (let at = start + stride, end = start + rowLength; at < end; at++) {
      samples[at] = (samples[at] as number) + (samples[at - stride] as number)
    }
  }
}

/**
 * Adobe TIFF technical note 3: a row has the highest bytes of all samples first, each the difference to the byte a
 * pixel before.
 */
function undoFloatingPoint(bytes: Uint8Array, size: number, rowLength: number, stride: number): void {
  const rowBytes = rowLength * size
  const sorted = new Uint8Array(rowBytes)
  for (let start = 0; start < bytes.length; start += rowBytes) {
    const row = bytes.subarray(start, start + rowBytes)
    for (let at = stride; at < rowBytes; at++) {
      row[at] = (row[at] as number) + (row[at - stride] as number)
    }
    sorted.set(row)
    for (let byte = 0; byte < size; byte++) {
      const plane = (size - 1 - byte) * rowLength
      for (let sample = 0; sample < rowLength; sample++) {
        row[sample * size + byte] = sorted[plane + sample] as number
      }
    }
  }
}

/** Doubles hold all integers up to 2^53, and some beyond, such as the lowest, a usual nodata. */
function fromIntegers64(bytes: Uint8Array, kind: 'signed' | 'unsigned'): Float64Array {
  const { buffer, byteOffset } = bytes
  const IntegerArray = kind === 'signed' ? BigInt64Array : BigUint64Array
  const integers = new IntegerArray(buffer as ArrayBuffer, byteOffset, bytes.length / 8)
  const samples = new Float64Array(integers.length)
  for (let at = 0; at < integers.length; at++) {
    const integer = integers[at] as bigint
    const sample = Number(integer)
    if (!Number.isSafeInteger(sample) && BigInt(sample) !== integer) {
      throw new Error(`it has the pixel ${integer}, and whole numbers beyond 2^53 cannot be stored exactly`)
    }
    samples[at] = sample
  }
  return samples
}

/** IEEE 754 half precision: a sign bit, 5 of exponent, 10 of fraction. */
function fromHalf(bytes: Uint8Array): Float32Array {
  const halves = new Uint16Array(bytes.buffer, bytes.byteOffset, bytes.length / 2)
  return Float32Array.from(halves, (half) => {
    const sign = half & 0x8000 ? -1 : 1
    const exponent = (half >> 10) & 0x1f
    const fraction = half & 0x3ff
    if (exponent === 0x1f) return fraction ? Number.NaN : sign * Number.POSITIVE_INFINITY
    return exponent === 0 ? sign * fraction * 2 ** -24 : sign * (1024 + fraction) * 2 ** (exponent - 25)
  })
}
