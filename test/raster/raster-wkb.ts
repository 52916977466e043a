import type { Grid } from '#src/raster/grid.ts'

/** PostGIS's pixel types: their codes, the range of integers, and how a pixel is written. */
export const PIXEL_KINDS = {
  '1BB': { code: 0, bytes: 1, minimum: 0, maximum: 1, write: 'setUint8' },
  '2BUI': { code: 1, bytes: 1, minimum: 0, maximum: 3, write: 'setUint8' },
  '4BUI': { code: 2, bytes: 1, minimum: 0, maximum: 15, write: 'setUint8' },
  '8BSI': { code: 3, bytes: 1, minimum: -128, maximum: 127, write: 'setInt8' },
  '8BUI': { code: 4, bytes: 1, minimum: 0, maximum: 255, write: 'setUint8' },
  '16BSI': { code: 5, bytes: 2, minimum: -32_768, maximum: 32_767, write: 'setInt16' },
  '16BUI': { code: 6, bytes: 2, minimum: 0, maximum: 65_535, write: 'setUint16' },
  '32BSI': { code: 7, bytes: 4, minimum: -(2 ** 31), maximum: 2 ** 31 - 1, write: 'setInt32' },
  '32BUI': { code: 8, bytes: 4, minimum: 0, maximum: 2 ** 32 - 1, write: 'setUint32' },
  '32BF': { code: 10, bytes: 4, minimum: undefined, maximum: undefined, write: 'setFloat32' },
  '64BF': { code: 11, bytes: 8, minimum: undefined, maximum: undefined, write: 'setFloat64' },
} as const

export type PixelKind = keyof typeof PIXEL_KINDS

export interface Band {
  kind: PixelKind
  nodata: number | undefined
  /** Row by row. */
  pixels: number[]
}

const HAS_NODATA = 0x40
const ALL_NODATA = 0x20

/** A tile of a grid as PostGIS's well-known binary, of any pixel type and with any nodata value. */
export function rasterWkb(
  grid: Grid,
  column: number,
  row: number,
  width: number,
  height: number,
  bands: Band[],
): Buffer {
  const size = bands.reduce(
    (sum, { kind, pixels }) => sum + 1 + PIXEL_KINDS[kind].bytes * (1 + pixels.length),
    61,
  )
  const view = new DataView(new ArrayBuffer(size))
  view.setUint8(0, 1)
  view.setUint16(3, bands.length, true)
  view.setFloat64(5, grid.pixelWidth, true)
  view.setFloat64(13, grid.pixelHeight, true)
  view.setFloat64(21, grid.originX + column * grid.pixelWidth, true)
  view.setFloat64(29, grid.originY + row * grid.pixelHeight, true)
  view.setInt32(53, grid.srid, true)
  view.setUint16(57, width, true)
  view.setUint16(59, height, true)
  let at = 61
  for (const { kind, nodata, pixels } of bands) {
    const { code, bytes, write } = PIXEL_KINDS[kind]
    const allNodata = pixels.every((pixel) => pixel === nodata)
    view.setUint8(at, code | (nodata === undefined ? 0 : HAS_NODATA) | (allNodata ? ALL_NODATA : 0))
    at++
    for (const value of [nodata ?? 0, ...pixels]) {
      view[write](at, value, true)
      at += bytes
    }
  }
  return Buffer.from(view.buffer)
}
