import { GAUSS_AT, GAUSS_WEIGHT, type Measure } from './pixel-area.ts'

/** What of a row of pixels lies in a polygon. */
export interface RowCoverage {
  row: number
  /** The area of a whole pixel of the row. */
  pixelArea: number
  /** The pixels that the border passes through, ascending, and the area of each that lies inside. */
  columns: number[]
  areas: number[]
  /** The runs of pixels that lie inside as a whole: first column and the one after the last, by turns. */
  runs: number[]
}

/** Below this part of what was added up, a sum is the noise of rounding. */
const NOISE = 2 ** -45

/**
 * Adds up, for one row of pixels after the other, what the pieces of a border enclose in each pixel. A
 * piece adds, with its sign, what lies between it and the next border of columns to its own pixel, and its
 * height to all pixels of the row beyond.
 */
export class RowSums {
  /** How many pieces have been added, in all rows, those beside the grid included. */
  pieces = 0
  readonly #width: number
  readonly #measure: Measure
  readonly #area: Float64Array
  readonly #cover: Float64Array
  readonly #touched: Uint8Array
  #columns: number[] = []
  /** What is added left of the first column. */
  #left = 0
  /** The sum of everything added in a row, without signs. */
  #added = 0

  constructor(width: number, measure: Measure) {
    this.#width = width
    this.#measure = measure
    this.#area = new Float64Array(width)
    this.#cover = new Float64Array(width)
    this.#touched = new Uint8Array(width)
  }

  /** Adds a piece of an edge within one pixel of the row, which goes down from `y` to `toY`. */
  add(sign: number, row: number, column: number, x: number, y: number, toX: number, toY: number): void {
    this.pieces++
    if (column >= this.#width) return
    if (y === toY) {
      // Along the border of rows it is in no pixel.
      if (column >= 0 && y !== row && y !== row + 1) this.#touch(column)
      return
    }
    // The heights of the piece, and what lies between it and the next border of columns.
    const slope = (toX - x) / (toY - y)
    const border = column + 1 - x
    let covered = 0
    let beside = 0
    for (let point = 0; point < GAUSS_AT.length; point++) {
      const part = (GAUSS_AT[point] as number) * (toY - y)
      const covers = (GAUSS_WEIGHT[point] as number) * this.#measure.density(y + part)
      covered += covers
      beside += (border - slope * part) * covers
    }
    covered *= toY - y
    beside *= toY - y
    this.#added += covered
    if (column < 0) {
      this.#left += sign * covered
      return
    }
    this.#touch(column)
    this.#cover[column] = (this.#cover[column] as number) + sign * covered
    this.#area[column] = (this.#area[column] as number) + sign * beside
  }

  #touch(column: number): void {
    if (this.#touched[column]) return
    this.#touched[column] = 1
    this.#columns.push(column)
  }

  /** What the row comes to; leaves everything empty for the next one. */
  collect(row: number): RowCoverage {
    const whole = this.#measure.pixelArea(row)
    const result: RowCoverage = { row, pixelArea: whole, columns: [], areas: [], runs: [] }
    let inside = this.#left
    let column = 0
    // Pixels that no piece of the border is in lie inside as a whole, or not at all.
    const runTo = (end: number) => {
      if (inside > whole / 2 && end > column) result.runs.push(column, end)
    }
    for (const touched of this.#columns.sort((a, b) => a - b)) {
      runTo(touched)
      const found = inside + (this.#area[touched] as number)
      if (found > this.#added * NOISE) {
        result.columns.push(touched)
        result.areas.push(Math.min(found, whole))
      }
      inside += this.#cover[touched] as number
      this.#area[touched] = 0
      this.#cover[touched] = 0
      this.#touched[touched] = 0
      column = touched + 1
    }
    runTo(this.#width)
    this.#columns = []
    this.#left = 0
    this.#added = 0
    return result
  }
}
