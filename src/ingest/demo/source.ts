import { createHash } from 'node:crypto'
import type { ProductDefinition } from '#schemas/products/define.ts'
import { PRODUCTS } from '#schemas/products/index.ts'
import type { Grid, Window } from '#src/raster/grid.ts'
import { type Pixels, storedNodata } from '#src/raster/pixels.ts'
import type { Bounds } from '#src/raster/rings.ts'
import { TILE_SIZE } from '#src/raster/tiles.ts'
import type { CoverageSource, LayerSource, ReleaseSource } from '../source.ts'
import { countryOutline, crossings, DEMO_COUNTRIES, type DemoCountry, measureOutline } from './outlines.ts'

/**
 * Invented values, smooth and reproducible: a suitability from 0 to 1, the sum of waves over longitude and latitude,
 * moves each quantity within a plausible range. No agronomist has checked them; they are not advice.
 */

export interface DemoQuantity {
  input: string | null
  /** At suitability 0 and 1, in the product's unit. */
  range: [number, number]
  /** To a better season: 1 rises, -1 falls, 0 stays. */
  response: number
  /** Shifts the waves, so that patterns differ. */
  phase: number
  /** Rounding step, in the product's unit. */
  step: number
}

/** The gain over a normal season; null for the likeliest one at a place. */
export const DEMO_SCENARIOS: Record<string, number | null> = {
  'Above Normal': 0.15,
  Normal: 0,
  'Below Normal': -0.2,
  Dominant: null,
}

const DEMO_PERIOD = '2026-07-01'

type Quantities = DemoQuantity[]

/** Yields: national averages are near 3 t/ha (wheat, Ethiopia) and 8 t/ha (potato, Rwanda; FAOSTAT). */
export const DEMO_QUANTITIES: Record<string, Quantities> = {
  'yield eth wheat': [{ input: null, range: [1200, 5400], response: 1, phase: 0, step: 1 }],
  'yield rwa potato': [{ input: null, range: [6000, 24000], response: 1, phase: 0.7, step: 1 }],
  'fertilizer eth wheat': [
    { input: 'DAP', range: [60, 160], response: 0.5, phase: 1.3, step: 1 },
    { input: 'Urea', range: [50, 200], response: 0.8, phase: 2.1, step: 1 },
  ],
  'fertilizer rwa potato': [
    { input: 'DAP', range: [100, 250], response: 0.5, phase: 1.9, step: 1 },
    { input: 'Urea', range: [60, 180], response: 0.8, phase: 2.6, step: 1 },
  ],
  'isfm eth wheat': [
    { input: 'Compost', range: [3, 10], response: -0.3, phase: 3.2, step: 0.1 },
    { input: 'Vermicompost', range: [1.5, 5], response: -0.3, phase: 3.9, step: 0.1 },
  ],
  'isfm rwa potato': [
    { input: 'Compost', range: [5, 15], response: -0.3, phase: 4.4, step: 0.1 },
    { input: 'Vermicompost', range: [2, 7], response: -0.3, phase: 4.8, step: 0.1 },
  ],
  forage: [
    'Brachiaria brizantha',
    'Cenchrus purpureus',
    'Chloris gayana',
    'Desmodium intortum',
    'Lablab purpureus',
    'Medicago sativa',
    'Megathyrsus maximus',
  ].map((species, index) => ({
    input: species,
    range: [0, 1],
    response: 0,
    phase: index * 0.9,
    step: 0.001,
  })),
}

/**
 * s = 0.5 + 0.22 sin(1.1 x + p) cos(0.9 y - p) + 0.16 sin(2.3 x - 1.7 y + 2 p) + 0.10 cos(5.1 x + 4.3 y - p), with
 * longitude x, latitude y and phase p. The amplitudes sum to 0.48, so s stays within 0.02 and 0.98.
 */
function suitability(longitude: number, latitude: number, phase: number): number {
  return (
    0.5 +
    0.22 * Math.sin(1.1 * longitude + phase) * Math.cos(0.9 * latitude - phase) +
    0.16 * Math.sin(2.3 * longitude - 1.7 * latitude + 2 * phase) +
    0.1 * Math.cos(5.1 * longitude + 4.3 * latitude - phase)
  )
}

/** High waves mean above normal, low ones below. */
const LIKELIEST = { phase: 6.1, above: 0.58, below: 0.42 }

function likeliestSeason(longitude: number, latitude: number): string {
  const outlook = suitability(longitude, latitude, LIKELIEST.phase)
  if (outlook > LIKELIEST.above) return 'Above Normal'
  return outlook < LIKELIEST.below ? 'Below Normal' : 'Normal'
}

/** In the product's unit; a null season is the likeliest one. */
export function demoValue(
  quantity: DemoQuantity,
  season: number | null,
  longitude: number,
  latitude: number,
): number {
  const [low, high] = quantity.range
  const part = season ?? (DEMO_SCENARIOS[likeliestSeason(longitude, latitude)] as number)
  const normal = low + (high - low) * suitability(longitude, latitude, quantity.phase)
  const value = normal * (1 + part * quantity.response)
  return Math.round(value / quantity.step) * quantity.step
}

interface DemoRelease {
  product: ProductDefinition
  countryCode: string
  cropCode: string | null
}

/** The database's countries and crops decide which are seeded. */
const DEMO_PLACES = [
  ...Object.entries(DEMO_COUNTRIES).flatMap(([countryCode, { crop }]) =>
    crop === null ? [] : [{ countryCode, cropCode: crop }],
  ),
  ...Object.keys(DEMO_COUNTRIES).map((countryCode) => ({ countryCode, cropCode: null })),
]

export const DEMO_RELEASES: DemoRelease[] = DEMO_PLACES.flatMap((place) =>
  PRODUCTS.list
    .filter(({ seasonal }) => seasonal === (place.cropCode !== null))
    .map((product) => ({ product, ...place })),
).filter((release) => listQuantities(release).length > 0)

const SOURCE = 'Synthetic demonstration values made by a formula. They are not advice.'

interface DemoLayer extends LayerSource {
  quantity: DemoQuantity
  season: number | null
}

function listQuantities({ product, countryCode, cropCode }: DemoRelease): DemoQuantity[] {
  return DEMO_QUANTITIES[cropCode ? `${product.code} ${countryCode} ${cropCode}` : product.code] ?? []
}

export function demoSource(release: DemoRelease): ReleaseSource {
  const { product, countryCode, cropCode } = release
  const { seasonal, unit, decimals } = product
  const seasons = seasonal ? Object.entries(DEMO_SCENARIOS) : [[null, 0] as const]
  const layers = listQuantities(release).flatMap((quantity) =>
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
    coverages: [createCoverage(countryCode, layers)],
  }
}

function createCoverage(countryCode: string, layers: DemoLayer[]): CoverageSource {
  const { pixelDegrees } = DEMO_COUNTRIES[countryCode] as DemoCountry
  const outline = countryOutline(countryCode)
  const grid = gridOver(measureOutline(outline), pixelDegrees)
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
      const inside = findInside(window)
      return layers.map((layer) => computeValues(layer, window, inside))
    },
  }

  /** Pixels with their centre in the country: index, longitude and latitude. */
  function findInside(window: Window): [number, number, number][] {
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

function computeValues(layer: DemoLayer, window: Window, inside: [number, number, number][]): Pixels {
  const pixels = new Float32Array(window.width * window.height).fill(layer.nodata as number)
  for (const [index, longitude, latitude] of inside) {
    pixels[index] = demoValue(layer.quantity, layer.season, longitude, latitude)
  }
  return pixels
}

/** Aligned to multiples of the pixel size. */
function gridOver(bounds: Bounds, pixel: number): Grid {
  const perDegree = Math.round(1 / pixel)
  const [west, south, east, north] = bounds.map((degrees) => degrees * perDegree) as Bounds
  const [left, top] = [Math.floor(west), Math.ceil(north)]
  return {
    srid: 4326,
    originX: left / perDegree,
    originY: top / perDegree,
    pixelWidth: pixel,
    pixelHeight: -pixel,
    width: Math.ceil(east) - left,
    height: top - Math.floor(south),
  }
}
