import fc from 'fast-check'
import type { Series } from '#schemas/products/define.ts'
import type { PublishedRelease } from '#src/lookup/releases.ts'
import type { Grid } from '#src/raster/grid.ts'
import { PIXEL_KINDS, type PixelKind } from '#test/raster/raster-wkb.ts'

export const SERIES: Series = {
  product: 'fertilizer',
  countryCode: 'eth',
  cropCode: 'wheat',
  forecastPeriod: null,
}

interface LayerCase {
  kind: PixelKind
  nodata: number | undefined
  /** What pixels are taken from, in turn. */
  palette: number[]
  scale: number
  offset: number
  decimals: number
}

export interface CoverageCase {
  grid: Grid
  layers: LayerCase[]
  /** Tiles that are left out, by their number modulo 7. */
  absent: number[]
}

const pixel = (kind: PixelKind): fc.Arbitrary<number> => {
  const { minimum, maximum } = PIXEL_KINDS[kind]
  if (minimum !== undefined) {
    return fc.oneof(
      fc.integer({ min: Math.max(minimum, -3), max: Math.min(maximum, 3) }),
      fc.integer({ min: minimum, max: maximum }),
    )
  }
  const double = fc
    .double({ min: -1e30, max: 1e30, noNaN: true })
    .filter((value) => value === 0 || Math.abs(value) > 1e-30)
  const numbers = fc.oneof(fc.integer({ min: -3, max: 3 }), fc.constantFrom(0.1, 1e-9, 123.456, NaN), double)
  return kind === '32BF' ? numbers.map(Math.fround) : numbers
}

const LOWEST = { '32BF': -3.4028234663852886e38, '64BF': -Number.MAX_VALUE }

const layer: fc.Arbitrary<LayerCase> = fc
  .constantFrom(...(Object.keys(PIXEL_KINDS) as PixelKind[]))
  .chain((kind) =>
    fc.record({
      kind: fc.constant(kind),
      nodata: fc.option(
        kind === '32BF' || kind === '64BF'
          ? fc.oneof(fc.constantFrom(LOWEST[kind], NaN, 0, -9999), pixel(kind))
          : pixel(kind),
        { nil: undefined },
      ),
      palette: fc.array(pixel(kind), { minLength: 1, maxLength: 4 }),
      scale: fc.constantFrom(1, 0.1, 0.01, -2.5, 1000),
      offset: fc.constantFrom(0, -273.15, 0.3, 1e6),
      decimals: fc.integer({ min: 0, max: 10 }),
    }),
  )

const size = fc.integer({ min: 1, max: 11 })
export const coverage: fc.Arbitrary<CoverageCase> = fc.record({
  grid: fc.oneof(
    fc.record({
      srid: fc.constant(4326),
      originX: fc.constantFrom(38, 37.99865, 36.1),
      originY: fc.constantFrom(9, 9.00135, 8.7),
      pixelWidth: fc.constantFrom(0.0027, 1 / 3, 0.05),
      pixelHeight: fc.constantFrom(-0.0027, -1 / 3, 0.05),
      width: size,
      height: size,
    }),
    fc.record({
      srid: fc.constantFrom(32637, 20137),
      originX: fc.constantFrom(400_000, 390_000.3),
      originY: fc.constantFrom(1_000_000, 994_321.7),
      pixelWidth: fc.constantFrom(250, 1000.1),
      pixelHeight: fc.constantFrom(-250, -1000.1),
      width: size,
      height: size,
    }),
  ),
  layers: fc.array(layer, { minLength: 1, maxLength: 4 }),
  absent: fc.array(fc.integer({ min: 0, max: 6 }), { maxLength: 3 }),
})

/** Places in parts of a pixel, from before the grid to behind it: on edges as often as between them. */
export const place = fc.record({
  column: fc.oneof(fc.integer({ min: -1, max: 12 }), fc.double({ min: -1, max: 12, noNaN: true })),
  row: fc.oneof(fc.integer({ min: -1, max: 12 }), fc.double({ min: -1, max: 12, noNaN: true })),
})

/** The stored pixels of all layers; null for none, as ST_Value has it. */
export function pixelsOf(release: PublishedRelease, found: (number[] | undefined)[]): (number | null)[] {
  return release.layers.map(({ coverage, band }) => nullForNaN(found[coverage]?.[band - 1] ?? Number.NaN))
}

export function nullForNaN(value: number): number | null {
  return Number.isNaN(value) ? null : value
}
