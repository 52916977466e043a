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

/** Pixels that show whether values are a fill, and the share of them that is one. */
const ENOUGH = 10_000
const FILL = 0.9

/** One pass, with two values at each end. */
export class Tally {
  count = 0
  sum = 0
  readonly #low = new LowEnd()
  /** Of negated values. */
  readonly #high = new LowEnd()

  /**
   * A value costs two comparisons, unless it is an extreme.
   *
   * @returns the number of values
   */
  add(pixels: Pixels, nodata: number | undefined, first = 0, step = 1, end = pixels.length): number {
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
    return count
  }

  /** Adds the values where at most so many layers have one, until they are plainly no fill. */
  addWhere(pixels: Pixels, nodata: number | undefined, present: Uint16Array, most: number): void {
    for (let index = 0; index < pixels.length && !this.isMixed; index++) {
      if ((present[index] as number) <= most) this.add(pixels, nodata, index, 1, index + 1)
    }
  }

  get isMixed(): boolean {
    return this.count > ENOUGH && this.fill === undefined
  }

  /** The value at an end that most values are; another border of a mask has some others. */
  get fill(): Extreme | undefined {
    return [this.low, this.high].find((end) => end !== null && end.count >= FILL * this.count) ?? undefined
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

/**
 * Finds the one value that a layer has where others have none: any of its group, or all. Windows in which all have equally
 * many values cost nothing, since a fill has more, nor do groups whose layers have several such values.
 */
function comparePresence(layers: LayerSource[]) {
  const groups = groupByPresence(layers).map(({ members, isOfOne }) => ({
    isOfOne,
    odd: members.map((at) => ({ at, tallies: [new Tally(), new Tally()] as const })),
  }))
  return {
    add(pixels: Pixels[], counts: number[]): void {
      for (const { odd } of groups) {
        const isSettled = odd.every(({ tallies }) => tallies.every(({ isMixed }) => isMixed))
        if (isSettled || new Set(odd.map(({ at }) => counts[at])).size === 1) continue
        const present = new Uint16Array(pixels[0]?.length ?? 0)
        for (const { at } of odd) {
          const [ofLayer, nodata] = [pixels[at] as Pixels, layers[at]?.nodata]
          for (let index = 0; index < present.length; index++)
            if (ofLayer[index] !== nodata) (present[index] as number)++
        }
        for (const { at, tallies } of odd) {
          const [anyLacks, allLack] = tallies
          anyLacks.addWhere(pixels[at] as Pixels, layers[at]?.nodata, present, odd.length - 1)
          allLack.addWhere(pixels[at] as Pixels, layers[at]?.nodata, present, 1)
        }
      }
    },
    /** The most frequent such value of a layer; among layers of one input before those of others. */
    find(layer: number): { value: number; count: number; isOfOne: boolean } | undefined {
      const found = groups.flatMap(({ isOfOne, odd }) => {
        const tallies = odd.find(({ at }) => at === layer)?.tallies ?? []
        return tallies.flatMap(({ fill }) => (fill ? { ...fill, isOfOne } : []))
      })
      return found.sort((a, b) => Number(b.isOfOne) - Number(a.isOfOne) || b.count - a.count)[0]
    },
  }
}

/** Layers and ranges of an input and condition, all odds, and all layers. */
function groupByPresence(layers: LayerSource[]): { members: number[]; isOfOne: boolean }[] {
  const groups = new Map<string, number[]>()
  const put = (key: string, at: number) => groups.set(key, [...(groups.get(key) ?? []), at])
  layers.forEach(({ role, made, input, condition }, at) => {
    if (made || role === 'landscape' || role === 'share') return
    put(JSON.stringify(role === 'probability' ? [role] : [input, condition]), at)
    if (role === undefined) put(ALL, at)
  })
  // The layers of the only input are compared once.
  const distinct = new Map([...groups].reverse().map(([key, members]) => [members.join(), { key, members }]))
  return [...distinct.values()].map(({ key, members }) => ({ members, isOfOne: key !== ALL }))
}

const ALL = 'all'

export function layerCollector({ grid, layers }: Pick<CoverageSource, 'grid' | 'layers'>) {
  const collectors = layers.map((layer) => ({ layer, values: new Tally(), frame: tallyFrame(grid) }))
  const presence = comparePresence(layers)
  let alike = groupComparable(layers)
  return {
    add(window: Window, pixels: Pixels[]) {
      const counts = collectors.map(({ layer: { nodata }, values, frame }, index) => {
        const ofLayer = pixels[index] as Pixels
        frame.add(window, ofLayer, nodata)
        return values.add(ofLayer, nodata)
      })
      presence.add(pixels, counts)
      alike = alike.filter(({ members: [first, ...others] }) => {
        const bytes = bytesIn(pixels[first as number] as Pixels)
        return others.every((other) => bytes.equals(bytesIn(pixels[other] as Pixels)))
      })
    },
    result: () => ({
      /** Tally and frame have raw pixels, without scale and offset. */
      layers: collectors.map((collected, index) => ({
        ...collected,
        filled: presence.find(index),
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
