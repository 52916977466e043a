import { addTo, type Ends, type Parts, partsOf, placeIn, type WeighedBand } from './value-range.ts'
import type { WeighedArray } from './weighed-pixels.ts'

/** A cell, and the weight of what lies before it. */
export interface CellPlace {
  cell: number
  before: number
}

/** Values between two ends, sorted into cells of the same width. */
export class ValueCells {
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
export class CellValues {
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
export function valueAt(band: WeighedBand, ends: Ends, wanted: number): number {
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
