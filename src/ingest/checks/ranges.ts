import { shortNumber } from '#src/lib/round.ts'
import {
  type Check,
  findApart,
  isOfProduct,
  type LayerFacts,
  labelLayer,
  listLayers,
  type Surroundings,
} from './rules.ts'

/** Factors that mend mistakes, and how the values look, by the unit of a product: all that fit are offered. */
const MISTAKES: Record<string, [factor: number, look: string][]> = {
  'kg/ha': [
    [1000, 'like tonnes'],
    [100, 'like quintals'],
    [50, 'like bags of 50 kg'],
    [10, 'ten times too small'],
    [2.471054, 'like kilograms an acre'],
    [1.120851, 'like pounds an acre'],
    [0.1, 'ten times too large'],
    [0.01, 'a hundred times too large'],
    [0.001, 'like grams'],
  ],
  't/ha': [
    [0.001, 'like kilograms'],
    [0.1, 'like quintals'],
    [0.01, 'a hundred times too large'],
    [2.471054, 'like tonnes an acre'],
    [10, 'like kilograms a square metre'],
    [1000, 'a thousand times too small'],
  ],
}

/** `1000, 100 or 10`. */
function either(words: readonly string[]): string {
  return words.join(', ').replace(/, ([^,]*)$/, ' or $1')
}

/** Parts of the least that the largest value of a layer reaches: for its mean, and for the largest spread. */
const PART_OF_MEAN = 0.1
const PART_OF_SPREAD = 0.01

type Bounds = Required<Surroundings['plausible']>

interface Values {
  minimum: number
  maximum: number
  /** Of the values above 0; null where there are none, as where nothing is recommended. */
  mean: number | null
}

function findFault({ minimum, maximum, mean }: Values, bounds: Bounds, factor: number) {
  if (minimum * factor < bounds.minimum || maximum * factor > bounds.maximum) return 'range'
  if (mean === null) return undefined
  const isSmall = maximum * factor < bounds.largestFrom || mean * factor < bounds.largestFrom * PART_OF_MEAN
  if (isSmall) return 'small'
  return mean * factor > bounds.meanTo ? 'large' : undefined
}

/** Values of another unit, scale or meaning; of a whole layer, plausible as each of them may be. */
const range: Check = (release, { plausible }) =>
  listLayers(release).flatMap((layer) => {
    const values = readValues(layer)
    const bounds = boundLayer(layer, plausible)
    if (!values || !bounds) return []
    const fault = findFault(values, bounds, 1)
    if (fault === undefined) return []
    const { minimum, maximum, mean } = values
    const series = [release.series.product, release.series.cropCode].filter(Boolean).join(' of ')
    const said = (value: number | null) => shortNumber(value as number)
    const [has, but] = {
      range: [
        `values of ${said(minimum)} to ${said(maximum)} ${layer.unit}`,
        `${series} is plausible from ${said(bounds.minimum)} to ${said(bounds.maximum)}`,
      ],
      small: [
        `${said(maximum)} ${layer.unit} as its largest value, and a mean of ${said(mean)}`,
        `${series} has at least ${said(bounds.largestFrom)} somewhere`,
      ],
      large: [`a mean of ${said(mean)} ${layer.unit}`, `that of ${series} is at most ${said(bounds.meanTo)}`],
    }[fault]
    // A fill says nothing of the scale.
    const fitting = (findApart(layer) ? [] : (MISTAKES[layer.unit] ?? [])).filter(
      ([factor]) => findFault(values, bounds, factor) === undefined,
    )
    // Near a bound the small factors of acres fit anything.
    const mistakes = fitting.every(([, look]) => look.endsWith('an acre')) ? [] : fitting
    const { scale } = layer
    const scales = either(mistakes.map(([factor]) => said((scale ?? 1) * factor)))
    const step =
      mistakes.length > 0
        ? `these look ${either(mistakes.map(([, look]) => look))}. ${scale === undefined ? 'Multiply its scale by' : 'Write scale:'} ${scales}.`
        : 'is its nodata value missing, or its scale or unit wrong?'
    return {
      check: 'range',
      level: 'error',
      sentence: `${layer.origin} has ${has}, but ${but}: ${step}`,
      layer: labelLayer(layer),
      figures: {
        ...{ minimum, maximum, ...(fault !== 'range' && { mean }) },
        ...{ plausibleMinimum: bounds.minimum, plausibleMaximum: bounds.maximum },
        ...(fault === 'small' && { largestFrom: bounds.largestFrom }),
        ...(fault === 'large' && { meanTo: bounds.meanTo }),
        ...(mistakes.length > 0 && { factors: mistakes.map(([factor]) => factor).join(', ') }),
      },
    }
  })

/** The ends of a range may be of a bad year: they are held to single values alone. */
function boundLayer(layer: LayerFacts, plausible: Surroundings['plausible']): Bounds | undefined {
  const { largestFrom: stated = 0, meanTo = plausible.maximum } = plausible
  // An operator's range may end below the bound of the product.
  const largestFrom = stated > plausible.maximum ? 0 : stated
  if (layer.role === 'stddev') {
    return { ...plausible, largestFrom: largestFrom * PART_OF_SPREAD, meanTo: plausible.maximum }
  }
  if (layer.role === undefined) return { ...plausible, largestFrom, meanTo }
  return isOfProduct(layer) ? { ...plausible, largestFrom: 0, meanTo: plausible.maximum } : undefined
}

/** Zeros say where there is nothing to say, and count for no mean. */
function readValues({ statistics, raw, scale = 1 }: LayerFacts): Values | undefined {
  const { mean = null, minimum = null, maximum = null, validCount = 0 } = statistics ?? {}
  if (mean === null || minimum === null || maximum === null) return undefined
  const zeros = minimum === 0 ? ((scale < 0 ? raw?.values.high : raw?.values.low)?.count ?? 0) : 0
  return { minimum, maximum, mean: maximum > 0 ? (mean * validCount) / (validCount - zeros) : null }
}

/** Scores from 0 to 1 beside percentages. */
const scoreScale: Check = (release) => {
  const layers = listLayers(release).flatMap(({ statistics, unit, ...layer }) =>
    unit === 'score' && statistics?.maximum ? [{ ...layer, unit, most: statistics.maximum }] : [],
  )
  const small = layers.find(({ most }) => most <= 1)
  if (!small) return []
  return layers
    .filter(({ most }) => most > 1)
    .map((layer) => ({
      check: 'range',
      level: 'error',
      sentence: `${layer.origin} has scores up to ${shortNumber(layer.most)}, and ${small.origin} up to ${shortNumber(small.most)}: is one of them in percent? Write scale: 0.01.`,
      layer: labelLayer(layer),
      figures: { maximum: layer.most, other: small.most },
    }))
}

export const RANGE_CHECKS: Check[] = [range, scoreScale]
