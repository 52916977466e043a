import type { Window } from '#src/raster/grid.ts'
import type { Pixels } from '#src/raster/pixels.ts'
import { AlikeLayers } from './alike.ts'
import { Frame } from './frame.ts'
import { Presence } from './presence.ts'
import type { CoverageSource, LayerSource } from './source.ts'
import { Tally } from './tally.ts'

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
  /** Of the pixels as they are, without scale and offset. */
  values: Tally
  /** Of those along the edges of the grid. */
  frame: Frame
}

export interface CoverageStatistics {
  layers: LayerStatistics[]
  /** Where any of them has values. */
  presence: Presence
  /** Inputs with several layers that have all the same values; null where layers have no input. */
  alikeInputs: (string | null)[]
}

/** Collects the statistics of the layers of a coverage, window by window. */
export interface LayerCollector {
  /** @param pixels of each layer, in the order of the layers */
  add(window: Window, pixels: Pixels[]): void
  result(): CoverageStatistics
}

export function layerCollector({ grid, layers }: Pick<CoverageSource, 'grid' | 'layers'>): LayerCollector {
  const collectors = layers.map((layer) => ({ layer, values: new Tally(), frame: new Frame(grid) }))
  const alike = new AlikeLayers(layers)
  const presence = new Presence(grid, layers)
  return {
    add(window, pixels) {
      collectors.forEach(({ layer: { nodata }, values, frame }, index) => {
        const ofLayer = pixels[index] as Pixels
        values.add(ofLayer, nodata)
        frame.add(window, ofLayer, nodata)
      })
      alike.add(pixels)
      presence.add(window, pixels)
    },
    result: () => ({
      layers: collectors.map((collected) => ({
        ...collected,
        statistics: statisticsOf(collected.values, collected.layer),
      })),
      alikeInputs: alike.inputs,
      presence,
    }),
  }
}

/** Turns what pixels come to into the layer's unit. */
function statisticsOf({ count, sum, low, high }: Tally, { scale, offset }: LayerSource): Statistics {
  if (low === null || high === null) return { validCount: 0, minimum: null, maximum: null, mean: null }
  const ends = [low.value * scale + offset, high.value * scale + offset] as const
  return {
    validCount: count,
    minimum: Math.min(...ends),
    maximum: Math.max(...ends),
    mean: (sum / count) * scale + offset,
  }
}
