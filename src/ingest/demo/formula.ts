/**
 * The values of the demo data. They are made up, smooth and the same every time: a suitability between
 * 0 and 1, the sum of a few waves over longitude and latitude, moves each quantity within a range that
 * is plausible for the crop and the country. No agronomist has seen them; nobody should farm by them.
 */

/** A quantity of the demo: its range, and how a season changes it. */
export interface DemoQuantity {
  input: string | null
  /** Values at suitability 0 and 1, in the product's unit. */
  range: [number, number]
  /** How the quantity answers to a better season: 1 rises with it, -1 falls, 0 not at all. */
  response: number
  /** Shifts the waves, so that no two quantities have the same pattern. */
  phase: number
  /** The step that values are rounded to, in the product's unit. */
  step: number
}

/** Seasons, and the part by which each is better than the normal one; null for the likeliest at a place. */
export const SCENARIOS: Record<string, number | null> = {
  'Above Normal': 0.15,
  Normal: 0,
  'Below Normal': -0.2,
  Dominant: null,
}

export const DEMO_PERIOD = '2026-07-01'

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
 * How well a place suits, from 0 to 1.
 *
 * s = 0.5 + 0.22 sin(1.1 x + p) cos(0.9 y - p) + 0.16 sin(2.3 x - 1.7 y + 2 p) + 0.10 cos(5.1 x + 4.3 y - p)
 * with x the longitude and y the latitude in degrees and p the phase. The amplitudes add up to 0.48, so
 * s stays within 0.02 and 0.98.
 */
export function suitability(longitude: number, latitude: number, phase: number): number {
  return (
    0.5 +
    0.22 * Math.sin(1.1 * longitude + phase) * Math.cos(0.9 * latitude - phase) +
    0.16 * Math.sin(2.3 * longitude - 1.7 * latitude + 2 * phase) +
    0.1 * Math.cos(5.1 * longitude + 4.3 * latitude - phase)
  )
}

/** The waves of the likeliest season: where they are high it is the one above normal, where low the one below. */
const LIKELIEST = { phase: 6.1, above: 0.58, below: 0.42 }

/** The likeliest season at a place, of all quantities alike. */
function likeliestSeason(longitude: number, latitude: number): string {
  const outlook = suitability(longitude, latitude, LIKELIEST.phase)
  if (outlook > LIKELIEST.above) return 'Above Normal'
  return outlook < LIKELIEST.below ? 'Below Normal' : 'Normal'
}

/** The value of a quantity at a place (degrees) in a season, or in the likeliest one (null), in the product's unit. */
export function demoValue(
  quantity: DemoQuantity,
  season: number | null,
  longitude: number,
  latitude: number,
): number {
  const [low, high] = quantity.range
  const part = season ?? (SCENARIOS[likeliestSeason(longitude, latitude)] as number)
  const normal = low + (high - low) * suitability(longitude, latitude, quantity.phase)
  const value = normal * (1 + part * quantity.response)
  return Math.round(value / quantity.step) * quantity.step
}
