import type { LayerSummary } from '#src/catalog/release-queries.ts'
import { RANGE_CHECKS } from '#src/ingest/checks/ranges.ts'
import type { LayerFacts } from '#src/ingest/checks/rules.ts'
import { shortNumber } from '#src/lib/round.ts'
import type { Measured } from './bands.ts'
import type { Guess } from './labels.ts'
import {
  type Around,
  type Ask,
  alsoText,
  type CheckedLayer,
  isMeasured,
  measuredOf,
  median,
  type Published,
} from './layers.ts'
import { type Answers, groupBy, KEEP, nameBand, nameBands, YES } from './questions.ts'
import type { DraftLayer, DraftRelease } from './releases.ts'

/** In kilograms a hectare. */
const KILOGRAMS: Record<string, number> = { 'kg/ha': 1, 't/ha': 1000, 'q/ha': 100 }

/** From the unit that the file says into that of the product. */
export function convert({ unit, band, members }: DraftLayer, { product }: DraftRelease): Guess | undefined {
  if (!unit || !product || members.role?.value === 'probability') return undefined
  const [from, to] = [KILOGRAMS[unit.value], KILOGRAMS[product.unit]]
  if (from === undefined || to === undefined || from === to) return undefined
  const own = band.measured?.facts.scale ?? 1
  return { value: shortNumber((own * from) / to), from: `${unit.from}: ${unit.value} into ${product.unit}` }
}

/** A unit that the file says, and that is none of the product's kind. */
export function askUnits(
  layers: readonly CheckedLayer[],
  { product }: DraftRelease,
  answers: Answers,
  ask: Ask,
): void {
  if (!product) return
  const others = layers.filter(({ band, unit, members }) => {
    if (!band.unit || members.role?.value === 'probability') return false
    return !unit || (unit.value !== product.unit && !(unit.value in KILOGRAMS && product.unit in KILOGRAMS))
  })
  for (const group of groupBy(others, ({ band }) => band.unit ?? '')) {
    const bands = group.map(({ band }) => band)
    const id = `unit ${bands[0]?.unit} of ${product.code}`
    if (answers.has(id)) continue
    const text = `${nameBands(bands)} has the unit "${bands[0]?.unit}": are the values in ${product.unit}?`
    ask({ id, member: 'unit', text, candidates: [YES], bands, isOpen: false, isYesNo: true })
  }
}

/** Of Float32: a larger fill leaves no digits of a mean. */
const MOST_REMOVED = 1e6

/** Without the pixels that are known to mean none; without statistics where they cannot be known. */
function withoutFill({ band, nodata }: CheckedLayer): LayerFacts {
  const { facts, offset } = band.measured as Measured
  const { raw, statistics, ...others } = facts
  const fill = [raw?.values.low, raw?.values.high].find((end) => end && String(end.value) === nodata?.value)
  if (!fill || !statistics) return facts
  const [own, next] = [fill.value, fill.next].map(
    (pixel) => (pixel ?? Number.NaN) * (facts.scale ?? 1) + offset,
  )
  const { validCount, mean, minimum, maximum } = statistics
  const count = validCount - fill.count
  if (mean === null || own === undefined || next === undefined || count === 0 || Math.abs(own) > MOST_REMOVED)
    return others
  const rest = (mean * validCount - own * fill.count) / count
  const end = (value: number | null) => (value === own ? next : value)
  return {
    ...others,
    statistics: { validCount: count, mean: rest, minimum: end(minimum), maximum: end(maximum) },
  }
}

function scaled(layer: CheckedLayer): LayerFacts {
  const { scale } = layer
  const facts = withoutFill(layer)
  if (!scale) return facts
  const factor = Number(scale.value) / (facts.scale ?? 1)
  const { statistics } = facts
  const by = (value: number | null | undefined) => (value == null ? null : value * factor)
  return {
    ...facts,
    scale: Number(scale.value),
    ...(statistics && {
      statistics: {
        validCount: statistics.validCount,
        minimum: by(statistics.minimum),
        maximum: by(statistics.maximum),
        mean: by(statistics.mean),
      },
    }),
  }
}

/** Why the scale of a layer may be wrong, and the scales that would mend it. */
interface Doubt {
  layer: CheckedLayer
  sentence: string
  scales: string[]
}

/** Values of another unit than the product's, or than the sisters'; one question for all with the same remedies. */
export function askScales(
  layers: readonly CheckedLayer[],
  release: DraftRelease,
  around: Around,
  ask: Ask,
): void {
  const measured = layers.filter(isMeasured)
  const found = measured.flatMap((layer) => doubtValues(layer, release, around) ?? [])
  const others = measured.filter((layer) => !found.some((doubt) => doubt.layer === layer))
  const sisters = groupBy(others, ({ members: { input, role } }) => `${input?.value} ${role?.value}`)
  const doubts = [...found, ...sisters.flatMap((group) => group.flatMap((one) => compareSisters(one, group)))]
  for (const group of groupBy(doubts, ({ scales }) => scales.join())) {
    const [{ sentence, scales, layer }] = group as [Doubt]
    const bands = group.map((one) => one.layer.band)
    const id = `scale ${nameBand(layer.band)} ${scales.join()}`.trim()
    const answer = around.answers.get(id)
    const [scale] =
      answer === undefined ? (scales.length === 1 ? scales : []) : answer === KEEP ? [] : [answer]
    const from = answer === undefined ? 'the question above' : 'answered'
    if (scale !== undefined) for (const one of group) one.layer.scale = { value: scale, from }
    if (answer !== undefined) continue
    const text = `${sentence}${alsoText(bands)}`
    ask({ id, member: 'scale', text, candidates: [...scales, KEEP], bands, isOpen: true })
  }
}

/** As the check of ranges finds it, or beside what is published. */
function doubtValues(
  layer: CheckedLayer,
  release: DraftRelease,
  { surroundings, published }: Around,
): Doubt | undefined {
  const { product } = release
  if (!surroundings || !product) return undefined
  const { extent, pixels } = measuredOf(layer)
  const labels = { unit: product.unit, origin: nameBand(layer.band), input: null, scenario: null }
  const facts = { ...scaled(layer), ...labels }
  const facing = { series: seriesOf(release), coverages: [{ extent, pixels, layers: [facts] }] }
  const [issue] = RANGE_CHECKS.flatMap((check) => check(facing, surroundings))
  const sentence = issue?.sentence ?? compareWithPublished(layer, facts, published)
  if (!sentence) return undefined
  const { factors = '' } = issue?.figures ?? {}
  const named = String(factors).split(', ').filter(Boolean).map(Number)
  const scales = named.map((factor) => shortNumber((facts.scale ?? 1) * factor))
  const read = layer.scale && ` That is with scale ${layer.scale.value} (${layer.scale.from}).`
  return { layer, sentence: `${sentence}${read ?? ''}`, scales }
}

/** Scales that are mistaken for each other: of tonnes, and of integers for decimals. */
const MISTAKEN = [1000, 100, 10, 0.1, 0.01, 0.001]

/** Between a mean and that of sisters that are right. */
const ALIKE = 2

/** One file in another unit than those beside it, where both are plausible. */
function compareSisters(layer: CheckedLayer, sisters: readonly CheckedLayer[]): Doubt[] {
  const meanOf = (one: CheckedLayer) => scaled(one).statistics?.mean ?? 0
  const own = meanOf(layer)
  const usual = median(
    sisters.flatMap((one) => (one === layer ? [] : meanOf(one))).filter((mean) => mean !== 0),
  )
  if (usual === undefined || own === 0) return []
  const factor = usual / own
  if (factor < FAR && factor > 1 / FAR) return []
  // Of two, one question says both.
  if (sisters.length === 2 && factor > 1) return []
  const mending = MISTAKEN.filter((one) => factor / one < ALIKE && factor / one > 1 / ALIKE)
  const scales = mending.map((one) => shortNumber((scaled(layer).scale ?? 1) * one))
  const sentence = `${nameBand(layer.band)} has a mean of ${shortNumber(own)}, and its sisters have ${shortNumber(usual)}: is it in the same unit?`
  return [{ layer, sentence, scales }]
}

function seriesOf({ head, product }: DraftRelease) {
  return {
    product: product?.code ?? '',
    countryCode: head.country?.value ?? '',
    cropCode: head.crop?.value ?? null,
    forecastPeriod: head.month ? `${head.month.value}-01` : null,
    synthetic: false,
  }
}

/** Beyond this factor a mean is of another unit, or of another thing. */
const FAR = 5

/** The layer with the same labels in what is published. */
export function findPublishedLayer(
  { members }: DraftLayer,
  published: Published | undefined,
): LayerSummary | undefined {
  const { input, scenario, condition, role } = members
  return published?.layers.find(
    (one) =>
      one.input === (input?.value ?? null) &&
      one.scenario === (scenario?.value ?? null) &&
      (one.condition === (condition?.value ?? null) || one.condition === null) &&
      one.role === (role?.value ?? null),
  )
}

function compareWithPublished(
  layer: CheckedLayer,
  { statistics }: LayerFacts,
  published: Published | undefined,
) {
  const before = findPublishedLayer(layer, published)
  const mean = statistics?.mean ?? 0
  if (!before?.mean || !mean) return undefined
  const factor = before.mean / mean
  if (factor < FAR && factor > 1 / FAR) return undefined
  return `${nameBand(layer.band)} has a mean of ${shortNumber(mean)}, and ${published?.code} has ${shortNumber(before.mean)}: is it in the same unit?`
}
