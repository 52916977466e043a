import type { Pixels } from '#src/raster/pixels.ts'

/** Statistics of a layer's valid pixels, in the layer's unit; null where there is none. */
export interface Statistics {
  validCount: number
  minimum: number | null
  maximum: number | null
  mean: number | null
}

/** Collects the statistics of a layer, window by window. */
export class StatisticsCollector {
  #count = 0
  #minimum = Number.POSITIVE_INFINITY
  #maximum = Number.NEGATIVE_INFINITY
  #sum = 0

  add(pixels: Pixels, nodata: number | undefined): void {
    let count = 0
    let minimum = this.#minimum
    let maximum = this.#maximum
    // Summed window by window: the sum of millions of values in one go loses digits.
    let sum = 0
    for (let index = 0; index < pixels.length; index++) {
      const value = pixels[index] as number
      if (value === nodata) continue
      count++
      sum += value
      if (value < minimum) minimum = value
      if (value > maximum) maximum = value
    }
    this.#count += count
    this.#sum += sum
    this.#minimum = minimum
    this.#maximum = maximum
  }

  /** @param scale and offset turn pixels into values of the layer's unit */
  result(scale: number, offset: number): Statistics {
    if (this.#count === 0) return { validCount: 0, minimum: null, maximum: null, mean: null }
    const ends = [this.#minimum * scale + offset, this.#maximum * scale + offset] as const
    return {
      validCount: this.#count,
      minimum: Math.min(...ends),
      maximum: Math.max(...ends),
      mean: (this.#sum / this.#count) * scale + offset,
    }
  }
}

/**
 * What looks wrong in a layer, if anything does: amounts and scores are never below zero, so negative
 * ones are most likely a nodata value that nobody declared.
 */
export function suspicionOf(origin: string, { validCount, minimum }: Statistics): string | undefined {
  if (validCount === 0) return `${origin} has no value at all.`
  if (minimum !== null && minimum < 0) {
    return `${origin} has values down to ${minimum}, which count as real: is its nodata value missing?`
  }
  return undefined
}
