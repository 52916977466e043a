import type { CoveredPixels } from './blocks.ts'
import { type Scaling, type Summary, scaleSummary } from './summary.ts'
import type { TileBand } from './tiles.ts'

/** Area with values, and their sum weighted by area. */
export interface Side {
  area: number
  sum: number
}

export interface BoundedArea {
  least: number
  likely: number
  most: number
}

export interface Change {
  before: Side
  after: Side
  /** Without a value before. */
  gained: BoundedArea
  /** Without a value after. */
  lost: BoundedArea
  /** Differences beyond the threshold. */
  beyond: BoundedArea
}

export function noChange(): Change {
  const side = () => ({ area: 0, sum: 0 })
  const bounded = () => ({ least: 0, likely: 0, most: 0 })
  return { before: side(), after: side(), gained: bounded(), lost: bounded(), beyond: bounded() }
}

export function addChange(to: Change, other: Change): void {
  for (const side of ['before', 'after'] as const) {
    to[side].area += other[side].area
    to[side].sum += other[side].sum
  }
  for (const kind of ['gained', 'lost', 'beyond'] as const) addBounds(to[kind], other[kind])
}

/** Rounding: a value on the threshold is not beyond it. */
const ROUNDING = 1e-9

export function isBeyond(before: number, after: number, threshold: number): boolean {
  return Math.abs(after - before) > (threshold + ROUNDING) * Math.abs(before)
}

export class ChangeTally {
  readonly change = noChange()
  readonly #before: Scaling
  readonly #after: Scaling
  readonly #threshold: number

  /** @param threshold relative to the value before */
  constructor(before: Scaling, after: Scaling, threshold: number) {
    this.#before = before
    this.#after = after
    this.#threshold = threshold
  }

  /** Bands are undefined without any value. */
  addPixels(
    before: TileBand | undefined,
    after: TileBand | undefined,
    { indexes, areas }: CoveredPixels,
  ): void {
    let [gained, lost, beyond] = [0, 0, 0]
    for (let at = 0; at < areas.length; at++) {
      const area = areas[at] as number
      if (area === 0) continue
      const pixel = indexes[at] as number
      const had = before !== undefined && before.pixels[pixel] !== before.nodata
      const has = after !== undefined && after.pixels[pixel] !== after.nodata
      const old = had ? (before.pixels[pixel] as number) * this.#before.scale + this.#before.offset : 0
      const now = has ? (after.pixels[pixel] as number) * this.#after.scale + this.#after.offset : 0
      if (had) addValue(this.change.before, old, area)
      if (has) addValue(this.change.after, now, area)
      if (had && has) beyond += isBeyond(old, now, this.#threshold) ? area : 0
      else if (has) gained += area
      else if (had) lost += area
    }
    addBounds(this.change.gained, exactly(gained))
    addBounds(this.change.lost, exactly(lost))
    addBounds(this.change.beyond, exactly(beyond))
  }

  /**
   * Means are exact. Changed areas are exact if the summaries decide, else bounded by extremes and, for whole blocks,
   * by means and deviations.
   */
  addBlock(before: Summary, after: Summary, area: number): void {
    const most = Math.min(before.weight, after.weight)
    const least = Math.max(0, before.weight + after.weight - area)
    const common = { least: most - least <= NOISE * area ? most : least, likely: most, most }
    addBounds(this.change.gained, remaining(after.weight, common))
    addBounds(this.change.lost, remaining(before.weight, common))
    const old = scaleSummary(before, this.#before)
    const now = scaleSummary(after, this.#after)
    if (before.weight > 0) addValue(this.change.before, old.mean, before.weight)
    if (after.weight > 0) addValue(this.change.after, now.mean, after.weight)
    if (most === 0) return
    const isWhole = least >= (1 - NOISE) * area
    const [from, upTo] = shareBeyond(old, now, this.#threshold, isWhole)
    const likely = isBeyond(old.mean, now.mean, this.#threshold) ? upTo : from
    addBounds(this.change.beyond, {
      least: from * common.least,
      likely: likely * common.likely,
      most: upTo * common.most,
    })
  }
}

function addValue(side: Side, value: number, area: number): void {
  side.area += area
  side.sum += value * area
}

function exactly(area: number): BoundedArea {
  return { least: area, likely: area, most: area }
}

/** Rounding, relative to the area. */
const NOISE = 1e-9

/** The area with a value at one time only. */
function remaining(area: number, common: BoundedArea): BoundedArea {
  return { least: area - common.most, likely: area - common.likely, most: area - common.least }
}

function addBounds(to: BoundedArea, { least, likely, most }: BoundedArea): void {
  to.least += least
  to.likely += likely
  to.most += most
}

type ValueBounds = Omit<ReturnType<typeof scaleSummary>, 'weight'>

/** @param isWhole means and deviations are of the same pixels */
function shareBeyond(
  before: ValueBounds,
  after: ValueBounds,
  threshold: number,
  isWhole: boolean,
): [least: number, most: number] {
  if (before.maximum <= 0 && before.minimum < 0) {
    return shareBeyond(negated(before), negated(after), threshold, isWhole)
  }
  // A threshold relative to values of both signs is no line.
  if (before.minimum < 0) return [0, 1]
  const part = threshold + ROUNDING
  // Above: after - (1 + part) before > 0. Below: (1 - part) before - after > 0.
  const above = shareAbove(after, before, 1 + part, isWhole)
  const below = shareAbove(negated(after), negated(before), 1 - part, isWhole)
  return [Math.max(above[0], below[0]), Math.min(1, above[1] + below[1])]
}

/**
 * The share of pixels with `one - factor * other` above 0: by extremes, else by mean and deviation (Cantelli's
 * inequality; deviations add up at most).
 */
function shareAbove(
  one: ValueBounds,
  other: ValueBounds,
  factor: number,
  isWhole: boolean,
): [least: number, most: number] {
  const products = [factor * other.minimum, factor * other.maximum]
  if (one.minimum - Math.max(...products) > 0) return [1, 1]
  if (one.maximum - Math.min(...products) <= 0) return [0, 0]
  if (!isWhole) return [0, 1]
  const mean = one.mean - factor * other.mean
  const variance = (one.deviation + Math.abs(factor) * other.deviation) ** 2
  const beyondMean = variance / (variance + mean * mean)
  if (mean > 0) return [1 - beyondMean, 1]
  return mean < 0 ? [0, beyondMean] : [0, 1]
}

function negated({ minimum, maximum, mean, deviation }: ValueBounds): ValueBounds {
  return { minimum: -maximum, maximum: -minimum, mean: -mean, deviation }
}
