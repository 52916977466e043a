import type { Pixels } from '#src/raster/pixels.ts'
import type { LayerSource } from './source.ts'

/** Statistics of a layer's valid pixels, in the layer's unit; null where there is none. */
export interface Statistics {
  validCount: number
  minimum: number | null
  maximum: number | null
  mean: number | null
}

export interface LayerStatistics {
  layer: LayerSource
  statistics: Statistics
}

/** Collects the statistics of layers, window by window. */
export interface LayerCollector {
  /** @param pixels of each layer, in the order of the layers */
  add(pixels: Pixels[]): void
  result(): LayerStatistics[]
}

export function layerCollector(layers: LayerSource[]): LayerCollector {
  const collectors = layers.map((layer) => ({ layer, collector: new StatisticsCollector() }))
  return {
    add(pixels) {
      collectors.forEach(({ layer, collector }, index) => {
        collector.add(pixels[index] as Pixels, layer.nodata)
      })
    },
    result: () =>
      collectors.map(({ layer, collector }) => ({
        layer,
        statistics: collector.result(layer.scale, layer.offset),
      })),
  }
}

/** Collects the statistics of a layer, window by window. */
class StatisticsCollector {
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
