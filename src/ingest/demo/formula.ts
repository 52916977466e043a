import { between, type Land, sumOctaves } from './relief.ts'

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

export type DemoSeason = 'Normal' | 'Below Normal' | 'Above Normal'

/** The gain of each over a normal season. */
const GAINS: Record<DemoSeason, number> = { 'Above Normal': 0.15, Normal: 0, 'Below Normal': -0.2 }

/** In percent. */
export type DemoOdds = Record<DemoSeason, number>

/**
 * The odds of the coming season in percent, from 5 to 80; together 100. They change over one to three degrees. Sharp odds
 * are those of a certain or an extreme outlook.
 */
export function demoOdds({ outlook, certainty }: Land): DemoOdds {
  const normal = Math.round(37 - 17 * between(-1, 1, 1.5 * certainty))
  const above = Math.round((100 - normal) * (0.5 + 0.4 * between(-1, 1, 1.4 * outlook)))
  return { Normal: normal, 'Below Normal': 100 - normal - above, 'Above Normal': above }
}

/** Of equal odds, the first in the order of `demoOdds`. */
export function findLikeliest(odds: DemoOdds): DemoSeason {
  const seasons = Object.keys(odds) as DemoSeason[]
  return seasons.reduce((best, season) => (odds[season] > odds[best] ? season : best))
}

/**
 * In the product's unit. Dry places respond up to 1.4 times as much, wet ones 0.6.
 *
 * @param factor of the position on the slope, for rates
 */
export function demoValue(quantity: DemoQuantity, season: DemoSeason, land: Land, factor = 1): number {
  const [low, high] = quantity.range
  const gain = GAINS[season]
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
  season: DemoSeason,
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
  { value: 1, name: 'foot slope', title: 'Foot slope', rateFactor: 0.85 },
  { value: 2, name: 'mid slope', title: 'Mid slope', rateFactor: 1 },
  { value: 3, name: 'hill', title: 'Hill', rateFactor: 1.2 },
]

/** A value of `DEMO_POSITIONS`, in patches of several pixels. */
export function demoPosition({ hills }: Land): number {
  if (hills < -0.21) return 1
  return hills > 0.21 ? 3 : 2
}
