import type { Geotransform, Window } from '#src/raster/grid.ts'
import { bytesOf, type Pixels, type PixelType, type StoredBand } from '#src/raster/pixels.ts'

/** Types of TIFF's fields. */
const TYPES = {
  ascii: { code: 2, bytes: 1, write: 'writeUInt8' },
  short: { code: 3, bytes: 2, write: 'writeUInt16LE' },
  long: { code: 4, bytes: 4, write: 'writeUInt32LE' },
  double: { code: 12, bytes: 8, write: 'writeDoubleLE' },
} as const

export interface Field {
  tag: number
  type: keyof typeof TYPES
  values: readonly number[]
}

const FILE_HEADER_BYTES = 8
const COUNT_BYTES = 2
const ENTRY_BYTES = 12
const INLINE_BYTES = 4

export function ascii(text: string, encoding: 'latin1' | 'utf8' = 'latin1'): number[] {
  return [...Buffer.from(`${text}\0`, encoding)]
}

/** The bytes of `encodeHeader`, whatever the values are. */
export function countHeaderBytes(...directories: readonly (readonly Field[])[]): number {
  return directories.reduce((sum, fields) => sum + directoryBytesOf(fields), FILE_HEADER_BYTES)
}

function directoryBytesOf(fields: readonly Field[]): number {
  const entries = COUNT_BYTES + fields.length * ENTRY_BYTES + INLINE_BYTES
  return fields.reduce((sum, field) => sum + outsideBytes(field), entries)
}

/** Bytes of values outside of their entry; they begin at even offsets. */
function outsideBytes({ type, values }: Field): number {
  const bytes = values.length * TYPES[type].bytes
  return bytes <= INLINE_BYTES ? 0 : bytes + (bytes % 2)
}

/**
 * Encodes the begin of a little-endian TIFF: the magic number, and the directories with their values.
 *
 * @param directories with fields in the order of their tags
 */
export function encodeHeader(...directories: readonly (readonly Field[])[]): Buffer {
  const header = Buffer.alloc(countHeaderBytes(...directories))
  header.write('II', 0, 'latin1')
  header.writeUInt16LE(42, 2)
  header.writeUInt32LE(FILE_HEADER_BYTES, 4)
  let start = FILE_HEADER_BYTES
  for (const [index, fields] of directories.entries()) {
    const end = start + directoryBytesOf(fields)
    const next = index === directories.length - 1 ? 0 : end
    writeDirectory(header, start, fields, next)
    start = end
  }
  return header
}

/** @param next offset of the next directory; 0 after the last */
function writeDirectory(header: Buffer, start: number, fields: readonly Field[], next: number): void {
  header.writeUInt16LE(fields.length, start)
  let entry = start + COUNT_BYTES
  let outside = entry + fields.length * ENTRY_BYTES + INLINE_BYTES
  for (const field of fields) {
    const { code, bytes, write } = TYPES[field.type]
    header.writeUInt16LE(field.tag, entry)
    header.writeUInt16LE(code, entry + 2)
    header.writeUInt32LE(field.values.length, entry + 4)
    let at = entry + 8
    if (outsideBytes(field) > 0) {
      header.writeUInt32LE(outside, at)
      at = outside
      outside += outsideBytes(field)
    }
    for (const [index, value] of field.values.entries()) header[write](value, at + index * bytes)
    entry += ENTRY_BYTES
  }
  header.writeUInt32LE(next, entry)
}

/** The values of a field of `encodeHeader`. */
export function fieldBytes(header: Buffer, tag: number): Buffer {
  const count = header.readUInt16LE(FILE_HEADER_BYTES)
  for (let index = 0; index < count; index++) {
    const entry = FILE_HEADER_BYTES + COUNT_BYTES + index * ENTRY_BYTES
    if (header.readUInt16LE(entry) !== tag) continue
    const code = header.readUInt16LE(entry + 2)
    const type = Object.values(TYPES).find((candidate) => candidate.code === code)
    const bytes = header.readUInt32LE(entry + 4) * (type?.bytes ?? 0)
    const at = bytes <= INLINE_BYTES ? entry + 8 : header.readUInt32LE(entry + 8)
    return header.subarray(at, at + bytes)
  }
  throw new RangeError(`there is no field ${tag}`)
}

export function readLongs(header: Buffer, tag: number): number[] {
  const bytes = fieldBytes(header, tag)
  return Array.from({ length: bytes.length / TYPES.long.bytes }, (_, index) => bytes.readUInt32LE(index * 4))
}

/** The type of all bands, or one that holds the pixels of each. */
export function chooseSampleType(bands: StoredBand[]): PixelType {
  const types = new Set(bands.map(({ pixelType }) => pixelType))
  const [first] = types
  // GDAL took signed bytes for unsigned ones until 3.7.
  if (types.size === 1 && first !== '8BSI') return first as PixelType
  if (types.size === 1) return '16BSI'
  return [...types].every((type) => type === '32BF' || bytesOf(type) <= 2) ? '32BF' : '64BF'
}

/** Unsigned, signed, or floats. */
export function encodeSampleFormat(type: PixelType): number {
  if (type.endsWith('F')) return 3
  return type.endsWith('SI') ? 2 : 1
}

/** A matrix from pixels of a window to the CRS, which also has rows from south to north. */
export function encodeTransformation(
  { originX, originY, pixelWidth, pixelHeight }: Geotransform,
  { column, row }: Pick<Window, 'column' | 'row'>,
): number[] {
  const [x, y] = [originX + column * pixelWidth, originY + row * pixelHeight]
  return [pixelWidth, 0, 0, x, 0, pixelHeight, 0, y, 0, 0, 0, 0, 0, 0, 0, 1]
}

/** Copies the pixels that two windows of a grid have in common. */
export function copyWindow(from: Pixels, window: Window, to: Pixels, target: Window): void {
  const left = Math.max(window.column, target.column)
  const right = Math.min(window.column + window.width, target.column + target.width)
  const bottom = Math.min(window.row + window.height, target.row + target.height)
  for (let row = Math.max(window.row, target.row); row < bottom; row++) {
    const start = (row - window.row) * window.width - window.column
    to.set(
      from.subarray(start + left, start + right),
      (row - target.row) * target.width + left - target.column,
    )
  }
}

/** Greater ids are not of EPSG. */
const LARGEST_EPSG = 32_766

const GEO_KEYS = { modelType: 1024, rasterType: 1025, geographicCrs: 2048, projectedCrs: 3072 }
const PIXEL_IS_AREA = 1

/** Names a CRS by its code of EPSG, if any. */
export function encodeGeoKeys(srid: number, geographic: boolean): number[] {
  const keys = [
    [GEO_KEYS.modelType, geographic ? 2 : 1],
    [GEO_KEYS.rasterType, PIXEL_IS_AREA],
    ...(srid <= LARGEST_EPSG ? [[geographic ? GEO_KEYS.geographicCrs : GEO_KEYS.projectedCrs, srid]] : []),
  ] as [number, number][]
  return [1, 1, 0, keys.length, ...keys.flatMap(([key, value]) => [key, 0, 1, value])]
}
