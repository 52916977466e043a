import type { Conditions } from '#schemas/certainty.ts'
import { SCENARIOS, SEASONS } from '#schemas/glossary.ts'
import type { ProductDefinition } from '#schemas/products/define.ts'
import { findNormalQuantile } from '#src/lookup/certainty.ts'
import { storedNodata } from '#src/raster/pixels.ts'
import { COMPANION_DECIMALS } from '../companions.ts'
import type { LayerSource } from '../source.ts'
import {
  DEMO_POSITIONS,
  type DemoOdds,
  type DemoQuantity,
  type DemoSeason,
  demoPosition,
  demoRange,
  demoValue,
  findLikeliest,
} from './formula.ts'
import type { Land } from './relief.ts'

/** The layers of the demo's releases, and the bands about them. */

export interface DemoPixel {
  /** In its window. */
  index: number
  land: Land
  /** Of its square of the forecast, or of the whole release. */
  odds: DemoOdds
}

export interface DemoLayer extends LayerSource {
  /** Part of the release's checksum; null for bands about layers. */
  quantity: DemoQuantity | null
  compute: (pixel: DemoPixel) => number
}

/** Numbers of the release, or squares with numbers of their own. */
export type OddsForm = DemoOdds | 'rasters'

export const DEMO_CONDITIONS: Conditions = {
  question: 'Where on the slope is the field?',
  list: DEMO_POSITIONS.map(({ name, title }) => ({ condition: name, title })),
  codes: Object.fromEntries(DEMO_POSITIONS.map(({ value, name }) => [value, name])),
  default: 'mid slope',
}

/** What a layer and the bands about it have in common. */
interface Subject {
  product: ProductDefinition
  quantity: DemoQuantity
  scenario: string | null
  /** Of the position on the slope; undefined for all. */
  position: (typeof DEMO_POSITIONS)[number] | undefined
}

/**
 * The layers of a release, with their ranges and the landscape raster. Odds as rasters have another grid.
 *
 * @param odds undefined for a release without any
 * @param onSlopes whether values are for positions on the slope
 */
export function listLayers(
  product: ProductDefinition,
  quantities: DemoQuantity[],
  odds: OddsForm | undefined,
  onSlopes: boolean,
): DemoLayer[] {
  const scenarios = product.seasonal ? SCENARIOS.map(({ scenario }) => scenario) : [null]
  const positions = onSlopes ? DEMO_POSITIONS : [undefined]
  const layers = quantities.flatMap((quantity) =>
    scenarios.flatMap((scenario) =>
      positions.flatMap((position) => listWithRange({ product, quantity, scenario, position }, odds)),
    ),
  )
  const landscape = makeBand('landscape', { input: null, scenario: null }, WITHOUT_UNIT, ({ land }) =>
    demoPosition(land),
  )
  return onSlopes ? [...layers, landscape] : layers
}

/** One for each season. */
export function listOddsLayers(): DemoLayer[] {
  return DEMO_SEASONS.map((scenario) => ({
    ...makeBand('probability', { input: null, scenario }, WITHOUT_UNIT, ({ odds }) => odds[scenario]),
    scale: 0.01,
  }))
}

const DEMO_SEASONS = SEASONS as DemoSeason[]

const isSeason = (scenario: string | null): scenario is DemoSeason =>
  scenario !== null && SEASONS.includes(scenario)

/** Dominant is the likeliest season; without seasons values are those of a normal one. */
function findSeason(scenario: string | null, odds: DemoOdds): DemoSeason {
  if (scenario === null) return 'Normal'
  return isSeason(scenario) ? scenario : findLikeliest(odds)
}

/** Yields have ranges: they are harvested, rates are chosen. */
function listWithRange(subject: Subject, odds: OddsForm | undefined): DemoLayer[] {
  const { product, quantity, scenario, position } = subject
  const bands = quantity.input === null && isSeason(scenario) ? listRange(subject, scenario, odds) : []
  const layer: DemoLayer = {
    ...STORAGE,
    input: quantity.input,
    scenario,
    ...(position && { condition: position.name }),
    ...(typeof odds === 'object' && isSeason(scenario) && { probability: odds[scenario] / 100 }),
    ...(bands.length > 0 && { range: RANGE }),
    unit: product.unit,
    decimals: product.decimals,
    quantity,
    compute: (pixel) =>
      demoValue(quantity, findSeason(scenario, pixel.odds), pixel.land, position?.rateFactor),
  }
  return [layer, ...bands]
}

/** The quantiles of `demoRange`. */
const RANGE = [0.1, 0.9] as const

/** Two ends where odds are rasters, and a standard deviation elsewhere: each kind is somewhere. */
function listRange(
  { product, quantity }: Subject,
  scenario: DemoSeason,
  odds: OddsForm | undefined,
): DemoLayer[] {
  const of = { input: quantity.input, scenario }
  const rangeAt = ({ land }: DemoPixel) => demoRange(quantity, scenario, land)
  if (odds === 'rasters') {
    return [
      makeBand('low', of, product, (pixel) => rangeAt(pixel).low),
      makeBand('high', of, product, (pixel) => rangeAt(pixel).high),
    ]
  }
  const deviations = findNormalQuantile(RANGE[1]) - findNormalQuantile(RANGE[0])
  const spread = (pixel: DemoPixel) => {
    const { low, high } = rangeAt(pixel)
    return Math.round((high - low) / deviations)
  }
  return [makeBand('stddev', of, product, spread)]
}

const STORAGE = {
  scale: 1,
  offset: 0,
  pixelType: '32BF',
  nodata: storedNodata('32BF', undefined),
  origin: 'the demo formula',
} as const

const WITHOUT_UNIT = { unit: '1', decimals: 0 }

/** A band about layers. */
function makeBand(
  role: NonNullable<LayerSource['role']>,
  of: Pick<LayerSource, 'input' | 'scenario'>,
  { unit, decimals }: Pick<ProductDefinition, 'unit' | 'decimals'>,
  compute: DemoLayer['compute'],
): DemoLayer {
  return {
    ...STORAGE,
    ...of,
    role,
    unit,
    decimals: COMPANION_DECIMALS[role] ?? decimals,
    quantity: null,
    compute,
  }
}
