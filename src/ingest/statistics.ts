import type { GridSize, Window } from '#src/raster/grid.ts'
import type { Pixels } from '#src/raster/pixels.ts'
import type { createPyramid } from '#src/raster/pyramid.ts'
import type { CoverageSource, LayerSource } from './source.ts'

/** With the nearest other value. */
export interface Extreme {
  value: number
  count: number
  /** Null without another value. */
  next: number | null
}

/** The two lowest values. */
class LowEnd {
  #lowest = Number.POSITIVE_INFINITY
  #count = 0
  second = Number.POSITIVE_INFINITY

  /** @returns the new second lowest */
  add(value: number): number {
    if (value === this.#lowest) this.#count++
    else if (value > this.#lowest) this.second = value
    else {
      this.second = this.#lowest
      this.#lowest = value
      this.#count = 1
    }
    return this.second
  }

  describe(sign: 1 | -1): Extreme | null {
    if (this.#count === 0) return null
    const next = Number.isFinite(this.second) ? sign * this.second : null
    return { value: sign * this.#lowest, count: this.#count, next }
  }
}

/** One pass, with two values at each end. */
export class Tally {
  count = 0
  sum = 0
  readonly #low = new LowEnd()
  /** Of negated values. */
  readonly #high = new LowEnd()

  /** A value costs two comparisons, unless it is an extreme. */
  add(pixels: Pixels, nodata: number | undefined, first = 0, step = 1, end = pixels.length): void {
    let count = 0
    // By window: the sum of millions of values loses digits.
    let sum = 0
    let [secondLowest, secondHighest] = [this.#low.second, -this.#high.second]
    for (let index = first; index < end; index += step) {
      const value = pixels[index] as number
      if (value === nodata) continue
      count++
      sum += value
      if (value < secondLowest) secondLowest = this.#low.add(value)
      if (value > secondHighest) secondHighest = -this.#high.add(-value)
    }
    this.count += count
    this.sum += sum
  }

  get low(): Extreme | null {
    return this.#low.describe(1)
  }

  get high(): Extreme | null {
    return this.#high.describe(-1)
  }
}

/** Along the edges of a grid. Corners count for both edges. */
function tallyFrame(grid: GridSize) {
  const values = new Tally()
  /** Without nodata. */
  const corners: number[] = []
  return {
    values,
    corners,
    add({ column, row, width, height }: Window, pixels: Pixels, nodata: number | undefined): void {
      const left = column === 0
      const right = column + width === grid.width
      const addRow = (first: number) => {
        values.add(pixels, nodata, first, 1, first + width)
        const ends = [...(left ? [first] : []), ...(right ? [first + width - 1] : [])]
        corners.push(...ends.map((at) => pixels[at] as number).filter((value) => value !== nodata))
      }
      if (row === 0) addRow(0)
      if (row + height === grid.height) addRow((height - 1) * width)
      if (left) values.add(pixels, nodata, 0, width)
      if (right) values.add(pixels, nodata, width - 1, width)
    },
  }
}

/** In the layer's unit; null without valid pixels. */
export interface Statistics {
  validCount: number
  minimum: number | null
  maximum: number | null
  mean: number | null
}

export type CoverageStatistics = ReturnType<ReturnType<typeof layerCollector>['result']> & {
  /** The values of all layers. */
  presence: Pick<ReturnType<typeof createPyramid>, 'has'>
}

export type SourceStatistics = CoverageStatistics['layers'][number]

export function layerCollector({ grid, layers }: Pick<CoverageSource, 'grid' | 'layers'>) {
  const collectors = layers.map((layer) => ({ layer, values: new Tally(), frame: tallyFrame(grid) }))
  let alike = groupComparable(layers)
  return {
    add(window: Window, pixels: Pixels[]) {
      collectors.forEach(({ layer: { nodata }, values, frame }, index) => {
        const ofLayer = pixels[index] as Pixels
        values.add(ofLayer, nodata)
        frame.add(window, ofLayer, nodata)
      })
      alike = alike.filter(({ members: [first, ...others] }) => {
        const bytes = bytesIn(pixels[first as number] as Pixels)
        return others.every((other) => bytes.equals(bytesIn(pixels[other] as Pixels)))
      })
    },
    result: () => ({
      /** Tally and frame have raw pixels, without scale and offset. */
      layers: collectors.map((collected) => ({
        ...collected,
        statistics: computeStatistics(collected.values, collected.layer),
      })),
      /** Inputs whose layers are equal; null for layers without input. */
      alikeInputs: alike.map(({ input }) => input),
    }),
  }
}

function computeStatistics({ count, sum, low, high }: Tally, { scale, offset }: LayerSource): Statistics {
  if (low === null || high === null) return { validCount: 0, minimum: null, maximum: null, mean: null }
  const ends = [low.value * scale + offset, high.value * scale + offset] as const
  return {
    validCount: count,
    minimum: Math.min(...ends),
    maximum: Math.max(...ends),
    mean: (sum / count) * scale + offset,
  }
}

/** Layers of an input whose pixels mean the same. */
function groupComparable(layers: LayerSource[]) {
  const means = ({ pixelType, nodata, scale, offset }: LayerSource) =>
    JSON.stringify([pixelType, String(nodata), scale, offset])
  const keyOf = ({ input, condition }: LayerSource) => JSON.stringify([input, condition])
  const ofScenarios = layers.filter(({ role, made }) => role === undefined && !made)
  return [...new Map(ofScenarios.map((layer) => [keyOf(layer), layer.input]))]
    .map(([key, input]) => ({
      input,
      members: [...layers.keys()].filter((at) => {
        const layer = layers[at] as LayerSource
        return layer.role === undefined && keyOf(layer) === key
      }),
    }))
    .filter(({ members }) => {
      const meanings = new Set(members.map((at) => means(layers[at] as LayerSource)))
      return members.length > 1 && meanings.size === 1
    })
}

function bytesIn({ buffer, byteOffset, byteLength }: Pixels): Buffer {
  return Buffer.from(buffer as ArrayBuffer, byteOffset, byteLength)
}
