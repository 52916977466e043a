import type { Conditions } from '#schemas/certainty.ts'
import { ODDS_TOLERANCE, SEASONS } from '#schemas/glossary.ts'
import { OperatorError } from '#src/errors.ts'
import { round, shortNumber } from '#src/lib/round.ts'
import { formatCentre, type Grid, type Window } from '#src/raster/grid.ts'
import type { Pixels } from '#src/raster/pixels.ts'
import { nodataStep } from './checks/rules.ts'
import { type CoverageSource, hasSameLabels, type LayerSource } from './source.ts'

/** A rule for the values of some bands at each pixel: the sentence of a breach, or undefined. */
interface Rule {
  bands: number[]
  find(values: number[]): string | undefined
  /** Whether the pixels of a breach may mean none. */
  isFill?(values: number[], pixels: number[]): boolean
}

/**
 * Compares the bands about layers with each other and with their layers, pixel by pixel.
 *
 * @param all the layers of the release, of any grid
 * @returns takes the pixels of a window in the order of the layers
 * @throws {OperatorError} at the first pixel outside its range, with odds that are no probabilities or do not sum to 1, or
 *   with a code that means no condition
 */
export function createContradictionCheck(
  { grid, layers }: Pick<CoverageSource, 'grid' | 'layers'>,
  all: LayerSource[],
  conditions: Conditions | null,
): (window: Window, pixels: Pixels[]) => void {
  const rules = [
    ...listRangeRules(layers),
    ...listOddsRules(layers, all),
    ...listLandscapeRules(layers, conditions),
  ]
  return (window, pixels) => {
    for (const rule of rules) applyRule(rule, grid, layers, window, pixels)
  }
}

/** Pixels without a value in one of the bands keep any rule. */
function applyRule(
  { bands, find, isFill }: Rule,
  grid: Grid,
  layers: LayerSource[],
  window: Window,
  pixels: Pixels[],
): void {
  const sources = bands.map((band) => layers[band] as LayerSource)
  const columns = bands.map((band) => pixels[band] as Pixels)
  const values: number[] = []
  const count = window.width * window.height
  for (let at = 0; at < count; at++) {
    let isWhole = true
    for (let index = 0; index < bands.length && isWhole; index++) {
      const { nodata, scale, offset } = sources[index] as LayerSource
      const pixel = (columns[index] as Pixels)[at] as number
      isWhole = pixel !== nodata
      values[index] = pixel * scale + offset
    }
    if (!isWhole) continue
    const breach = find(values)
    if (breach === undefined) continue
    const raw = columns.map((pixels) => pixels[at] as number)
    const steps = isFill?.(values, raw)
      ? ` Or does the pixel value ${shortNumber(raw[0] as number)} mean none? ${nodataStep(sources, raw[0] as number)}`
      : ''
    const { origin } = sources[0] as LayerSource
    throw new OperatorError(`${origin} ${breach} at ${formatCentre(grid, window, at)}.${steps}`)
  }
}

/** As answers round them, so that an answer never has a value outside its range. */
function listRangeRules(layers: LayerSource[]): Rule[] {
  return layers.flatMap((layer, band): Rule[] => {
    if (layer.role !== undefined) return []
    const { decimals } = layer
    const findBand = (role: LayerSource['role']) =>
      layers.findIndex((other) => other.role === role && hasSameLabels(other, layer))
    const [low, high, stddev] = [findBand('low'), findBand('high'), findBand('stddev')]
    const isAbove = (one = 0, other = 0) => one > other && round(one, decimals) > round(other, decimals)
    const rules: Rule[] = [
      {
        bands: [band, low],
        find: ([value = 0, end = 0]) =>
          isAbove(end, value)
            ? `has ${shortNumber(value)}, below its low of ${shortNumber(end)},`
            : undefined,
      },
      {
        bands: [band, high],
        find: ([value = 0, end = 0]) =>
          isAbove(value, end)
            ? `has ${shortNumber(value)}, above its high of ${shortNumber(end)},`
            : undefined,
      },
      {
        bands: [stddev],
        find: ([spread = 0]) =>
          spread < 0 ? `has the standard deviation ${shortNumber(spread)}, below 0,` : undefined,
        isFill: () => true,
      },
    ]
    return rules.filter(({ bands }) => !bands.includes(-1))
  })
}

/** Rounding of single-precision pixels is no breach. */
const ROUNDING = 1e-6

function listOddsRules(layers: LayerSource[], all: LayerSource[]): Rule[] {
  const odds = [...layers.keys()].filter((band) => layers[band]?.role === 'probability')
  const within = odds.map(
    (band): Rule => ({
      bands: [band],
      find: ([value = 0]) =>
        value < -ROUNDING || value > 1 + ROUNDING
          ? `has ${shortNumber(value)}, which is no probability (0 to 1; a percentage has the unit %),`
          : undefined,
      // Up to 100 it may be a percentage.
      isFill: ([value = 0], [pixel = 0]) => value < 0 || (value > 2 && pixel > 100),
    }),
  )
  const bands = SEASONS.map((season) => odds.find((band) => layers[band]?.scenario === season))
  const constants = SEASONS.map(
    (season) => all.find(({ role, scenario }) => role === undefined && scenario === season)?.probability,
  )
  if (bands.some((band, at) => band === undefined && constants[at] === undefined)) return within
  const constant = constants.reduce((sum: number, one) => sum + (one ?? 0), 0)
  const present = bands.filter((band) => band !== undefined)
  if (present.length === 0) return within
  const sums: Rule = {
    bands: present,
    find(values) {
      const sum = constant + values.reduce((total, value) => total + value, 0)
      if (Math.abs(sum - 1) <= ODDS_TOLERANCE + ROUNDING) return undefined
      return `has with those of ${SEASONS.join(', ')} the sum ${Number(sum.toFixed(4))}, not 1,`
    },
    isFill: (values, pixels) => values.every((value) => value === 0) && new Set(pixels).size === 1,
  }
  return [...within, sums]
}

function listLandscapeRules(layers: LayerSource[], conditions: Conditions | null): Rule[] {
  const band = layers.findIndex(({ role }) => role === 'landscape')
  const codes = conditions?.codes
  if (band < 0 || !codes) return []
  return [
    {
      bands: [band],
      find: ([code = 0]) =>
        codes[code] === undefined
          ? `has the code ${code}, which means no condition (${Object.keys(codes).join(', ')}),`
          : undefined,
    },
  ]
}
