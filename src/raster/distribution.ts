import type { BandPixels, WeighedArray } from './weighed-pixels.ts'

/** Of some values and the area of each: the summary of a block. */
interface ValueRange {
  minimum: number
  maximum: number
  mean: number
  deviation: number
  weight: number
}

/** Pixels of a band, the area of each that counts, and what makes them values: pixel * scale + offset. */
interface WeighedBand extends BandPixels {
  count: number
  areas: Float64Array
  scale: number
  offset: number
}

/** From a value to another. */
interface Ends {
  minimum: number
  maximum: number
}

/** The way from end to end in so many equal parts. */
interface Parts {
  from: number
  /** How many parts there are to a unit of the values. */
  density: number
  last: number
}

function partsOf({ minimum, maximum }: Ends, count: number): Parts {
  return { from: minimum, density: maximum > minimum ? count / (maximum - minimum) : 0, last: count - 1 }
}

/** In which part a value lies; which is between the ends, but for rounding. */
function placeIn({ from, density, last }: Parts, value: number): number {
  // Asked for each pixel: Math.floor, Math.min and Math.max would take twice as long.
  const place = ((value - from) * density) | 0
  if (place > last) return last
  return place < 0 ? 0 : place
}

/** Two values with the mean and the deviation of a range, which stand for all of it. */
function likelyValuesOf({ minimum, maximum, mean, deviation }: ValueRange): number[] {
  return [-deviation, deviation].map((side) => Math.min(maximum, Math.max(minimum, mean + side)))
}

function addTo(sums: Float64Array, place: number, weight: number): void {
  sums[place] = (sums[place] as number) + weight
}

/** A cell, and the weight of what lies before it. */
interface CellPlace {
  cell: number
  before: number
}

/** Values between two ends, sorted into cells of the same width. */
class ValueCells {
  readonly ends: Ends
  readonly count: number
  readonly parts: Parts
  /** Of each cell the weight, and the smallest and the largest of its values. */
  readonly weights: Float64Array
  readonly lowest: Float64Array
  readonly highest: Float64Array
  total = 0

  constructor(ends: Ends, count: number) {
    this.ends = ends
    this.count = count
    this.parts = partsOf(ends, count)
    this.weights = new Float64Array(count)
    this.lowest = new Float64Array(count).fill(Number.POSITIVE_INFINITY)
    this.highest = new Float64Array(count).fill(Number.NEGATIVE_INFINITY)
  }

  addPixels({ count, areas, pixels, nodata, scale, offset }: WeighedBand): void {
    const { parts, weights, lowest, highest } = this
    let total = 0
    for (let at = 0; at < count; ) {
      const pixel = pixels[at] as number
      // Neighbours are often the same: rasters of rates have a few values.
      let weight = 0
      do weight += areas[at++] as number
      while (at < count && pixels[at] === pixel)
      if (weight === 0 || pixel === nodata) continue
      const value = pixel * scale + offset
      const cell = placeIn(parts, value)
      total += weight
      addTo(weights, cell, weight)
      if (value < (lowest[cell] as number)) lowest[cell] = value
      if (value > (highest[cell] as number)) highest[cell] = value
    }
    this.total += total
  }

  /** Adds a value that several pixels have. */
  addValue(value: number, weight: number): void {
    const one = { count: 1, areas: Float64Array.of(weight), pixels: Float64Array.of(value) }
    this.addPixels({ ...one, nodata: undefined, scale: 1, offset: 0 })
  }

  /** The smallest and the largest of the values in a cell. */
  endsOf(cell: number): Ends {
    return { minimum: this.lowest[cell] as number, maximum: this.highest[cell] as number }
  }

  /** The cell in which the sum of weights reaches so much. */
  placeAt(wanted: number, sums = [this.weights]): CellPlace {
    let place: CellPlace = { cell: 0, before: 0 }
    let upTo = 0
    for (let cell = 0; cell < this.count && (cell === 0 || upTo < wanted); cell++) {
      let weight = 0
      for (const weights of sums) weight += weights[cell] as number
      if (weight === 0) continue
      place = { cell, before: upTo }
      upTo += weight
    }
    return place
  }
}

/** Values that there is room for in a cell to begin with: it is doubled as they come. */
const FIRST_VALUES = 64

/** Takes the values of some cells out of the pixels that were sorted into them. */
class CellValues {
  readonly #cells: ValueCells
  /** Of each cell, its place in the list of those taken, from 1; 0 where it is not. */
  readonly #places: Uint8Array
  readonly #taken: WeighedBand[] = []

  /**
   * @param wanted a few cells
   * @param like a band whose pixels are to come
   */
  constructor(cells: ValueCells, wanted: number[], like: WeighedBand) {
    this.#cells = cells
    this.#places = new Uint8Array(cells.count)
    const PixelArray = like.pixels instanceof Float32Array ? Float32Array : Float64Array
    for (const cell of new Set(wanted)) {
      const areas = new Float64Array(FIRST_VALUES)
      this.#taken.push({ ...like, count: 0, areas, pixels: new PixelArray(FIRST_VALUES) })
      this.#places[cell] = this.#taken.length
    }
  }

  addPixels({ count, areas, pixels, nodata, scale, offset }: WeighedBand): void {
    const [places, taken] = [this.#places, this.#taken]
    const { parts } = this.#cells
    for (let at = 0; at < count; ) {
      const pixel = pixels[at] as number
      let weight = 0
      do weight += areas[at++] as number
      while (at < count && pixels[at] === pixel)
      if (weight === 0 || pixel === nodata) continue
      const place = places[placeIn(parts, pixel * scale + offset)] as number
      if (place > 0) add(taken[place - 1] as WeighedBand, pixel, weight)
    }
  }

  of(cell: number): WeighedBand {
    return this.#taken[(this.#places[cell] as number) - 1] as WeighedBand
  }
}

function add(to: WeighedBand, pixel: number, weight: number): void {
  if (to.count === to.areas.length) {
    to.areas = withTwiceTheRoom(to.areas)
    to.pixels = withTwiceTheRoom(to.pixels)
  }
  to.pixels[to.count] = pixel
  to.areas[to.count++] = weight
}

function withTwiceTheRoom<Numbers extends WeighedArray>(numbers: Numbers): Numbers {
  const larger = new (numbers.constructor as new (length: number) => Numbers)(2 * numbers.length)
  larger.set(numbers)
  return larger
}

/** Cells that the values of one cell are sorted into. */
const WITHIN = 256

/** Of values between two ends, the one with which the weight of all that are not larger reaches so much. */
function valueAt(band: WeighedBand, ends: Ends, wanted: number): number {
  const cells = new ValueCells(ends, WITHIN)
  cells.addPixels(band)
  const { cell, before } = cells.placeAt(wanted)
  const within = cells.endsOf(cell)
  if (within.minimum === within.maximum) return within.minimum
  const values = new CellValues(cells, [cell], band)
  values.addPixels(band)
  // The two ends are in different cells, so each has fewer values.
  return valueAt(values.of(cell), within, wanted - before)
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

/** Below this part of all weight, a difference is the noise of rounding. */
const NOISE = 2 ** -40

/** How much of the weight of values between two ends has which of them. */
class ValueHistogram {
  readonly #ends: Ends
  readonly #bins: number
  readonly #parts: Parts
  /** Of values themselves; and of ranges where they most likely, certainly and possibly are. */
  readonly #exact: Float64Array
  readonly #likely: Float64Array
  readonly #certain: Float64Array
  readonly #possible: Float64Array
  /** The weights of different values; undefined where there are more of them than bins. */
  #classes: Map<number, number> | undefined = new Map()
  #total = 0

  constructor(ends: Ends, bins: number) {
    this.#ends = ends
    this.#bins = bins
    this.#parts = partsOf(ends, bins)
    this.#exact = new Float64Array(bins)
    this.#likely = new Float64Array(bins)
    this.#certain = new Float64Array(bins)
    this.#possible = new Float64Array(bins)
  }

  addPixels({ count, areas, pixels, nodata, scale, offset }: WeighedBand): void {
    for (let at = 0; at < count; at++) {
      const area = areas[at] as number
      const pixel = pixels[at] as number
      if (area > 0 && pixel !== nodata) this.#add(pixel * scale + offset, area)
    }
  }

  #add(value: number, weight: number): void {
    this.#total += weight
    addTo(this.#exact, placeIn(this.#parts, value), weight)
    this.#classes?.set(value, (this.#classes.get(value) ?? 0) + weight)
    if (this.#classes && this.#classes.size > this.#bins) this.#classes = undefined
  }

  /** Adds values of which the range is known, and that they have their mean and deviation. */
  addRange(range: ValueRange): void {
    const { minimum, maximum, weight } = range
    if (minimum === maximum) {
      this.#add(minimum, weight)
      return
    }
    this.#total += weight
    this.#classes = undefined
    for (const value of likelyValuesOf(range)) {
      addTo(this.#likely, placeIn(this.#parts, value), weight / 2)
    }
    const [first, last] = [placeIn(this.#parts, minimum), placeIn(this.#parts, maximum)]
    if (first === last) addTo(this.#certain, first, weight)
    for (let bin = first; bin <= last; bin++) addTo(this.#possible, bin, weight)
  }

  /** As many classes as there are different values, or else bins of the same width. */
  shares(): HistogramBin[] {
    if (this.#classes && this.#bins > 0) {
      return [...this.#classes]
        .sort(([a], [b]) => a - b)
        .map(([value, weight]) => ({ from: value, to: value, share: weight / this.#total, error: 0 }))
    }
    const { minimum, maximum } = this.#ends
    const edge = (bin: number) => minimum + (bin / this.#bins) * (maximum - minimum)
    return Array.from(this.#exact, (exact, bin) => {
      const likely = this.#likely[bin] as number
      const [certain, possible] = [this.#certain[bin] as number, this.#possible[bin] as number]
      const error = Math.max(possible - likely, likely - certain) / this.#total
      return {
        from: edge(bin),
        to: edge(bin + 1),
        share: (exact + likely) / this.#total,
        error: error < NOISE ? 0 : error,
      }
    })
  }
}

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
