import { EXPECTED, RESTATING_SCENARIOS, SEASONS } from '#schemas/glossary.ts'
import type { ProductDefinition } from '#schemas/products/define.ts'
import { round } from '#src/lib/round.ts'
import { type Chosen, findBand } from './conditions.ts'
import type { Band, Layer, LayerLabel, Release } from './layers.ts'

/** How sure the values of a release are: odds of scenarios, expected values, ranges. */

/** Numbers of the bands of a release at a place, in the order of its layers and then of its companions; NaN for none. */
export interface Figures {
  /** As answered: rounded. Of a region the mean. */
  read(band: number): number
  /** Its least and greatest value at the place. */
  least(band: number): number
  most(band: number): number
  /** Whether two bands are the same all over the place. */
  isSame(one: number, other: number): boolean
  /** Of a release with conditions. */
  chosen: Chosen | undefined
}

export function figuresOfPoint(values: readonly number[] & { chosen?: Chosen }): Figures {
  const read = (band: number) => values[band] as number
  const isSame = (one: number, other: number) => values[one] === values[other]
  return { read, least: read, most: read, isSame, chosen: values.chosen }
}

/** What an entry says beside its value. */
export interface EntryCertainty {
  probability?: number
  range?: { low: number; high: number; level: number }
  scenario_of?: string
}

/** A number of the release, or one of its bands. */
type Source = { constant: number } | { band: number }

interface RangeSource {
  level: number
  low(value: number, figures: Figures): number
  high(value: number, figures: Figures): number
}

interface LayerCertainty {
  probability: Source | undefined
  range: RangeSource | undefined
  /** The layers of the three seasons with the input and condition of a layer that restates one of them. */
  restated: Outlook | undefined
}

/** The seasons of an input and condition, in the order of {@link SEASONS}; undefined where the release lacks one. */
interface Outlook {
  layers: (number | undefined)[]
  odds: (Source | undefined)[]
}

export interface Certainty {
  /** In the order of the layers. */
  layers: LayerCertainty[]
  /** One for each input and condition with odds of the three seasons: expected values are theirs, and its label. */
  outlooks: { label: LayerLabel; layers: number[]; odds: Source[] }[]
}

/** Probabilities have so many decimals, which a thousand seasons would not tell apart. */
export const PROBABILITY_DECIMALS = 3

const LEVEL_DECIMALS = 6

/**
 * What the layers and companions of a release say of how sure its values are.
 *
 * @returns undefined for a release with values alone
 */
export function prepareCertainty(
  product: Pick<ProductDefinition, 'plausible'>,
  { layers, companions, conditions }: Pick<Release, 'layers' | 'companions' | 'conditions'>,
): Certainty | undefined {
  if (companions.length === 0 && !conditions && layers.every(({ probability }) => probability === null)) {
    return undefined
  }
  const bands = { layers, companions }
  const found = layers.map(
    (layer): LayerCertainty => ({
      probability: findOdds(bands, layer.scenario),
      range: findRange(bands, layer, product.plausible.minimum),
      restated: RESTATING_SCENARIOS.includes(layer.scenario ?? '') ? findOutlook(bands, layer) : undefined,
    }),
  )
  const outlooks = layers.flatMap((label, index) => {
    const first = layers.findIndex(
      ({ input, condition }) => input === label.input && condition === label.condition,
    )
    const { layers: seasons, odds } = findOutlook(bands, label)
    if (first !== index || !isWhole(seasons) || !isWhole(odds)) return []
    return [{ label: { ...label, scenario: EXPECTED }, layers: seasons, odds }]
  })
  return { layers: found, outlooks }
}

type Bands = Pick<Release, 'layers' | 'companions'>

function isWhole<One>(all: (One | undefined)[]): all is One[] {
  return all.every((one) => one !== undefined)
}

function findOutlook(bands: Bands, { input, condition }: LayerLabel): Outlook {
  return {
    layers: SEASONS.map((season) => {
      const at = bands.layers.findIndex(
        (layer) => layer.scenario === season && layer.input === input && layer.condition === condition,
      )
      return at < 0 ? undefined : at
    }),
    odds: SEASONS.map((season) => findOdds(bands, season)),
  }
}

function findOdds(bands: Bands, scenario: string | null): Source | undefined {
  if (scenario === null) return undefined
  const constant = bands.layers.find((layer) => layer.scenario === scenario)?.probability
  if (typeof constant === 'number') return { constant: round(constant, PROBABILITY_DECIMALS) }
  const band = findBand(bands, 'probability', (companion) => companion.scenario === scenario)
  return band === undefined ? undefined : { band }
}

/** @param least values below are not plausible: a spread does not reach there */
function findRange(bands: Bands, layer: Layer, least: number): RangeSource | undefined {
  if (!layer.range) return undefined
  const [from, to] = layer.range
  const isOf = ({ input, scenario, condition }: Band) =>
    input === layer.input && scenario === layer.scenario && condition === layer.condition
  const level = round(to - from, LEVEL_DECIMALS)
  const [low, high] = [findBand(bands, 'low', isOf), findBand(bands, 'high', isOf)]
  if (low !== undefined && high !== undefined) {
    return { level, low: (_, { read }) => read(low), high: (_, { read }) => read(high) }
  }
  const spread = findBand(bands, 'stddev', isOf)
  if (spread === undefined) return undefined
  const [lower, upper] = [findNormalQuantile(from), findNormalQuantile(to)]
  const { decimals } = layer
  const ofNormal =
    (quantile: number) =>
    (value: number, { read }: Figures) =>
      round(Math.max(least, value + quantile * read(spread)), decimals)
  return { level, low: ofNormal(lower), high: ofNormal(upper) }
}

/** The terms of the series beyond which nothing changes, for quantiles within nine standard deviations. */
const MOST_TERMS = 200

/** The standard normal distribution function, by its Taylor series (Marsaglia 2004, Journal of Statistical Software 11, 4). */
function normalDistribution(x: number): number {
  let [sum, term] = [x, x]
  for (let n = 1; n < MOST_TERMS; n++) {
    term *= (x * x) / (2 * n + 1)
    sum += term
  }
  return 0.5 + (sum * Math.exp((-x * x) / 2)) / Math.sqrt(2 * Math.PI)
}

const WIDEST = 9
const HALVINGS = 64

/** The value that a standard normal variable is below with a probability, by bisection. */
export function findNormalQuantile(probability: number): number {
  let [from, to] = [-WIDEST, WIDEST]
  for (let halving = 0; halving < HALVINGS; halving++) {
    const middle = (from + to) / 2
    if (normalDistribution(middle) < probability) from = middle
    else to = middle
  }
  return (from + to) / 2
}

function readSource(source: Source, { read }: Figures): number {
  return 'constant' in source ? source.constant : read(source.band)
}

/** The probability of the scenario of a layer; NaN for none. */
export function readOdds({ layers }: Certainty, layer: number, figures: Figures): number {
  const source = layers[layer]?.probability
  return source ? readSource(source, figures) : Number.NaN
}

/** The odds of the three seasons; null where one is missing, undefined for a release without odds. */
export function readOutlook(
  { outlooks }: Certainty,
  figures: Figures,
): Map<string, number> | null | undefined {
  const [first] = outlooks
  const odds = first?.odds.map((source) => readSource(source, figures))
  if (!odds) return undefined
  if (odds.some(Number.isNaN)) return null
  return new Map(SEASONS.map((season, index) => [season, odds[index] as number]))
}

/** What a layer says of how sure its value is: nothing without one. Members without data are left out. */
export function describeEntry(certainty: Certainty, layer: number, figures: Figures): EntryCertainty {
  const { range, restated } = certainty.layers[layer] as LayerCertainty
  const said: EntryCertainty = {}
  const value = figures.read(layer)
  if (Number.isNaN(value)) return said
  const odds = readOdds(certainty, layer, figures)
  if (!Number.isNaN(odds)) said.probability = odds
  const low = range ? range.low(value, figures) : Number.NaN
  const high = range ? range.high(value, figures) : Number.NaN
  if (range && Number.isFinite(low) && Number.isFinite(high)) said.range = { low, high, level: range.level }
  const season = restated && findRestated(restated, layer, figures)
  if (season !== undefined) said.scenario_of = season
  return said
}

/**
 * The season that a layer has the values of: the likeliest by the odds, all over the place, or else the only one with its
 * values. Undefined where neither tells, and where they contradict each other.
 */
function findRestated({ layers, odds }: Outlook, layer: number, figures: Figures): string | undefined {
  const isSame = (season: number) => {
    const other = layers[season]
    return other !== undefined && figures.isSame(layer, other)
  }
  const isMissing = (season: number) => {
    const other = layers[season]
    return other === undefined || Number.isNaN(figures.read(other))
  }
  const likeliest = isWhole(odds) ? findLikeliest(odds, figures) : undefined
  if (likeliest !== undefined) {
    return isSame(likeliest) ? SEASONS[likeliest] : undefined
  }
  const same = SEASONS.flatMap((name, season) => (isSame(season) ? [name] : []))
  return same.length === 1 && !SEASONS.some((_, season) => isMissing(season)) ? same[0] : undefined
}

/** Likelier than any other all over the place; undefined for none. */
function findLikeliest(odds: Source[], figures: Figures): number | undefined {
  const least = (source: Source) => ('constant' in source ? source.constant : figures.least(source.band))
  const most = (source: Source) => ('constant' in source ? source.constant : figures.most(source.band))
  const found = odds.findIndex((one) => odds.every((other) => other === one || least(one) > most(other)))
  return found < 0 ? undefined : found
}

/** An expected value with the labels of its layers. */
interface ExpectedValue {
  label: LayerLabel
  value: number
}

/**
 * The expected value of each input and condition: the sum of the seasons' values, each multiplied by its probability,
 * divided by the sum of the probabilities, which published ones have rounded. From the numbers of the answer, so that its
 * reader gets the same. Left out where a value or a probability is missing.
 */
export function listExpected({ outlooks }: Certainty, figures: Figures): ExpectedValue[] {
  return outlooks.flatMap(({ label, layers, odds }) => {
    const weights = odds.map((source) => readSource(source, figures))
    const total = weights.reduce((sum, weight) => sum + weight, 0)
    const sum = layers.reduce((part, layer, at) => part + figures.read(layer) * (weights[at] as number), 0)
    const value = sum / total
    return Number.isFinite(value) ? [{ label, value: round(value, label.decimals) }] : []
  })
}
