import { createHash } from 'node:crypto'
import type { ProductDefinition } from '#schemas/products/define.ts'
import { PRODUCTS } from '#schemas/products/index.ts'
import type { Grid, Window } from '#src/raster/grid.ts'
import { type Pixels, storedNodata } from '#src/raster/pixels.ts'
import type { Bounds } from '#src/raster/rings.ts'
import { TILE_SIZE } from '#src/raster/tiles.ts'
import type { CoverageSource, LayerSource, ReleaseSource } from '../source.ts'
import {
  countryOutline,
  crossings,
  DEMO_COUNTRIES,
  type DemoCountry,
  demoTerrain,
  measureOutline,
} from './outlines.ts'
import { between, describeLand, type Land, sumOctaves } from './relief.ts'

/**
 * Invented values, reproducible to the last bit: how well a place suits, from 0 to 1 by its relief and moisture, moves
 * each quantity within a plausible range. No agronomist has checked them; they are not advice.
 */

export interface DemoQuantity {
  input: string | null
  /** At suitability 0 and 1, in the product's unit. */
  range: [number, number]
  /** To a better season: 1 rises, -1 falls, 0 stays. */
  response: number
  /** The coolness in metres, and the moisture, where it is highest. */
  optimum: [coolness: number, moisture: number]
  /** Of its own noise, so that patterns differ: an integer from 1000 on. */
  seed: number
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
  'yield eth wheat': [
    { input: null, range: [1200, 5400], response: 1, optimum: [2500, 0.7], seed: 1000, step: 1 },
  ],
  'yield rwa potato': [
    { input: null, range: [6000, 24000], response: 1, optimum: [2200, 0.7], seed: 2000, step: 1 },
  ],
  'fertilizer eth wheat': [
    { input: 'DAP', range: [60, 160], response: 0.5, optimum: [2300, 0.6], seed: 3000, step: 1 },
    { input: 'Urea', range: [50, 200], response: 0.8, optimum: [2100, 0.75], seed: 4800, step: 1 },
  ],
  'fertilizer rwa potato': [
    { input: 'DAP', range: [100, 250], response: 0.5, optimum: [2100, 0.6], seed: 5000, step: 1 },
    { input: 'Urea', range: [60, 180], response: 0.8, optimum: [1900, 0.75], seed: 6000, step: 1 },
  ],
  'isfm eth wheat': [
    { input: 'Compost', range: [3, 10], response: -0.3, optimum: [1500, 0.4], seed: 7000, step: 0.1 },
    { input: 'Vermicompost', range: [1.5, 5], response: -0.3, optimum: [1800, 0.5], seed: 8000, step: 0.1 },
  ],
  'isfm rwa potato': [
    { input: 'Compost', range: [5, 15], response: -0.3, optimum: [1500, 0.4], seed: 9000, step: 0.1 },
    { input: 'Vermicompost', range: [2, 7], response: -0.3, optimum: [1700, 0.5], seed: 10_000, step: 0.1 },
  ],
  forage: [
    ['Brachiaria brizantha', 1100, 0.65] as const,
    ['Cenchrus purpureus', 1400, 0.75] as const,
    ['Chloris gayana', 1300, 0.45] as const,
    ['Desmodium intortum', 1700, 0.8] as const,
    ['Lablab purpureus', 800, 0.5] as const,
    ['Medicago sativa', 2200, 0.5] as const,
    ['Megathyrsus maximus', 600, 0.7] as const,
  ].map(([species, coolness, moisture], index) => ({
    input: species,
    range: [0, 1],
    response: 0,
    optimum: [coolness, moisture],
    seed: 20_000 + 1000 * index,
    step: 0.001,
  })),
}

/** Half of the suitability is left at these distances from the optimum, in metres and in moisture. */
const TOLERANCE = { coolness: 900, moisture: 0.35 }

/** Rational bells over coolness and moisture, and noise of a tenth of the grain: from 0.02 to 0.98. */
function suitability({ optimum: [coolness, moisture], seed }: DemoQuantity, land: Land): number {
  const cooler = (land.coolness - coolness) / TOLERANCE.coolness
  const wetter = (land.moisture - moisture) / TOLERANCE.moisture
  const fit = 1 / ((1 + cooler * cooler) * (1 + wetter * wetter))
  const own = sumOctaves(seed, land.x * 3, land.y * 3, 3)
  return between(0.02, 0.98, fit * (0.82 + 0.18 * own))
}

type DemoSeason = 'Normal' | 'Below Normal' | 'Above Normal'

/**
 * The odds of the coming season in percent, from 5 to 80; together 100. They change over one to three degrees. Sharp odds
 * are those of a certain or an extreme outlook.
 */
export function demoOdds({ outlook, certainty }: Land): Record<DemoSeason, number> {
  const normal = Math.round(37 - 17 * between(-1, 1, 1.5 * certainty))
  const above = Math.round((100 - normal) * (0.5 + 0.4 * between(-1, 1, 1.4 * outlook)))
  return { Normal: normal, 'Below Normal': 100 - normal - above, 'Above Normal': above }
}

/** Of equal odds, the first in the order of `demoOdds`. */
function likeliestSeason(land: Land): DemoSeason {
  const odds = demoOdds(land)
  const seasons = Object.keys(odds) as DemoSeason[]
  return seasons.reduce((best, season) => (odds[season] > odds[best] ? season : best))
}

/**
 * In the product's unit; a null season is the likeliest one. Dry places respond up to 1.4 times as much, wet ones 0.6.
 *
 * @param factor of the position on the slope, for rates
 */
export function demoValue(quantity: DemoQuantity, season: number | null, land: Land, factor = 1): number {
  const [low, high] = quantity.range
  const gain = season ?? (DEMO_SCENARIOS[likeliestSeason(land)] as number)
  const normal = low + (high - low) * suitability(quantity, land)
  const value = factor * normal * (1 + gain * quantity.response * (1.4 - 0.8 * land.moisture))
  return Math.round(value / quantity.step) * quantity.step
}

/**
 * Within which the value of a season lies with odds of 80 %: the quantiles 0.1 and 0.9, rounded to the step, invented like
 * the rest. Low < value < high, of the value 0 all three are 0. Wet places have 10 % below their value, dry ones 35 %.
 */
export function demoRange(
  quantity: DemoQuantity,
  season: number | null,
  land: Land,
  factor = 1,
): { low: number; high: number } {
  const steps = Math.round(demoValue(quantity, season, land, factor) / quantity.step)
  if (steps === 0) return { low: 0, high: 0 }
  const spread = steps * (0.35 - 0.25 * land.moisture)
  const below = Math.max(1, Math.round(spread))
  const above = Math.max(1, Math.round(0.8 * spread))
  // A score has an end, as nothing else has that no season moves.
  const most = quantity.response === 0 ? Math.round(quantity.range[1] / quantity.step) : steps + above
  return {
    low: (steps - below) * quantity.step,
    high: Math.min(most, steps + above) * quantity.step,
  }
}

/** Positions on the slope, by their values in a raster; the soil of foot slopes holds more nitrogen, that of hills less. */
export const DEMO_POSITIONS = [
  { value: 1, name: 'foot slope', rateFactor: 0.85 },
  { value: 2, name: 'mid slope', rateFactor: 1 },
  { value: 3, name: 'hill', rateFactor: 1.2 },
]

/** A value of `DEMO_POSITIONS`, in patches of several pixels. */
export function demoPosition({ hills }: Land): number {
  if (hills < -0.21) return 1
  return hills > 0.21 ? 3 : 2
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
  const terrain = demoTerrain(countryCode)
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

  /** Pixels with their centre in the country: index and nature. */
  function findInside(window: Window): [number, Land][] {
    const pixels: [number, Land][] = []
    for (let row = 0; row < window.height; row++) {
      const latitude = grid.originY + (window.row + row + 0.5) * grid.pixelHeight
      const ends = crossings(outline, latitude)
      let passed = 0
      for (let column = 0; column < window.width; column++) {
        const longitude = grid.originX + (window.column + column + 0.5) * grid.pixelWidth
        while (passed < ends.length && (ends[passed] as number) < longitude) passed++
        if (passed % 2 === 1) {
          pixels.push([row * window.width + column, describeLand(terrain, longitude, latitude)])
        }
      }
    }
    return pixels
  }
}

function computeValues(layer: DemoLayer, window: Window, inside: [number, Land][]): Pixels {
  const pixels = new Float32Array(window.width * window.height).fill(layer.nodata as number)
  for (const [index, land] of inside) {
    pixels[index] = demoValue(layer.quantity, layer.season, land)
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
