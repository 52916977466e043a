import type { GridSize, Window } from '#src/raster/grid.ts'
import type { Pixels } from '#src/raster/pixels.ts'

/** With the nearest other value. */
export interface Extreme {
  value: number
  count: number
  /** Null without another value. */
  next: number | null
}

/** One pass, with two values at each end. */
export class Tally {
  count = 0
  sum = 0
  #lowest = Number.POSITIVE_INFINITY
  #lowestCount = 0
  #secondLowest = Number.POSITIVE_INFINITY
  #highest = Number.NEGATIVE_INFINITY
  #highestCount = 0
  #secondHighest = Number.NEGATIVE_INFINITY

  /** A value costs two comparisons, unless it is an extreme. */
  add(pixels: Pixels, nodata: number | undefined, first = 0, step = 1, end = pixels.length): void {
    let count = 0
    // By window: the sum of millions of values loses digits.
    let sum = 0
    let [secondLowest, secondHighest] = [this.#secondLowest, this.#secondHighest]
    for (let index = first; index < end; index += step) {
      const value = pixels[index] as number
      if (value === nodata) continue
      count++
      sum += value
      if (value < secondLowest) secondLowest = this.#low(value)
      if (value > secondHighest) secondHighest = this.#high(value)
    }
    this.count += count
    this.sum += sum
  }

  get low(): Extreme | null {
    return this.count === 0 ? null : extreme(this.#lowest, this.#lowestCount, this.#secondLowest)
  }

  get high(): Extreme | null {
    return this.count === 0 ? null : extreme(this.#highest, this.#highestCount, this.#secondHighest)
  }

  /** @returns the new second lowest */
  #low(value: number): number {
    if (value === this.#lowest) this.#lowestCount++
    else if (value > this.#lowest) this.#secondLowest = value
    else {
      this.#secondLowest = this.#lowest
      this.#lowest = value
      this.#lowestCount = 1
    }
    return this.#secondLowest
  }

  #high(value: number): number {
    if (value === this.#highest) this.#highestCount++
    else if (value < this.#highest) this.#secondHighest = value
    else {
      this.#secondHighest = this.#highest
      this.#highest = value
      this.#highestCount = 1
    }
    return this.#secondHighest
  }
}

function extreme(value: number, count: number, next: number): Extreme {
  return { value, count, next: Number.isFinite(next) ? next : null }
}

/** Corners count for both edges. */
export class Frame {
  readonly values = new Tally()
  /** Without nodata. */
  readonly corners: number[] = []
  readonly #grid: GridSize

  constructor(grid: GridSize) {
    this.#grid = grid
  }

  add({ column, row, width, height }: Window, pixels: Pixels, nodata: number | undefined): void {
    const left = column === 0
    const right = column + width === this.#grid.width
    const lastRow = (height - 1) * width
    for (const [isEdge, first] of [
      [row === 0, 0],
      [row + height === this.#grid.height, lastRow],
    ] as const) {
      if (!isEdge) continue
      this.values.add(pixels, nodata, first, 1, first + width)
      if (left) this.#corner(pixels[first] as number, nodata)
      if (right) this.#corner(pixels[first + width - 1] as number, nodata)
    }
    if (left) this.values.add(pixels, nodata, 0, width)
    if (right) this.values.add(pixels, nodata, width - 1, width)
  }

  #corner(value: number, nodata: number | undefined): void {
    if (value !== nodata) this.corners.push(value)
  }
}
