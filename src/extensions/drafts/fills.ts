import type { ProductDefinition } from '#schemas/products/define.ts'
import { findApart, type LayerFacts, nodataStep } from '#src/ingest/checks/rules.ts'
import type { Extreme } from '#src/ingest/statistics.ts'
import { percentText, shortNumber } from '#src/lib/round.ts'
import { sameGrid } from '#src/raster/grid.ts'
import type { Measured } from './bands.ts'
import { type Ask, alsoText, type CheckedLayer, isMeasured, measuredOf, median } from './layers.ts'
import { type Answers, answered, groupBy, KEEP, keepOrLeave, nameBand } from './questions.ts'
import type { DraftRelease } from './releases.ts'

/** In shares of the pixels: less may be a coast. */
const CLEARLY = 0.02

/** Of the difference, by which a value may fill more or less. */
const FILLED = 0.1

/** Of the pixels, and of those at the edges of the grid. */
const WIDE_FILL = 0.1
const MOST_OF_FRAME = 0.5

/** Values that are a thousand times too large or too small are amounts in another unit. */
const ANY_UNIT = 0.001

/**
 * Sisters of one input have values at the same places: one value that fills the rest means none. A layer without sisters on
 * its grid is compared with all of the release.
 */
export function askNodata(
  sisters: readonly CheckedLayer[],
  all: readonly CheckedLayer[],
  { product }: DraftRelease,
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
    const fill = findFill(measuredOf(layer), measuredOf(layer).share - usual, isLone)
    const sure = product && findNoAmount(measuredOf(layer), fill, product.plausible)
    return { layer, usual, value: sure ?? fill, isSure: sure !== undefined }
  })
  const whole = found.filter(({ value }) => value === undefined).map(({ layer }) => layer)
  for (const { layer } of found.filter(({ value }) => value === undefined)) {
    const { share } = measuredOf(layer)
    const usual = median(sharesOf(layer, whole)) ?? share
    const id = `nodata ${nameBand(layer.band)}`
    if (usual - share <= CLEARLY || answers.has(id)) continue
    const text = `${sharesText(layer, usual)}: is its file whole?`
    ask(keepOrLeave(id, 'nodata', text, layer.band))
  }
  for (const group of groupBy(found, ({ value, isSure }) => `${value} ${isSure}`))
    askFill(group, product?.unit, answers, ask)
}

/**
 * The fill, or else the lone value far from all others, that is no amount in any unit, where all others are amounts.
 *
 * @param fill that is found already
 */
function findNoAmount(
  { facts, offset }: Measured,
  fill: number | undefined,
  { minimum, maximum }: ProductDefinition['plausible'],
): number | undefined {
  const { low, high } = facts.raw?.values ?? {}
  if (!low || !high) return undefined
  const isAmount = (pixel: number) => {
    const value = (pixel * (facts.scale ?? 1) + offset) * ANY_UNIT
    return value >= minimum && value <= maximum
  }
  const found = [low, high].find(({ value, next }, at) => {
    const others: [number, number] = [next ?? value, (at === 0 ? high : low).value]
    const isFar = Math.abs(value - others[0]) > Math.max(...others.map(Math.abs))
    return !isAmount(value) && others.every(isAmount) && (value === fill || (fill === undefined && isFar))
  })
  return found?.value
}

/** One question for all with one value. A layer has one nodata value: a second one is replaced in its file. */
function askFill(
  group: readonly { layer: CheckedLayer; usual: number; value: number | undefined; isSure: boolean }[],
  unit: string | undefined,
  answers: Answers,
  ask: Ask,
): void {
  const [{ layer, usual, value, isSure }] = group as [(typeof group)[number]]
  if (value === undefined) return
  const bands = group.map((one) => one.layer.band)
  const id = `nodata ${value} ${nameBand(layer.band)}`
  const { facts, pixels, share } = measuredOf(layer)
  const isTaken = facts.about?.nodata !== undefined && share < 1
  const answer = answers.get(id)
  const nodata = isTaken || answer === KEEP ? undefined : (answer ?? String(value))
  const part = percentText(fillCount(facts, value) / pixels)
  const isClear = isSure && !isTaken
  const from = isClear
    ? `in ${part} of the pixels, and no amount in ${unit}: it means none`
    : 'the question above'
  if (nodata !== undefined)
    for (const one of group)
      one.layer.nodata = answer === undefined ? { value: nodata, from } : answered(answer)
  if (answer !== undefined || isClear) return
  const step = isTaken ? ` ${nodataStep([facts], value)}` : ''
  const text = `${shortNumber(value)} is in ${part} of the pixels of ${nameBand(layer.band)}: does it mean none? ${sharesText(layer, usual)}.${step}${alsoText(bands)}`
  const candidates = isTaken ? [KEEP] : [String(value), KEEP]
  ask({ id, member: 'nodata', text, candidates, bands, isOpen: !isTaken, isYesNo: !isTaken })
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
