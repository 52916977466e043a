import { RESTATING_SCENARIOS, SCENARIOS } from '#schemas/glossary.ts'
import type { LayerSummary } from '#src/catalog/release-queries.ts'
import { RANGE_CHECKS } from '#src/ingest/checks/ranges.ts'
import { findApart, type LayerFacts, nodataStep, type Surroundings } from '#src/ingest/checks/rules.ts'
import type { Extreme } from '#src/ingest/statistics.ts'
import { percentText, shortNumber } from '#src/lib/round.ts'
import { sameGrid } from '#src/raster/grid.ts'
import type { Band, Measured } from './bands.ts'
import type { Guess } from './labels.ts'
import { type Answers, KEEP, LEAVE_OUT, nameBand, nameBands, type Question, TILES, YES } from './questions.ts'
import type { DraftLayer, DraftRelease } from './releases.ts'

/** A layer with what its pixels say. */
export interface CheckedLayer extends DraftLayer {
  scale: Guess | undefined
  nodata: Guess | undefined
}

/** What is published of the same product, country and crop. */
export interface Published {
  code: string
  layers: readonly LayerSummary[]
}

export interface Checked {
  layers: CheckedLayer[]
  questions: Question[]
  leftOut: { file: string; reason: string }[]
}

interface Around {
  surroundings: Surroundings | undefined
  published: Published | undefined
  answers: Answers
  /** Files for one layer that lie side by side, by the ids of their questions. */
  adjacent: ReadonlySet<string>
}

/** Compares the bands of a release with each other, with usual values, and with the published release. */
export function checkRelease(release: DraftRelease, around: Around): Checked {
  const { answers } = around
  const questions: Question[] = []
  const leftOut: Checked['leftOut'] = []
  const ask = (question: Question) => void questions.push(question)
  const layers = release.layers
    .filter((layer) => {
      const isOut = isLeftOut(layer, release.layers, answers)
      if (isOut) leftOut.push({ file: nameBand(layer.band), reason: 'as answered' })
      return !isOut
    })
    .map((layer): CheckedLayer => ({ ...layer, scale: convert(layer, release), nodata: undefined }))
  for (const group of groupBy(layers, keyOf)) askTwice(group, release, around, ask)
  const isOfSeasons = release.product?.seasonal !== false
  const roleOf = ({ members }: DraftLayer) => members.role?.value ?? ''
  for (const sisters of groupBy(layers, isOfSeasons ? sisterKey : roleOf)) {
    askGrids(sisters, answers, ask)
    askNodata(sisters, layers, answers, ask)
  }
  askUnits(layers, release, answers, ask)
  // A fill says nothing of the scale.
  const filled = questions.filter(({ member }) => member === 'nodata').flatMap(({ bands }) => bands)
  const others = layers.filter(({ band, nodata }) => !nodata && !filled.includes(band))
  askScales(others, release, around, ask)
  askMissing(layers, release, answers, ask)
  askOrphans(layers, ask)
  return { layers, questions, leftOut }
}

export const keyOf = ({ members: { input, scenario, condition, role } }: DraftLayer) =>
  JSON.stringify([input?.value, scenario?.value, condition?.value, role?.value])

/** Layers that differ by their scenario alone. */
const sisterKey = ({ members: { input, condition, role } }: DraftLayer) =>
  JSON.stringify([input?.value, condition?.value, role?.value])

export function groupBy<Item>(items: readonly Item[], key: (item: Item) => string): Item[][] {
  const groups = new Map<string, Item[]>()
  for (const item of items) groups.set(key(item), [...(groups.get(key(item)) ?? []), item])
  return [...groups.values()]
}

function labelsText({ members }: DraftLayer): string {
  const { input, scenario, condition, role } = members
  return [input, scenario, condition, role].flatMap((one) => one?.value ?? []).join(', ') || 'the same layer'
}

function isLeftOut(layer: DraftLayer, all: readonly DraftLayer[], answers: Answers): boolean {
  const name = nameBand(layer.band)
  if ([`grid ${name}`, `nodata ${name}`].some((id) => answers.get(id) === LEAVE_OUT)) return true
  const twins = all.filter((other) => keyOf(other) === keyOf(layer))
  const kept = twins.length > 1 ? answers.get(twiceId(twins)) : undefined
  return kept !== undefined && kept !== name
}

export const twiceId = (twins: readonly DraftLayer[]) =>
  `twice ${twins.map(({ band }) => nameBand(band)).join(' ')}`

type Ask = (question: Question) => void

/** What is not known yet may distinguish files. */
export function lacksLabels({ members }: DraftLayer, product: DraftRelease['product']): boolean {
  if (!product) return true
  const hasInput = product.input === null || members.role?.value === 'probability' || members.input
  return !hasInput || (product.seasonal && !members.scenario)
}

/** Several files for one layer: which counts is never chosen. */
function askTwice(
  twins: readonly CheckedLayer[],
  { product }: DraftRelease,
  { answers, adjacent }: Around,
  ask: Ask,
): void {
  const [first] = twins
  const id = twiceId(twins)
  if (!first || twins.length === 1 || answers.has(id) || lacksLabels(first, product)) return
  const bands = twins.map(({ band }) => band)
  const names = bands.map(nameBand)
  const isSideBySide = adjacent.has(id)
  const doubt = isSideBySide ? ', and lie side by side: are they tiles of it?' : ': which one counts?'
  const text = `${names.join(' and ')} are ${names.length === 2 ? 'both' : 'all'} for ${labelsText(first)}${doubt}`
  const candidates = isSideBySide ? [TILES, ...names] : names
  ask({ id, member: 'file', text, candidates, bands, isOpen: false })
}

const measuredOf = (layer: CheckedLayer) => layer.band.measured as Measured

/** The grid that most sisters have. */
function askGrids(sisters: readonly CheckedLayer[], answers: Answers, ask: Ask): void {
  const measured = sisters.filter(({ band }) => band.measured)
  const grids = measured.map((layer) => ({
    layer,
    same: measured.filter((other) => sameGrid(measuredOf(layer).grid, measuredOf(other).grid)).length,
  }))
  const [most] = grids.toSorted((a, b) => b.same - a.same)
  for (const { layer, same } of grids) {
    const id = `grid ${nameBand(layer.band)}`
    if (!most || same === most.same || answers.has(id)) continue
    const [own, other] = [measuredOf(layer).grid, measuredOf(most.layer).grid]
    const crs = own.srid === other.srid ? '' : `, in the CRS ${own.srid} instead of ${other.srid}`
    const text = `${nameBand(layer.band)} has another grid than its sisters (${own.width} x ${own.height} pixels instead of ${other.width} x ${other.height}${crs}): publish it on its own grid?`
    ask({ id, member: 'file', text, candidates: [KEEP, LEAVE_OUT], bands: [layer.band], isOpen: false })
  }
}

/** In shares of the pixels: less may be a coast. */
const CLEARLY = 0.02

/** Of the difference, by which a value may fill more or less. */
const FILLED = 0.1

/** Of the pixels, and of those at the edges of the grid. */
const WIDE_FILL = 0.1
const MOST_OF_FRAME = 0.5

/**
 * Sisters of one input have values at the same places: one value that fills the rest means none. A layer without sisters on
 * its grid is compared with all of the release.
 */
function askNodata(
  sisters: readonly CheckedLayer[],
  all: readonly CheckedLayer[],
  answers: Answers,
  ask: Ask,
): void {
  const sharesOf = (layer: CheckedLayer, among: readonly CheckedLayer[]) =>
    among
      .filter((other) => other !== layer && isMeasured(other) && isOnGridOf(layer, other))
      .map(({ band }) => band.measured?.share ?? 0)
  const usualOf = (layer: CheckedLayer, among = sisters) =>
    median(sharesOf(layer, among)) ?? median(sharesOf(layer, all)) ?? measuredOf(layer).share
  const found = sisters.filter(isMeasured).map((layer) => {
    const usual = usualOf(layer)
    const isLone = sharesOf(layer, all).length === 0
    const value = findFill(measuredOf(layer), measuredOf(layer).share - usual, isLone)
    return { layer, usual, value }
  })
  const whole = found.filter(({ value }) => value === undefined).map(({ layer }) => layer)
  for (const { layer } of found.filter(({ value }) => value === undefined)) {
    const { share } = measuredOf(layer)
    const usual = median(sharesOf(layer, whole)) ?? share
    const id = `nodata ${nameBand(layer.band)}`
    if (usual - share <= CLEARLY || answers.has(id)) continue
    const text = `${sharesText(layer, usual)}: is its file whole?`
    ask({ id, member: 'nodata', text, candidates: [KEEP, LEAVE_OUT], bands: [layer.band], isOpen: false })
  }
  for (const group of groupBy(found, ({ value }) => String(value))) askFill(group, answers, ask)
}

/** One question for all with one value. A layer has one nodata value: a second one is replaced in its file. */
function askFill(
  group: readonly { layer: CheckedLayer; usual: number; value: number | undefined }[],
  answers: Answers,
  ask: Ask,
): void {
  const [{ layer, usual, value }] = group as [(typeof group)[number]]
  if (value === undefined) return
  const bands = group.map((one) => one.layer.band)
  const id = `nodata ${value} ${nameBand(layer.band)}`
  const { facts, pixels, share } = measuredOf(layer)
  const isTaken = facts.about?.nodata !== undefined && share < 1
  const answer = answers.get(id)
  const nodata = isTaken || answer === KEEP ? undefined : (answer ?? String(value))
  const from = answer === undefined ? 'the question above' : 'answered'
  if (nodata !== undefined) for (const one of group) one.layer.nodata = { value: nodata, from }
  if (answer !== undefined) return
  const part = percentText(fillCount(facts, value) / pixels)
  const step = isTaken ? ` ${nodataStep([facts], value)}` : ''
  const text = `${shortNumber(value)} is in ${part} of the pixels of ${nameBand(layer.band)}: does it mean none? ${sharesText(layer, usual)}.${step}${alsoText(bands)}`
  const candidates = isTaken ? [KEEP] : [String(value), KEEP]
  ask({ id, member: 'nodata', text, candidates, bands, isOpen: !isTaken })
}

function isMeasured({ band, members }: CheckedLayer): boolean {
  return band.measured !== undefined && members.role?.value !== 'probability'
}

function sharesText({ band }: CheckedLayer, usual: number): string {
  const share = band.measured?.share ?? 0
  const beside =
    Math.abs(usual - share) > CLEARLY ? `, and ${percentText(usual)} of those of its sisters` : ''
  return `${percentText(share)} of the pixels of ${nameBand(band)} have a value${beside}`
}

function isOnGridOf(one: CheckedLayer, other: CheckedLayer): boolean {
  return sameGrid(measuredOf(one).grid, measuredOf(other).grid)
}

/** Of two the lower one: a fill makes shares larger. */
function median(numbers: readonly number[]): number | undefined {
  return numbers.toSorted((a, b) => a - b)[Math.floor((numbers.length - 1) / 2)]
}

function fillCount({ raw }: LayerFacts, value: number): number {
  return [raw?.values.low, raw?.values.high].find((end) => end?.value === value)?.count ?? 0
}

/**
 * The value that fills what sisters lack, stands apart from all others, or lies all around.
 *
 * @param more share of the pixels
 * @param isLone no other layer shows where values are: many zeros may be a fill
 */
function findFill({ facts, pixels, share }: Measured, more: number, isLone: boolean): number | undefined {
  const { low, high } = facts.raw?.values ?? {}
  const ends = [low, high].filter((end) => end != null)
  if (more > CLEARLY) {
    const filling = ends.find(({ count }) => Math.abs(count / pixels - more) <= more * FILLED)
    if (filling) return filling.value
  }
  const apart = findApart(facts)
  if (apart) return apart.value
  const { frame } = facts.raw ?? {}
  if (share === 1 && frame) {
    // Countries do not fill the rectangle around them.
    const around = [frame.values.low, frame.values.high].filter(
      (end) => end != null && end.count > frame.values.count * MOST_OF_FRAME,
    )
    const filling = ends.find(
      ({ value, next }) => next !== null && around.some((end) => end?.value === value),
    )
    if (filling && filling.count / pixels > WIDE_FILL) return filling.value
  }
  const isZero = ({ value, count, next }: Extreme) =>
    value === 0 && next !== null && count / pixels > WIDE_FILL
  return isLone && ends.some(isZero) ? 0 : undefined
}

/** In kilograms a hectare. */
const KILOGRAMS: Record<string, number> = { 'kg/ha': 1, 't/ha': 1000, 'q/ha': 100 }

/** From the unit that the file says into that of the product. */
function convert({ unit, band, members }: DraftLayer, { product }: DraftRelease): Guess | undefined {
  if (!unit || !product || members.role?.value === 'probability') return undefined
  const [from, to] = [KILOGRAMS[unit.value], KILOGRAMS[product.unit]]
  if (from === undefined || to === undefined || from === to) return undefined
  const own = band.measured?.facts.scale ?? 1
  return { value: shortNumber((own * from) / to), from: `${unit.from}: ${unit.value} into ${product.unit}` }
}

/** A unit that the file says, and that is none of the product's kind. */
function askUnits(
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
    ask({ id, member: 'unit', text, candidates: [YES], bands, isOpen: false })
  }
}

function scaled({ band, scale }: CheckedLayer): LayerFacts {
  const { facts } = band.measured as Measured
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
function askScales(layers: readonly CheckedLayer[], release: DraftRelease, around: Around, ask: Ask): void {
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

function alsoText({ length }: readonly Band[]): string {
  return length > 1 ? ` The same holds for ${length - 1} more.` : ''
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

/** Inputs and conditions that lack a scenario which others of the release have. */
function askMissing(
  layers: readonly CheckedLayer[],
  { product }: DraftRelease,
  answers: Answers,
  ask: Ask,
): void {
  if (!product?.seasonal) return
  const values = layers.filter(({ members }) => !members.role)
  const all = new Set(values.flatMap(({ members }) => members.scenario?.value ?? []))
  const missing = groupBy(values, sisterKey).flatMap((group) => {
    const [first] = group as [CheckedLayer]
    // Not yet known ones may be those that lack.
    if (group.some(({ members }) => !members.scenario)) return []
    const has = new Set(group.map(({ members }) => members.scenario?.value))
    const names = SCENARIOS.map(({ scenario }) => scenario).filter((name) => all.has(name) && !has.has(name))
    const { scenario: _, ...members } = first.members
    const of = labelsText({ ...first, members })
    return names.map((name) => ({
      band: first.band,
      says: of === 'the same layer' ? name : `${of}, ${name}`,
    }))
  })
  if (missing.length === 0) return
  const says = missing.map((one) => one.says).join('; ')
  const id = `missing ${product.code} ${says}`
  if (answers.has(id)) return
  const bands = [...new Set(missing.map(({ band }) => band))]
  const text = `there is no file for ${says}: publish without?`
  ask({ id, member: 'layers', text, candidates: [YES], bands, isOpen: false })
}

/** Ranges without the layer that they are about. */
function askOrphans(layers: readonly CheckedLayer[], ask: Ask): void {
  const isBase = (layer: DraftLayer, { members: { input, scenario, condition } }: DraftLayer) =>
    !layer.members.role &&
    layer.members.input?.value === input?.value &&
    layer.members.scenario?.value === scenario?.value &&
    layer.members.condition?.value === condition?.value
  const orphans = layers.filter((layer) => {
    const role = layer.members.role?.value
    if (!role) return false
    if (role === 'probability') {
      const { value = '' } = layer.members.scenario ?? {}
      const isOne = ({ members }: DraftLayer) => !members.role && members.scenario?.value === value
      return RESTATING_SCENARIOS.includes(value) || !layers.some(isOne)
    }
    return !layers.some((other) => isBase(other, layer))
  })
  const [first] = orphans
  if (!first) return
  const bands: Band[] = orphans.map(({ band }) => band)
  const text = `there is no layer that ${nameBands(bands)} ${bands.length === 1 ? 'is' : 'are'} about (${labelsText(first)})`
  ask({ id: `orphan ${nameBand(first.band)}`, member: 'role', text, candidates: [], bands, isOpen: false })
}
