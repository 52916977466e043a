import { promisify } from 'node:util'
import { crc32, deflate } from 'node:zlib'
import type { LevelExtent } from './grid.ts'

/** Zoom z has 2^z by 2^z tiles in spherical Mercator (EPSG:3857), counted from the north-west. */
export interface MapTile {
  zoom: number
  column: number
  row: number
}

export const MAP_TILE_SIZE = 256

/** The limit of web maps. */
export const HIGHEST_ZOOM = 22

/** Degrees: atan(sinh(pi)), the end of the square world. */
const HIGHEST_LATITUDE = 85.0511287798066

const DEGREES = 180 / Math.PI

/** At centres of pixels. */
export function listLongitudes({ zoom, column }: MapTile, size = MAP_TILE_SIZE): Float64Array {
  const world = size * 2 ** zoom
  return Float64Array.from({ length: size }, (_, at) => ((column * size + at + 0.5) / world) * 360 - 180)
}

/** At centres of pixels, from the north (Snyder, 1987, equation 7-4). */
export function listLatitudes({ zoom, row }: MapTile, size = MAP_TILE_SIZE): Float64Array {
  const world = size * 2 ** zoom
  return Float64Array.from({ length: size }, (_, at) => {
    const part = (row * size + at + 0.5) / world
    return Math.atan(Math.sinh(Math.PI * (1 - 2 * part))) * DEGREES
  })
}

export function degreesOfPixel(zoom: number): number {
  return 360 / (MAP_TILE_SIZE * 2 ** zoom)
}

/** The part on web maps. */
export function clipToMercator({ west, south, east, north }: LevelExtent): LevelExtent {
  return {
    west: Math.max(west, -180),
    south: Math.max(south, -HIGHEST_LATITUDE),
    east: Math.min(east, 180),
    north: Math.min(north, HIGHEST_LATITUDE),
  }
}

const compress = promisify(deflate)

/** 0 to 255 each. */
export type Rgba = readonly [red: number, green: number, blue: number, opacity: number]

/** At most 256 colours. */
interface PalettePicture {
  width: number
  height: number
  palette: readonly Rgba[]
  indices: Uint8Array
}

/** PNG specification, third edition, section 5.2. */
const SIGNATURE = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a])

const BIT_DEPTH = 8
const INDEXED = 3
const HEADER_BYTES = 13
const LENGTH_BYTES = 4
const TYPE_BYTES = 4
const CHECKSUM_BYTES = 4

/** Filters help gradients; indices are none. */
const NO_FILTER = 0

/** Three to four times smaller than with colours in pixels. */
export async function encodePalettePng({ width, height, palette, indices }: PalettePicture): Promise<Buffer> {
  const header = Buffer.alloc(HEADER_BYTES)
  header.writeUInt32BE(width, 0)
  header.writeUInt32BE(height, 4)
  // Zeros stand for the only compression and filter method, and no interlacing.
  header.writeUInt8(BIT_DEPTH, 8)
  header.writeUInt8(INDEXED, 9)
  const lines = Buffer.alloc(height * (width + 1), NO_FILTER)
  for (let row = 0; row < height; row++) {
    lines.set(indices.subarray(row * width, (row + 1) * width), row * (width + 1) + 1)
  }
  return Buffer.concat([
    SIGNATURE,
    chunk('IHDR', header),
    chunk('PLTE', Buffer.from(palette.flatMap((colour) => colour.slice(0, 3)))),
    chunk('tRNS', Buffer.from(palette.map(([, , , opacity]) => opacity))),
    chunk('IDAT', await compress(lines)),
    chunk('IEND', Buffer.alloc(0)),
  ])
}

/** Length, type, data, and CRC-32 of type and data. */
function chunk(type: string, data: Buffer): Buffer {
  const bytes = Buffer.alloc(LENGTH_BYTES + TYPE_BYTES + data.length + CHECKSUM_BYTES)
  bytes.writeUInt32BE(data.length, 0)
  bytes.write(type, LENGTH_BYTES, 'latin1')
  bytes.set(data, LENGTH_BYTES + TYPE_BYTES)
  const checked = bytes.subarray(LENGTH_BYTES, bytes.length - CHECKSUM_BYTES)
  bytes.writeUInt32BE(crc32(checked), bytes.length - CHECKSUM_BYTES)
  return bytes
}
