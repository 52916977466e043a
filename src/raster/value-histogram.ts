import {
  addTo,
  type Ends,
  likelyValuesOf,
  type Parts,
  partsOf,
  placeIn,
  type ValueRange,
  type WeighedBand,
} from './value-range.ts'

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
export class ValueHistogram {
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
