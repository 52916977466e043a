import { CellValues, ValueCells, valueAt } from './value-cells.ts'
import { type HistogramBin, ValueHistogram } from './value-histogram.ts'
import {
  addTo,
  type Ends,
  likelyValuesOf,
  placeIn,
  type ValueRange,
  type WeighedBand,
} from './value-range.ts'

/** A weighted quantile, and how far the exact one can lie from it. */
export interface Quantile {
  quantile: number
  value: number
  /** 0 where it is exact. */
  error: number
}

/** What is to be told of how values are distributed. */
export interface DistributionWanted {
  quantiles: number[]
  /** Bins of a histogram; 0 for none. */
  bins: number
}

/** How much memory a distribution may take. */
export interface DistributionRoom {
  /** Cells that its values are sorted into: their width is the error of a quantile where no values are kept. */
  cells: number
  /** Whether the arrays with its values are kept until it is asked, so that all is exact. */
  keepsValues: boolean
}

/** Of ranges, weight by the cell of their lower end, their upper end and where they most likely are. */
interface RangeWeights {
  lows: Float64Array
  highs: Float64Array
  likely: Float64Array
}

/** Below this part of all weight, a difference is the noise of rounding. */
const NOISE = 2 ** -40

/**
 * How values between two ends are distributed, each with a weight. Values that are known by their range alone count
 * as what they have been at least and at most, which bounds how far off a quantile may be.
 */
export class Distribution {
  readonly #wanted: DistributionWanted
  /** Of single values. */
  readonly #cells: ValueCells
  #ranges: RangeWeights | undefined
  #weightOfRanges = 0
  /** The values themselves; undefined where they are not kept. */
  readonly #kept: WeighedBand[] | undefined
  readonly #histogram: ValueHistogram | undefined

  constructor(ends: Ends, wanted: DistributionWanted, { cells, keepsValues }: DistributionRoom) {
    this.#wanted = wanted
    this.#cells = new ValueCells(ends, cells)
    this.#kept = keepsValues ? [] : undefined
    this.#histogram = wanted.bins > 0 ? new ValueHistogram(ends, wanted.bins) : undefined
  }

  /** Adds pixels, whose arrays must not change any more. */
  addPixels(band: WeighedBand): void {
    this.#kept?.push(band)
    this.#histogram?.addPixels(band)
    this.#cells.addPixels(band)
  }

  /** Adds values of which the range is known, and that they have their mean and deviation: none may be kept then. */
  addRange(range: ValueRange): void {
    this.#histogram?.addRange(range)
    const { minimum, maximum, weight } = range
    if (minimum === maximum) {
      this.#cells.addValue(minimum, weight)
      return
    }
    const { parts, count } = this.#cells
    this.#weightOfRanges += weight
    this.#ranges ??= {
      lows: new Float64Array(count),
      highs: new Float64Array(count),
      likely: new Float64Array(count),
    }
    const { lows, highs, likely } = this.#ranges
    addTo(lows, placeIn(parts, minimum), weight)
    addTo(highs, placeIn(parts, maximum), weight)
    for (const value of likelyValuesOf(range)) addTo(likely, placeIn(parts, value), weight / 2)
  }

  /**
   * The weighted quantiles: the smallest value that, with all smaller ones, has at least that part of the weight
   * (Hyndman and Fan, 1996, definition 1: the inverse of the empirical distribution function).
   *
   * @yields them one at a time; undefined now and then in between, where it can be left alone
   */
  *quantiles(): Generator<Quantile | undefined> {
    if (this.#kept) {
      yield* this.#exactQuantiles(this.#kept)
      return
    }
    for (const quantile of this.#wanted.quantiles) {
      yield { quantile, ...(this.#ranges ? this.#boundedQuantile(quantile) : this.#cellQuantile(quantile)) }
    }
  }

  *#exactQuantiles(kept: WeighedBand[]): Generator<Quantile | undefined> {
    const places = this.#wanted.quantiles.map((quantile) => {
      const { cell, before } = this.#cells.placeAt(this.#weightOf(quantile))
      return { quantile, cell, before, ends: this.#cells.endsOf(cell) }
    })
    const open = places.filter(({ ends }) => ends.minimum < ends.maximum).map(({ cell }) => cell)
    const values = new CellValues(this.#cells, open, kept[0] as WeighedBand)
    for (const band of open.length > 0 ? kept : []) {
      values.addPixels(band)
      yield undefined
    }
    for (const { quantile, cell, before, ends } of places) {
      const wanted = this.#weightOf(quantile) - before
      const value = open.includes(cell) ? valueAt(values.of(cell), ends, wanted) : ends.minimum
      yield { quantile, value, error: 0 }
    }
  }

  /** In the middle of the values of a cell. */
  #cellQuantile(part: number): { value: number; error: number } {
    const { minimum, maximum } = this.#cells.endsOf(this.#cells.placeAt(this.#weightOf(part)).cell)
    return { value: (minimum + maximum) / 2, error: (maximum - minimum) / 2 }
  }

  /** Between the quantile of the lower ends and that of the upper ones. */
  #boundedQuantile(part: number): { value: number; error: number } {
    const { lows, highs, likely } = this.#ranges as RangeWeights
    const { ends, count, weights } = this.#cells
    const edge = (cell: number) => ends.minimum + (cell / count) * (ends.maximum - ends.minimum)
    const cellOf = (sums: Float64Array) => this.#cells.placeAt(this.#weightOf(part), [weights, sums]).cell
    const low = edge(cellOf(lows))
    const high = edge(cellOf(highs) + 1)
    const middle = edge(cellOf(likely) + 0.5)
    const value = Math.min(high, Math.max(low, middle))
    return { value, error: Math.max(high - value, value - low) }
  }

  #weightOf(part: number): number {
    return (part - NOISE) * (this.#cells.total + this.#weightOfRanges)
  }

  /** How much of the weight has which values; nothing where that is not wanted. */
  histogram(): HistogramBin[] {
    return this.#histogram?.shares() ?? []
  }
}
