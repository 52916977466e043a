import type { GeotiffLayer, LayerWindow } from '#src/extensions/downloads/geotiff-writer.ts'
import type { Grid } from '#src/raster/grid.ts'
import { createPixels, type Pixels, type PixelType } from '#src/raster/pixels.ts'
import { DEGREES, METRES } from '#test/data/tiles/gdal.ts'

type Case = [name: string, grid: Grid, type: PixelType, nodata: number | undefined, levels: number]

export const CASES: Case[] = [
  ['floats in degrees', { ...DEGREES, width: 1101 }, '32BF', -9999, 4],
  ['bytes with a nodata value', METRES, '8BUI', 255, 2],
  ['whole numbers that all have a value', METRES, '16BUI', undefined, 2],
  ['signed numbers around their nodata', METRES, '32BSI', 0, 2],
  ['doubles, rows from south to north', { ...METRES, originY: 900_000, pixelHeight: 30 }, '64BF', -1, 2],
  ['one block', { ...METRES, width: 256, height: 3 }, '16BSI', -1, 1],
]

/** A value of each pixel; a corner and some of the others have none. */
export function pixelsOfGrid({ width, height }: Grid, type: PixelType, nodata: number | undefined): Pixels {
  const pixels = createPixels(type, width * height)
  for (let at = 0; at < pixels.length; at++) {
    const [x, y] = [at % width, Math.floor(at / width)]
    const isGap = (x < 300 && y < 270 && x > 20) || (x * 7 + y) % 5 === 0
    const value = type.endsWith('F') ? (x * 31 + y * 17) / 8 : ((x * 31 + y * 17) % 101) - 50
    pixels[at] = isGap && nodata !== undefined ? nodata : type.endsWith('UI') ? value + 50 : value
  }
  return pixels
}

/** As stores have them: in squares, of which those without a value are not there. */
export async function* windowsOf(
  grid: Grid,
  pixels: Pixels,
  nodata: number | undefined,
): AsyncGenerator<LayerWindow> {
  const side = 16
  for (let row = 0; row < grid.height; row += side) {
    for (let column = 0; column < grid.width; column += side) {
      const width = Math.min(side, grid.width - column)
      const height = Math.min(side, grid.height - row)
      const window = { column, row, width, height }
      const part = pixels.slice(0, width * height)
      for (let y = 0; y < height; y++) {
        const start = (row + y) * grid.width + column
        part.set(pixels.subarray(start, start + width), y * width)
      }
      if (part.some((pixel) => pixel !== nodata)) yield { window, pixels: part }
    }
  }
}

/** The means of an overview, worked out from the level above it, pixel by pixel. */
export function overviewOf(
  pixels: Pixels,
  width: number,
  nodata: number | undefined,
): { pixels: Pixels; width: number } {
  const height = pixels.length / width
  const [across, down] = [Math.ceil(width / 2), Math.ceil(height / 2)]
  const below = pixels.slice(0, across * down)
  for (let y = 0; y < down; y++) {
    for (let x = 0; x < across; x++) {
      const values = [0, 1].flatMap((dy) =>
        [0, 1].flatMap((dx) => {
          const [column, row] = [2 * x + dx, 2 * y + dy]
          const value = column < width && row < height ? pixels[row * width + column] : nodata
          return value === undefined || value === nodata ? [] : [value]
        }),
      )
      const mean = values.reduce((sum, value) => sum + value, 0) / values.length
      const rounded =
        pixels instanceof Float32Array || pixels instanceof Float64Array ? mean : Math.round(mean)
      below[y * across + x] =
        values.length === 0 ? (nodata as number) : rounded === nodata ? (values[0] as number) : rounded
    }
  }
  return { pixels: below, width: across }
}

export function layerOf(grid: Grid, type: PixelType, nodata: number | undefined): GeotiffLayer {
  return {
    ...{ grid, geographic: grid.srid === 4326, type, nodata, scale: 0.5, offset: 1, unit: 'kg/ha' },
    ...{ name: 'Urea, Normal', description: 'Rates of « Urea »', licence: 'CC-BY-4.0' },
    facts: { SOURCE: 'A <test> & "more"' },
  }
}

export function bytesOfPixels({ buffer, byteOffset, byteLength }: Pixels): Buffer {
  return Buffer.from(buffer as ArrayBuffer, byteOffset, byteLength)
}

export const noPause = async () => {}
