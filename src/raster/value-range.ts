import type { BandPixels } from './weighed-pixels.ts'

/** Of some values and the area of each: the summary of a block. */
export interface ValueRange {
  minimum: number
  maximum: number
  mean: number
  deviation: number
  weight: number
}

/** Pixels of a band, the area of each that counts, and what makes them values: pixel * scale + offset. */
export interface WeighedBand extends BandPixels {
  count: number
  areas: Float64Array
  scale: number
  offset: number
}

/** From a value to another. */
export interface Ends {
  minimum: number
  maximum: number
}

/** The way from end to end in so many equal parts. */
export interface Parts {
  from: number
  /** How many parts there are to a unit of the values. */
  density: number
  last: number
}

export function partsOf({ minimum, maximum }: Ends, count: number): Parts {
  return { from: minimum, density: maximum > minimum ? count / (maximum - minimum) : 0, last: count - 1 }
}

/** In which part a value lies; which is between the ends, but for rounding. */
export function placeIn({ from, density, last }: Parts, value: number): number {
  // Asked for each pixel: Math.floor, Math.min and Math.max would take twice as long.
  const place = ((value - from) * density) | 0
  if (place > last) return last
  return place < 0 ? 0 : place
}

/** Two values with the mean and the deviation of a range, which stand for all of it. */
export function likelyValuesOf({ minimum, maximum, mean, deviation }: ValueRange): number[] {
  return [-deviation, deviation].map((side) => Math.min(maximum, Math.max(minimum, mean + side)))
}

export function addTo(sums: Float64Array, place: number, weight: number): void {
  sums[place] = (sums[place] as number) + weight
}
