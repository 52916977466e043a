import type { Plane } from './scan.ts'

/**
 * Brings the rows of a component to the size of the frame, and colours back to red, green and blue, as libjpeg does: each
 * sample between two is three quarters of the nearer one and a quarter of the other.
 */

/** What is at most this wide is repeated. */
const NARROW = 2

/** The rows of a plane at the frame's size, one after the other. */
export type Rows = (row: number) => Uint8Array

/** @param across how many samples of the frame one of the plane stands for; down as well */
export function rowsOfSize(
  plane: Plane,
  width: number,
  { across, down }: { across: number; down: number },
): Rows {
  const { samples, rowLength } = plane
  if (across === 1 && down === 1) {
    return (row) => samples.subarray(row * rowLength, row * rowLength + width)
  }
  const output = new Uint8Array(2 * plane.width)
  const sums = new Int32Array(plane.width)
  const narrow = plane.width <= NARROW
  return (row) => {
    const own = Math.floor(row / down)
    // The one above for the upper of two rows, the one below for the lower; there is none beyond the edges.
    const other = narrow ? own : Math.min(plane.height - 1, Math.max(0, own + (row % 2 === 0 ? -1 : 1)))
    for (let at = 0; at < plane.width; at++) {
      const sample = samples[own * rowLength + at] as number
      sums[at] = down === 1 ? sample : 3 * sample + (samples[other * rowLength + at] as number)
    }
    widen(sums, output, down)
    return output
  }
}

/** Twice as many samples of sums, which are `down === 2` four times what they stand for. */
function widen(sums: Int32Array, output: Uint8Array, down: number): void {
  const [bits, toLeft, toRight] = down === 1 ? [2, 1, 2] : [4, 8, 7]
  const narrow = sums.length <= NARROW
  for (let at = 0; at < sums.length; at++) {
    const sum = sums[at] as number
    const left = narrow ? sum : (sums[at - 1] ?? sum)
    const right = narrow ? sum : (sums[at + 1] ?? sum)
    output[2 * at] = (3 * sum + left + toLeft) >> bits
    output[2 * at + 1] = (3 * sum + right + toRight) >> bits
  }
}

const FACTOR_BITS = 16
const factor = (number: number) => Math.round(number * 2 ** FACTOR_BITS)
const HALF = 1 << (FACTOR_BITS - 1)
const RED_OF_CR = factor(1.402)
const GREEN_OF_CB = factor(0.34414)
const GREEN_OF_CR = factor(0.71414)
const BLUE_OF_CB = factor(1.772)

/** Puts a row of luminance and two of colour differences as red, green and blue, sample by sample. */
export function toRedGreenBlue(
  [luminance, blueDifference, redDifference]: [Uint8Array, Uint8Array, Uint8Array],
  output: Uint8Array,
  at: number,
  width: number,
): void {
  for (let column = 0, place = at; column < width; column++, place += 3) {
    const y = luminance[column] as number
    const cb = (blueDifference[column] as number) - 128
    const cr = (redDifference[column] as number) - 128
    output[place] = clamped(y + ((RED_OF_CR * cr + HALF) >> FACTOR_BITS))
    output[place + 1] = clamped(y + ((HALF - GREEN_OF_CB * cb - GREEN_OF_CR * cr) >> FACTOR_BITS))
    output[place + 2] = clamped(y + ((BLUE_OF_CB * cb + HALF) >> FACTOR_BITS))
  }
}

function clamped(number: number): number {
  return number < 0 ? 0 : number > 255 ? 255 : number
}
