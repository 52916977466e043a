import type { ProductDefinition } from '#schemas/products/define.ts'
import { round, roundAmount } from '#src/lib/round.ts'
import type { Figures } from '#src/lookup/certainty.ts'
import {
  ALL_LAYERS,
  type Chosen,
  type ConditionWish,
  chooseCondition,
  narrow,
} from '#src/lookup/conditions.ts'
import { nameColumn, type ReleaseLabels } from '#src/lookup/entries.ts'
import { type Companion, type LayerLabel, listPairs } from '#src/lookup/layers.ts'
import type { DistributionOptions, Quantile } from '#src/raster/distribution.ts'
import { alternativeColumns, certaintyNumbers, certaintyTexts, sideBySide } from '../columns.ts'
import type { LayerDistribution, LayerStatistics, ZonalStatistics } from './queries.ts'

/** The numbers of a release in a region, and the condition of the region that answers. */

const NO_STATISTICS: LayerStatistics = {
  mean: Number.NaN,
  minimum: Number.NaN,
  maximum: Number.NaN,
  deviation: Number.NaN,
  covered: 0,
}

/** Parts of the same pixels differ by rounding. */
const COVER_TOLERANCE = 1e-6

type FoundLayers = ZonalStatistics['layers']

/**
 * Whether a companion says something of all values in a region: a mean over a part of their pixels would contradict them.
 * A range has the pixels of its layer, odds and the landscape cover at least those of all layers; a share is one of the
 * pixels that have conditions.
 */
function coversValues({ layers, companions }: ReleaseLabels, found: FoundLayers, band: number): boolean {
  const { role, input, scenario, condition } = companions[band - layers.length] as Companion
  const covered = found[band]?.covered ?? 0
  if (role === 'share') return true
  if (role === 'probability' || role === 'landscape') {
    return layers.every((_, index) => (found[index]?.covered ?? 0) <= covered + COVER_TOLERANCE)
  }
  const layer = layers.findIndex(
    (one) => one.input === input && one.scenario === scenario && one.condition === condition,
  )
  return Math.abs((found[layer]?.covered ?? 0) - covered) <= COVER_TOLERANCE
}

/** The numbers of a release's bands in a region: means, rounded as in answers. */
export function figuresOfRegion(
  release: ReleaseLabels,
  { layers: found, chosen }: Pick<ChosenStatistics, 'layers' | 'chosen'>,
): Figures {
  const { layers, companions } = release
  const readDecimals = (band: number) => (layers[band] ?? companions[band - layers.length])?.decimals ?? 0
  const at = (band: number) => {
    const one = found[band]
    return one && (band < layers.length || coversValues(release, found, band)) ? one : NO_STATISTICS
  }
  return {
    read: (band) => round(at(band).mean, readDecimals(band)),
    least: (band) => at(band).minimum,
    most: (band) => at(band).maximum,
    isSame(one, other) {
      const [a, b] = [at(one), at(other)]
      return (['mean', 'minimum', 'maximum', 'deviation'] as const).every((key) => a[key] === b[key])
    },
    chosen,
  }
}

/** The statistics of the layers that answer. */
export interface ChosenStatistics extends ZonalStatistics {
  /** Of a release with conditions. */
  chosen?: Chosen
}

/**
 * The statistics of the layers for a condition: where a region has several, of their mixture.
 *
 * @throws {ApiError} INVALID_PARAMETERS for a condition that the release does not have
 */
export function chooseStatistics(
  release: ReleaseLabels,
  statistics: ZonalStatistics,
  condition: ConditionWish,
): ChosenStatistics {
  const { conditions } = release
  if (!conditions || condition === ALL_LAYERS) return statistics
  const choice = chooseCondition({ ...release, conditions }, condition, (band) => {
    const found = statistics.layers[band]
    if (!found) return undefined
    const isOne = found.minimum === found.maximum && coversValues(release, statistics.layers, band)
    return isOne ? found.minimum : 'several'
  })
  return {
    ...statistics,
    layers: narrow(release, choice, statistics.layers, null),
    chosen: { ...choice, read: figuresOfRegion(release, statistics).read },
  }
}

/** The means of a release's layers, then of its companions, as answers have them; null for none. Codes have no mean. */
export function readMeans(
  release: ReleaseLabels,
  { statistics }: { statistics: ChosenStatistics },
): (number | null)[] {
  const { read, least, most } = figuresOfRegion(release, statistics)
  return [...release.layers, ...release.companions].map((band, at) => {
    const isMixed = 'role' in band && band.role === 'landscape' && least(at) !== most(at)
    return isMixed || Number.isNaN(read(at)) ? null : read(at)
  })
}

/** The keys of the numbers of a layer in an answer, in their order: quantiles and their errors come last. */
export function listStatisticKeys(
  { value, total }: ProductDefinition,
  wanted: DistributionOptions | null = null,
): string[] {
  return [
    ...[value.key, 'min', 'max', 'stddev', 'covered_percent'],
    ...(total ? [total.key] : []),
    ...(wanted?.quantiles ?? []).flatMap((part) => [`quantile_${part}`, `quantile_${part}_error`]),
  ]
}

/** The numbers of a layer in the order of their keys. Totals come from the unrounded mean. */
export function computeFigures(
  { total }: ProductDefinition,
  layer: LayerLabel,
  { mean, minimum, maximum, deviation, covered, distribution }: LayerStatistics,
  areaHa: number,
): number[] {
  const { decimals } = layer
  // Most regions are small fields, of which many are answered: spread lists took half of the time of an entry.
  const figures = [
    round(mean, decimals),
    round(minimum, decimals),
    round(maximum, decimals),
    round(deviation, decimals),
    roundAmount(100 * covered),
  ]
  if (total) figures.push(roundAmount(mean * areaHa * covered))
  if (!distribution) return figures
  return [...figures, ...roundQuantiles(layer, distribution).flatMap(({ value, error }) => [value, error])]
}

function roundQuantiles({ decimals }: LayerLabel, distribution: LayerDistribution | undefined): Quantile[] {
  return (distribution?.quantiles ?? []).map(({ quantile, value, error }) => ({
    quantile,
    value: round(value, decimals),
    error: roundUp(error, decimals),
  }))
}

/** Decimals of the percentages of a histogram. */
const PERCENT_DECIMALS = 4

function roundBins({ decimals }: LayerLabel, distribution: LayerDistribution | undefined): object[] {
  return (distribution?.histogram ?? []).map(({ from, to, share, error }) => ({
    from: round(from, decimals),
    to: round(to, decimals),
    percent: round(100 * share, PERCENT_DECIMALS),
    error: roundUp(100 * error, PERCENT_DECIMALS),
  }))
}

/** Rounds the bound of an error, never down. */
function roundUp(error: number, decimals: number): number {
  return round(Math.ceil(error * 10 ** decimals) / 10 ** decimals, decimals)
}

/** The quantiles and the histogram of a layer, where they were asked for. */
export function describeDistribution(layer: LayerLabel, distribution: LayerDistribution | undefined) {
  const [quantiles, histogram] = [roundQuantiles(layer, distribution), roundBins(layer, distribution)]
  return {
    ...(quantiles.length > 0 && { quantiles }),
    ...(histogram.length > 0 && { histogram }),
  }
}

/**
 * The columns of all numbers of a release in a region: of each input and scenario, then odds, ranges and expected values.
 * A cell is null where a layer has no value.
 */
export function statisticColumns(product: ProductDefinition, release: ReleaseLabels, keys: string[]) {
  const pairs = listPairs(release.layers)
  const certain = certaintyNumbers(product, release)
  const empty = keys.map(() => null)
  return {
    names: [
      ...pairs.flatMap(({ label }) => keys.map((key) => nameColumn(product, label, key))),
      ...certain.names,
    ],
    cellsOf(statistics: ChosenStatistics): (number | null)[] {
      const ofLayers: (number | null)[] = []
      for (const { bands } of pairs) {
        const band = bands.find((one) => statistics.layers[one])
        const found = band === undefined ? null : (statistics.layers[band] as LayerStatistics)
        const layer = release.layers[band ?? 0] as LayerLabel
        ofLayers.push(...(found ? computeFigures(product, layer, found, statistics.areaHa) : empty))
      }
      if (!release.certainty) return ofLayers
      return [...ofLayers, ...certain.cellsOf(figuresOfRegion(release, statistics))]
    },
  }
}

/** The columns of all that a release says in a region: its numbers, the texts, and the alternatives that a call asks for. */
export function regionColumns(
  product: ProductDefinition,
  release: ReleaseLabels,
  keys: string[],
  condition: string | undefined,
) {
  const further = sideBySide(
    certaintyTexts(product, release),
    alternativeColumns(product, release, condition),
  )
  return sideBySide<ChosenStatistics>(statisticColumns(product, release, keys), {
    names: further.names,
    cellsOf: (found) => further.cellsOf(figuresOfRegion(release, found)),
  })
}
