import type { CoveredPixels } from './blocks.ts'
import type { ValueEnds } from './classes.ts'
import type { Pixels } from './pixels.ts'
import type { DecodedTile, TileBand } from './tiles.ts'

type WeighedArray = Float32Array | Float64Array

/** Before scale and offset. */
export interface BandPixels {
  pixels: WeighedArray
  nodata: number | undefined
}

export interface WeighedPixels {
  /** The arrays may be longer. */
  count: number
  /** 0 excludes a pixel. */
  areas: Float64Array
  bands: BandPixels[]
}

/** Numbers of all bands between two pauses. */
const PART = 131_072

/** Most polygons have no more. */
const FIRST_PART = 1024

/** Large parts take a third of the time of single tiles. */
export class PixelGatherer {
  readonly #take: (part: WeighedPixels) => void
  #part: WeighedPixels | undefined
  #room = FIRST_PART

  /** @param take gets each full part, and the last one */
  constructor(take: (part: WeighedPixels) => void) {
    this.#take = take
  }

  /** Adds all pixels of a tile, since sums depend on which ones are next to each other. */
  add({ width, height, bands }: DecodedTile, covered: CoveredPixels): void {
    const size = width * height
    if (this.#part && this.#part.count + size > this.#part.areas.length) this.finish()
    this.#part ??= this.#partFor(bands, size)
    const { count, areas, bands: toBands } = this.#part
    for (let at = 0; at < covered.areas.length; at++) {
      areas[count + (covered.indexes[at] as number)] = covered.areas[at] as number
    }
    for (const [index, { pixels }] of bands.entries())
      (toBands[index] as BandPixels).pixels.set(pixels, count)
    this.#part.count += size
  }

  finish(): void {
    if (this.#part) this.#take(this.#part)
    this.#part = undefined
  }

  /** Rooms double up to a limit. */
  #partFor(bands: TileBand[], tileSize: number): WeighedPixels {
    const room = Math.max(tileSize, this.#room)
    this.#room = Math.min(2 * this.#room, Math.floor(PART / bands.length))
    return {
      count: 0,
      areas: new Float64Array(room),
      bands: bands.map(({ pixels, nodata }) => ({ pixels: arrayFor(pixels, room), nodata })),
    }
  }
}

/** Two kinds serve all types: V8 is several times as fast in loops that have met few kinds. */
function arrayFor(pixels: Pixels, length: number): WeighedArray {
  const isWide = pixels.BYTES_PER_ELEMENT > 4 || pixels instanceof Int32Array || pixels instanceof Uint32Array
  return isWide ? new Float64Array(length) : new Float32Array(length)
}

interface ValueRange extends ValueEnds {
  mean: number
  deviation: number
  weight: number
}

/** value = pixel * scale + offset. */
interface WeighedBand extends BandPixels {
  count: number
  areas: Float64Array
  scale: number
  offset: number
}

interface Parts {
  from: number
  /** Parts for each unit of value. */
  density: number
  last: number
}

function divide({ minimum, maximum }: ValueEnds, count: number): Parts {
  return { from: minimum, density: maximum > minimum ? count / (maximum - minimum) : 0, last: count - 1 }
}

/** Rounding may put a value beyond an end. */
function findCell({ from, density, last }: Parts, value: number): number {
  // Per pixel: Math.floor, Math.min and Math.max would take twice as long.
  const cell = ((value - from) * density) | 0
  if (cell > last) return last
  return cell < 0 ? 0 : cell
}

/** Two values with the mean and deviation of a range. */
function estimateValues({ minimum, maximum, mean, deviation }: ValueRange): number[] {
  return [-deviation, deviation].map((side) => Math.min(maximum, Math.max(minimum, mean + side)))
}

function addTo(sums: Float64Array, cell: number, weight: number): void {
  sums[cell] = (sums[cell] as number) + weight
}

type ValueCells = ReturnType<typeof createCells>

function createCells(ends: ValueEnds, count: number) {
  const parts = divide(ends, count)
  const weights = new Float64Array(count)
  const lowest = new Float64Array(count).fill(Number.POSITIVE_INFINITY)
  const highest = new Float64Array(count).fill(Number.NEGATIVE_INFINITY)
  return {
    ends,
    count,
    parts,
    weights,
    addPixels({ count, areas, pixels, nodata, scale, offset }: WeighedBand): number {
      let total = 0
      for (let at = 0; at < count; ) {
        const pixel = pixels[at] as number
        // Rasters of rates repeat values.
        let weight = 0
        do weight += areas[at++] as number
        while (at < count && pixels[at] === pixel)
        if (weight === 0 || pixel === nodata) continue
        const value = pixel * scale + offset
        const cell = findCell(parts, value)
        total += weight
        addTo(weights, cell, weight)
        if (value < (lowest[cell] as number)) lowest[cell] = value
        if (value > (highest[cell] as number)) highest[cell] = value
      }
      return total
    },
    endsOf(cell: number): ValueEnds {
      return { minimum: lowest[cell] as number, maximum: highest[cell] as number }
    },
    /** The cell where the sum of weights reaches `wanted`, and the sum before it. */
    cellAt(wanted: number, sums: Float64Array[] = [weights]): { cell: number; before: number } {
      let found = { cell: 0, before: 0 }
      let upTo = 0
      for (let cell = 0; cell < count && (cell === 0 || upTo < wanted); cell++) {
        let weight = 0
        for (const ofCells of sums) weight += ofCells[cell] as number
        if (weight === 0) continue
        found = { cell, before: upTo }
        upTo += weight
      }
      return found
    },
  }
}

/** Initial room; it doubles. */
const FIRST_VALUES = 64

function keepValues({ count, parts }: ValueCells, wanted: number[], like: WeighedBand) {
  /** By cell, from 1; 0 for others. */
  const slots = new Uint8Array(count)
  const PixelArray = like.pixels instanceof Float32Array ? Float32Array : Float64Array
  const taken = [...new Set(wanted)].map((cell, index): WeighedBand => {
    slots[cell] = index + 1
    const areas = new Float64Array(FIRST_VALUES)
    return { ...like, count: 0, areas, pixels: new PixelArray(FIRST_VALUES) }
  })
  return {
    addPixels({ count, areas, pixels, nodata, scale, offset }: WeighedBand): void {
      for (let at = 0; at < count; ) {
        const pixel = pixels[at] as number
        let weight = 0
        do weight += areas[at++] as number
        while (at < count && pixels[at] === pixel)
        if (weight === 0 || pixel === nodata) continue
        const slot = slots[findCell(parts, pixel * scale + offset)] as number
        if (slot > 0) addWeighed(taken[slot - 1] as WeighedBand, pixel, weight)
      }
    },
    of: (cell: number) => taken[(slots[cell] as number) - 1] as WeighedBand,
  }
}

function addWeighed(to: WeighedBand, pixel: number, weight: number): void {
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

const WITHIN = 256

/** The weighted quantile between two ends. */
function valueAt(band: WeighedBand, ends: ValueEnds, wanted: number): number {
  const cells = createCells(ends, WITHIN)
  cells.addPixels(band)
  const { cell, before } = cells.cellAt(wanted)
  const within = cells.endsOf(cell)
  if (within.minimum === within.maximum) return within.minimum
  const values = keepValues(cells, [cell], band)
  values.addPixels(band)
  // Different cells separate the ends, so the recursion ends.
  return valueAt(values.of(cell), within, wanted - before)
}

/** From a value to the next one, exclusive, or a single value. */
export interface HistogramBin {
  from: number
  to: number
  /** Of the weight, from 0 to 1. */
  share: number
  /** Bound of the share; 0 if exact. */
  error: number
}

/** Smaller shares of the weight are rounding. */
const NOISE = 2 ** -40

function createHistogram(ends: ValueEnds, bins: number) {
  const parts = divide(ends, bins)
  const exact = new Float64Array(bins)
  // Of ranges.
  const [likely, certain, possible] = [new Float64Array(bins), new Float64Array(bins), new Float64Array(bins)]
  /** By value; undefined for more values than bins. */
  let classes: Map<number, number> | undefined = new Map()
  let total = 0

  function add(value: number, weight: number): void {
    total += weight
    addTo(exact, findCell(parts, value), weight)
    classes?.set(value, (classes.get(value) ?? 0) + weight)
    if (classes && classes.size > bins) classes = undefined
  }

  return {
    addPixels({ count, areas, pixels, nodata, scale, offset }: WeighedBand): void {
      for (let at = 0; at < count; at++) {
        const area = areas[at] as number
        const pixel = pixels[at] as number
        if (area > 0 && pixel !== nodata) add(pixel * scale + offset, area)
      }
    },
    /** Of values with their range, mean and deviation. */
    addRange(range: ValueRange): void {
      const { minimum, maximum, weight } = range
      if (minimum === maximum) {
        add(minimum, weight)
        return
      }
      total += weight
      classes = undefined
      for (const value of estimateValues(range)) addTo(likely, findCell(parts, value), weight / 2)
      const [first, last] = [findCell(parts, minimum), findCell(parts, maximum)]
      if (first === last) addTo(certain, first, weight)
      for (let bin = first; bin <= last; bin++) addTo(possible, bin, weight)
    },
    /** A class a value, or bins of equal width. */
    shares(): HistogramBin[] {
      if (classes) {
        return [...classes]
          .sort(([a], [b]) => a - b)
          .map(([value, weight]) => ({ from: value, to: value, share: weight / total, error: 0 }))
      }
      const edge = (bin: number) => ends.minimum + (bin / bins) * (ends.maximum - ends.minimum)
      return Array.from(exact, (weight, bin) => {
        const most = likely[bin] as number
        const error = Math.max((possible[bin] as number) - most, most - (certain[bin] as number)) / total
        return {
          from: edge(bin),
          to: edge(bin + 1),
          share: (weight + most) / total,
          error: error < NOISE ? 0 : error,
        }
      })
    },
  }
}

export interface Quantile {
  quantile: number
  value: number
  /** Bound; 0 if exact. */
  error: number
}

export interface DistributionOptions {
  quantiles: number[]
  /** 0 for none. */
  bins: number
}

export interface DistributionMemory {
  /** Their width bounds a quantile without stored values. */
  cells: number
  /** Keeps the values, so that results are exact. */
  keepsValues: boolean
}

/** Weights by the cell of the lower end, the upper end and the likely values. */
interface RangeWeights {
  lows: Float64Array
  highs: Float64Array
  likely: Float64Array
}

/** Ranges count as their lower and upper ends, which bounds the error of quantiles. */
export class Distribution {
  readonly #wanted: DistributionOptions
  /** Of single values. */
  readonly #cells: ValueCells
  #ranges: RangeWeights | undefined
  #total = 0
  /** Undefined unless values are stored. */
  readonly #bands: WeighedBand[] | undefined
  readonly #histogram: ReturnType<typeof createHistogram> | undefined

  constructor(ends: ValueEnds, wanted: DistributionOptions, { cells, keepsValues }: DistributionMemory) {
    this.#wanted = wanted
    this.#cells = createCells(ends, cells)
    this.#bands = keepsValues ? [] : undefined
    this.#histogram = wanted.bins > 0 ? createHistogram(ends, wanted.bins) : undefined
  }

  /** The arrays must not change later. */
  addPixels(band: WeighedBand): void {
    this.#bands?.push(band)
    this.#histogram?.addPixels(band)
    this.#total += this.#cells.addPixels(band)
  }

  /** Not together with stored values. */
  addRange(range: ValueRange): void {
    this.#histogram?.addRange(range)
    const { minimum, maximum, weight } = range
    if (minimum === maximum) {
      const one = { count: 1, areas: Float64Array.of(weight), pixels: Float64Array.of(minimum) }
      this.#total += this.#cells.addPixels({ ...one, nodata: undefined, scale: 1, offset: 0 })
      return
    }
    const { parts, count } = this.#cells
    this.#total += weight
    this.#ranges ??= {
      lows: new Float64Array(count),
      highs: new Float64Array(count),
      likely: new Float64Array(count),
    }
    const { lows, highs, likely } = this.#ranges
    addTo(lows, findCell(parts, minimum), weight)
    addTo(highs, findCell(parts, maximum), weight)
    for (const value of estimateValues(range)) addTo(likely, findCell(parts, value), weight / 2)
  }

  /**
   * The inverse of the empirical distribution function (Hyndman and Fan, 1996, definition 1).
   *
   * @yields undefined at points where the caller may pause
   */
  *quantiles(): Generator<Quantile | undefined> {
    if (this.#bands) {
      yield* this.#exactQuantiles(this.#bands)
      return
    }
    for (const quantile of this.#wanted.quantiles) {
      yield { quantile, ...(this.#ranges ? this.#boundedQuantile(quantile) : this.#cellQuantile(quantile)) }
    }
  }

  *#exactQuantiles(bands: WeighedBand[]): Generator<Quantile | undefined> {
    const cells = this.#wanted.quantiles.map((quantile) => {
      const { cell, before } = this.#cells.cellAt(this.#weightOf(quantile))
      return { quantile, cell, before, ends: this.#cells.endsOf(cell) }
    })
    const open = cells.filter(({ ends }) => ends.minimum < ends.maximum).map(({ cell }) => cell)
    const values = keepValues(this.#cells, open, bands[0] as WeighedBand)
    for (const band of open.length > 0 ? bands : []) {
      values.addPixels(band)
      yield undefined
    }
    for (const { quantile, cell, before, ends } of cells) {
      const wanted = this.#weightOf(quantile) - before
      const value = open.includes(cell) ? valueAt(values.of(cell), ends, wanted) : ends.minimum
      yield { quantile, value, error: 0 }
    }
  }

  #cellQuantile(part: number): { value: number; error: number } {
    const { minimum, maximum } = this.#cells.endsOf(this.#cells.cellAt(this.#weightOf(part)).cell)
    return { value: (minimum + maximum) / 2, error: (maximum - minimum) / 2 }
  }

  /** Between the quantiles of lower and upper ends. */
  #boundedQuantile(part: number): { value: number; error: number } {
    const { lows, highs, likely } = this.#ranges as RangeWeights
    const { ends, count, weights } = this.#cells
    const edge = (cell: number) => ends.minimum + (cell / count) * (ends.maximum - ends.minimum)
    const findCell = (sums: Float64Array) => this.#cells.cellAt(this.#weightOf(part), [weights, sums]).cell
    const low = edge(findCell(lows))
    const high = edge(findCell(highs) + 1)
    const middle = edge(findCell(likely) + 0.5)
    const value = Math.min(high, Math.max(low, middle))
    return { value, error: Math.max(high - value, value - low) }
  }

  #weightOf(part: number): number {
    return (part - NOISE) * this.#total
  }

  histogram(): HistogramBin[] {
    return this.#histogram?.shares() ?? []
  }
}
