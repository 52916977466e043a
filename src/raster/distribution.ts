/** A weighted quantile, and how far the exact one can lie from it. */
export interface Quantile {
  quantile: number
  value: number
  /** 0 where it is exact. */
  error: number
}

/** A part of the values: from a value to another, which belongs to the next one, or a single value. */
export interface HistogramBin {
  from: number
  to: number
  /** The part of the weight that has them, from 0 to 1. */
  share: number
  /** How far the exact share can lie from it; 0 where it is exact. */
  error: number
}

/** What is to be told of how values are distributed. */
export interface DistributionWanted {
  quantiles: number[]
  /** Bins of a histogram; 0 for none. */
  bins: number
}

/** How much memory a distribution may take, in numbers. */
export interface DistributionRoom {
  /** Cells that its values are sorted into: their width is the error where there are too many values. */
  cells: number
  /** So many values are kept, so that all is exact. */
  values: number
}

/** Of some values and the area of each: the summary of a block. */
export interface ValueRange {
  minimum: number
  maximum: number
  mean: number
  deviation: number
  weight: number
}

/** Of ranges, weight by the cell of their lower end, their upper end and where they most likely are. */
interface RangeWeights {
  lows: Float64Array
  highs: Float64Array
  likely: Float64Array
}

type WeightedValue = [value: number, weight: number]

/** Below this part of all weight, a difference is the noise of rounding. */
const NOISE = 2 ** -40

/**
 * How values between two ends are distributed, each with a weight. Values that are known by their range alone count
 * as what they have been at least and at most, which bounds how far off a quantile may be.
 */
export class Distribution {
  readonly #minimum: number
  readonly #maximum: number
  readonly #wanted: DistributionWanted
  readonly #cells: number
  /** Of single values: weight by cell, and the smallest and largest of each. */
  readonly #weights: Float64Array
  readonly #lowest: Float64Array
  readonly #highest: Float64Array
  #ranges: RangeWeights | undefined
  /** The values themselves, by turns with their weights; undefined where there are too many. */
  #kept: number[] | undefined = []
  readonly #mostKept: number
  /** Of cells that quantiles lie in; all values have been added by then. */
  readonly #sorted = new Map<number, WeightedValue[]>()
  readonly #histogram: Float64Array
  readonly #certain: Float64Array
  readonly #possible: Float64Array
  /** The weights of different values; undefined where there are more of them than bins. */
  #classes: Map<number, number> | undefined = new Map()
  #total = 0

  constructor(minimum: number, maximum: number, wanted: DistributionWanted, room: DistributionRoom) {
    this.#minimum = minimum
    this.#maximum = maximum
    this.#wanted = wanted
    this.#cells = room.cells
    this.#mostKept = room.values
    this.#weights = new Float64Array(room.cells)
    this.#lowest = new Float64Array(room.cells).fill(Number.POSITIVE_INFINITY)
    this.#highest = new Float64Array(room.cells).fill(Number.NEGATIVE_INFINITY)
    this.#histogram = new Float64Array(wanted.bins)
    this.#certain = new Float64Array(wanted.bins)
    this.#possible = new Float64Array(wanted.bins)
  }

  add(value: number, weight: number): void {
    this.#total += weight
    const cell = this.#placeOf(value, this.#cells)
    this.#weights[cell] = (this.#weights[cell] as number) + weight
    if (value < (this.#lowest[cell] as number)) this.#lowest[cell] = value
    if (value > (this.#highest[cell] as number)) this.#highest[cell] = value
    if (this.#kept) {
      this.#kept.push(value, weight)
      if (this.#kept.length > 2 * this.#mostKept) this.#kept = undefined
    }
    if (this.#wanted.bins > 0) this.#count(value, weight)
  }

  #count(value: number, weight: number): void {
    const bin = this.#placeOf(value, this.#wanted.bins)
    for (const sums of [this.#histogram, this.#certain, this.#possible]) {
      sums[bin] = (sums[bin] as number) + weight
    }
    this.#classes?.set(value, (this.#classes.get(value) ?? 0) + weight)
    if (this.#classes && this.#classes.size > this.#wanted.bins) this.#classes = undefined
  }

  /** Adds values of which the range is known, and that they have their mean and deviation. */
  addRange({ minimum, maximum, mean, deviation, weight }: ValueRange): void {
    if (minimum === maximum) {
      this.add(minimum, weight)
      return
    }
    this.#total += weight
    this.#kept = undefined
    this.#classes = undefined
    const { bins } = this.#wanted
    this.#ranges ??= {
      lows: new Float64Array(this.#cells),
      highs: new Float64Array(this.#cells),
      likely: new Float64Array(this.#cells),
    }
    addTo(this.#ranges.lows, this.#placeOf(minimum, this.#cells), weight)
    addTo(this.#ranges.highs, this.#placeOf(maximum, this.#cells), weight)
    // Two values with the same mean and deviation stand for all of them.
    for (const side of [-deviation, deviation]) {
      const value = Math.min(maximum, Math.max(minimum, mean + side))
      addTo(this.#ranges.likely, this.#placeOf(value, this.#cells), weight / 2)
      if (bins > 0) addTo(this.#histogram, this.#placeOf(value, bins), weight / 2)
    }
    if (bins === 0) return
    const [first, last] = [this.#placeOf(minimum, bins), this.#placeOf(maximum, bins)]
    if (first === last) addTo(this.#certain, first, weight)
    for (let bin = first; bin <= last; bin++) addTo(this.#possible, bin, weight)
  }

  /**
   * The weighted quantiles, one at a time: the smallest value that, with all smaller ones, has at least that part of
   * the weight (Hyndman and Fan, 1996, definition 1: the inverse of the empirical distribution function).
   */
  *quantiles(): Generator<Quantile> {
    for (const quantile of this.#wanted.quantiles) {
      yield { quantile, ...(this.#ranges ? this.#boundedQuantile(quantile) : this.#quantile(quantile)) }
    }
  }

  #quantile(part: number): { value: number; error: number } {
    const { cell, before } = this.#cellAt(part, [this.#weights])
    const [low, high] = [this.#lowest[cell] as number, this.#highest[cell] as number]
    if (low === high) return { value: low, error: 0 }
    if (!this.#kept) return { value: (low + high) / 2, error: (high - low) / 2 }
    const wanted = this.#weightOf(part)
    let sum = before
    for (const [value, weight] of this.#sortedIn(cell, this.#kept)) {
      sum += weight
      if (sum >= wanted) return { value, error: 0 }
    }
    return { value: high, error: 0 }
  }

  /** The values of a cell with their weights, in their order. Quantiles of one cell have them sorted once. */
  #sortedIn(cell: number, kept: number[]): WeightedValue[] {
    const known = this.#sorted.get(cell)
    if (known) return known
    const inside: WeightedValue[] = []
    for (let at = 0; at < kept.length; at += 2) {
      const value = kept[at] as number
      if (this.#placeOf(value, this.#cells) === cell) inside.push([value, kept[at + 1] as number])
    }
    inside.sort(([a], [b]) => a - b)
    this.#sorted.set(cell, inside)
    return inside
  }

  /** Between the quantile of the lower ends and that of the upper ones. */
  #boundedQuantile(part: number): { value: number; error: number } {
    const { lows, highs, likely } = this.#ranges as RangeWeights
    const edge = (cell: number) => this.#minimum + (cell / this.#cells) * (this.#maximum - this.#minimum)
    const low = edge(this.#cellAt(part, [this.#weights, lows]).cell)
    const high = edge(this.#cellAt(part, [this.#weights, highs]).cell + 1)
    const middle = edge(this.#cellAt(part, [this.#weights, likely]).cell + 0.5)
    const value = Math.min(high, Math.max(low, middle))
    return { value, error: Math.max(high - value, value - low) }
  }

  /** The cell in which sums of weights reach a part of all weight, and what lies before it. */
  #cellAt(part: number, sums: Float64Array[]): { cell: number; before: number } {
    const wanted = this.#weightOf(part)
    let before = 0
    let last = 0
    for (let cell = 0; cell < this.#cells; cell++) {
      let weight = 0
      for (const weights of sums) weight += weights[cell] as number
      if (weight === 0) continue
      if (before + weight >= wanted) return { cell, before }
      before += weight
      last = cell
    }
    return { cell: last, before }
  }

  #weightOf(part: number): number {
    return (part - NOISE) * this.#total
  }

  /**
   * How much of the weight has which values: of as many classes as there are different values, or else in bins of
   * the same width.
   */
  histogram(): HistogramBin[] {
    const { bins } = this.#wanted
    if (this.#classes && bins > 0) {
      return [...this.#classes]
        .sort(([a], [b]) => a - b)
        .map(([value, weight]) => ({ from: value, to: value, share: weight / this.#total, error: 0 }))
    }
    const edge = (bin: number) => this.#minimum + (bin / bins) * (this.#maximum - this.#minimum)
    return Array.from(this.#histogram, (weight, bin) => {
      const [certain, possible] = [this.#certain[bin] as number, this.#possible[bin] as number]
      const error = Math.max(possible - weight, weight - certain, 0) / this.#total
      return {
        from: edge(bin),
        to: edge(bin + 1),
        share: weight / this.#total,
        error: error < NOISE ? 0 : error,
      }
    })
  }

  /** In which of so many equal parts of the way from end to end a value lies. */
  #placeOf(value: number, parts: number): number {
    const length = this.#maximum - this.#minimum
    if (length === 0) return 0
    const place = Math.floor(((value - this.#minimum) / length) * parts)
    return Math.min(parts - 1, Math.max(0, place))
  }
}

function addTo(sums: Float64Array, place: number, weight: number): void {
  sums[place] = (sums[place] as number) + weight
}
