import { createHash } from 'node:crypto'
import type { ProductDefinition } from '#src/products/define.ts'
import { PRODUCTS } from '#src/products/index.ts'
import type { Grid, Window } from '#src/raster/grid.ts'
import { type Pixels, storedNodata } from '#src/raster/pixels.ts'
import { TILE_SIZE } from '#src/raster/tiles.ts'
import type { CoverageSource, LayerSource, ReleaseSource } from '../source.ts'
import { DEMO_COUNTRIES, type DemoCountry } from './countries.ts'
import { DEMO_PERIOD, DEMO_QUANTITIES, type DemoQuantity, demoValue, SCENARIOS } from './formula.ts'
import { boundsOf, countryOutline, crossings } from './outlines.ts'

interface DemoRelease {
  product: ProductDefinition
  countryCode: string
  cropCode: string | null
}

/** The places of the demo; whether they are seeded depends on the countries and crops of the database. */
const DEMO_PLACES = [
  ...Object.entries(DEMO_COUNTRIES).flatMap(([countryCode, { crop }]) =>
    crop === null ? [] : [{ countryCode, cropCode: crop }],
  ),
  ...Object.keys(DEMO_COUNTRIES).map((countryCode) => ({ countryCode, cropCode: null })),
]

/** What there is a formula for. */
export const DEMO_RELEASES: DemoRelease[] = DEMO_PLACES.flatMap((place) =>
  PRODUCTS.list
    .filter(({ seasonal }) => seasonal === (place.cropCode !== null))
    .map((product) => ({ product, ...place })),
).filter((release) => quantitiesOf(release).length > 0)

const SOURCE = 'Synthetic demonstration values made by a formula. They are not advice.'

/** A layer of the demo: what it stores and how its values are made. */
interface DemoLayer extends LayerSource {
  quantity: DemoQuantity
  season: number | null
}

function quantitiesOf({ product, countryCode, cropCode }: DemoRelease): DemoQuantity[] {
  return DEMO_QUANTITIES[cropCode ? `${product.code} ${countryCode} ${cropCode}` : product.code] ?? []
}

/** The rasters of a demo release, computed while they are read. */
export function demoSource(release: DemoRelease): ReleaseSource {
  const { product, countryCode, cropCode } = release
  const { seasonal, unit, decimals } = product
  const seasons = seasonal ? Object.entries(SCENARIOS) : [[null, 0] as const]
  const layers = quantitiesOf(release).flatMap((quantity) =>
    seasons.map(
      ([scenario, season]): DemoLayer => ({
        input: quantity.input,
        scenario,
        unit,
        scale: 1,
        offset: 0,
        decimals,
        pixelType: '32BF',
        nodata: storedNodata('32BF', undefined),
        origin: 'the demo formula',
        quantity,
        season,
      }),
    ),
  )
  return {
    description: {
      product: product.code,
      countryCode,
      cropCode,
      forecastPeriod: seasonal ? DEMO_PERIOD : null,
      synthetic: true,
      source: SOURCE,
      licence: 'CC0-1.0',
      checksum: createHash('sha256')
        .update(JSON.stringify([countryCode, layers]))
        .digest('hex'),
    },
    coverages: [coverageOf(countryCode, layers)],
  }
}

function coverageOf(countryCode: string, layers: DemoLayer[]): CoverageSource {
  const { pixelDegrees } = DEMO_COUNTRIES[countryCode] as DemoCountry
  const outline = countryOutline(countryCode)
  const grid = gridOver(boundsOf(outline), pixelDegrees)
  return {
    grid,
    layers,
    windows: Array.from({ length: Math.ceil(grid.height / TILE_SIZE) }, (_, index) => ({
      column: 0,
      row: index * TILE_SIZE,
      width: grid.width,
      height: Math.min(TILE_SIZE, grid.height - index * TILE_SIZE),
    })),
    async read(window) {
      const inside = insideOf(window)
      return layers.map((layer) => valuesOf(layer, window, inside))
    },
  }

  /** The pixels of a window whose centres lie in the country: index, longitude and latitude. */
  function insideOf(window: Window): [number, number, number][] {
    const pixels: [number, number, number][] = []
    for (let row = 0; row < window.height; row++) {
      const latitude = grid.originY + (window.row + row + 0.5) * grid.pixelHeight
      const ends = crossings(outline, latitude)
      let passed = 0
      for (let column = 0; column < window.width; column++) {
        const longitude = grid.originX + (window.column + column + 0.5) * grid.pixelWidth
        while (passed < ends.length && (ends[passed] as number) < longitude) passed++
        if (passed % 2 === 1) pixels.push([row * window.width + column, longitude, latitude])
      }
    }
    return pixels
  }
}

function valuesOf(layer: DemoLayer, window: Window, inside: [number, number, number][]): Pixels {
  const pixels = new Float32Array(window.width * window.height).fill(layer.nodata as number)
  for (const [index, longitude, latitude] of inside) {
    pixels[index] = demoValue(layer.quantity, layer.season, longitude, latitude)
  }
  return pixels
}

/** The smallest grid of whole pixels, aligned to multiples of their size, that covers the bounds. */
function gridOver(bounds: ReturnType<typeof boundsOf>, pixel: number): Grid {
  const perDegree = Math.round(1 / pixel)
  const west = Math.floor(bounds.west * perDegree)
  const north = Math.ceil(bounds.north * perDegree)
  return {
    srid: 4326,
    originX: west / perDegree,
    originY: north / perDegree,
    pixelWidth: pixel,
    pixelHeight: -pixel,
    width: Math.ceil(bounds.east * perDegree) - west,
    height: north - Math.floor(bounds.south * perDegree),
  }
}
