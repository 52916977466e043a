import fc from 'fast-check'
import type { Window } from '#src/raster/grid.ts'
import { createPixels, PIXEL_TYPES, type Pixels, type PixelType, storedNodata } from '#src/raster/pixels.ts'
import { TILE_SIZE } from '#src/raster/tiles.ts'

const LIMITS: Record<Exclude<PixelType, '32BF' | '64BF'>, [number, number]> = {
  '8BSI': [-128, 127],
  '8BUI': [0, 255],
  '16BSI': [-32768, 32767],
  '16BUI': [0, 65535],
  '32BSI': [-(2 ** 31), 2 ** 31 - 1],
  '32BUI': [0, 2 ** 32 - 1],
}

/** A number that a pixel of a type can have; small ones and the extremes come often. */
function pixelOf(type: PixelType): fc.Arbitrary<number> {
  if (type === '32BF') return fc.oneof(fc.integer({ min: -3, max: 3 }), fc.float())
  if (type === '64BF') return fc.oneof(fc.integer({ min: -3, max: 3 }), fc.double())
  const [min, max] = LIMITS[type]
  return fc.oneof(fc.integer({ min: Math.max(min, -3), max: 3 }), fc.integer({ min, max }))
}

export interface Band {
  type: PixelType
  /** As a file declares it: not every type can hold every one. */
  nodata: number | undefined
  pixels: Pixels
}

const band = (width: number, height: number): fc.Arbitrary<Band> =>
  fc.constantFrom(...(Object.keys(PIXEL_TYPES) as PixelType[])).chain((type) =>
    fc
      .record({
        nodata: fc.option(fc.oneof(pixelOf(type), fc.constantFrom(-9999, 0, 255, 1e300)), { nil: undefined }),
        // A palette keeps the cases small and makes whole tiles of nodata likely.
        palette: fc.array(pixelOf(type), { minLength: 1, maxLength: 4 }),
        empty: fc.boolean(),
        seed: fc.nat(),
      })
      .map(({ nodata, palette, empty, seed }) => {
        const pixels = createPixels(type, width * height)
        for (let index = 0; index < pixels.length; index++) {
          const choice = (index * 2654435761 + seed) % (palette.length + 1)
          const row = Math.floor(index / width)
          pixels[index] =
            choice === palette.length || (empty && row < TILE_SIZE)
              ? (nodata ?? 0)
              : (palette[choice] as number)
        }
        return { type, nodata: Number.isNaN(nodata) ? undefined : nodata, pixels }
      }),
  )

const size = fc.integer({ min: 1, max: 70 })
export const release = fc.tuple(size, size).chain(([width, height]) =>
  fc.record({
    width: fc.constant(width),
    height: fc.constant(height),
    bands: fc.array(band(width, height), { minLength: 1, maxLength: 3 }),
    windowWidth: fc.integer({ min: 1, max: 5 }).map((tiles) => tiles * TILE_SIZE),
    windowHeight: fc.integer({ min: 1, max: 5 }).map((tiles) => tiles * TILE_SIZE),
  }),
)

/** What a pixel means, by the rules of the manifest: nothing, or its value. */
export function meaningOf({ type, nodata, pixels }: Band, index: number): number | null {
  const value = pixels[index] as number
  // The lowest number of a float type stands for none in the database: nothing is ever that low.
  if (!Number.isFinite(value) || (type.endsWith('F') && value === storedNodata(type, nodata))) return null
  const declared = type === '32BF' && nodata !== undefined ? Math.fround(nodata) : nodata
  return value === declared ? null : value
}

export function part(pixels: Pixels, width: number, window: Window): Pixels {
  const result = pixels.slice(0, window.width * window.height)
  for (let row = 0; row < window.height; row++) {
    const start = (window.row + row) * width + window.column
    result.set(pixels.subarray(start, start + window.width), row * window.width)
  }
  return result
}
