import { BLOCK_FACTOR } from '#src/raster/blocks.ts'
import type { GridSize, Window } from '#src/raster/grid.ts'
import type { Pixels } from '#src/raster/pixels.ts'
import { TILE_SIZE } from '#src/raster/tiles.ts'
import type { CoverageSource, LayerSource } from './source.ts'

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

/** In the layer's unit; null without valid pixels. */
export interface Statistics {
  validCount: number
  minimum: number | null
  maximum: number | null
  mean: number | null
}

export type CoverageStatistics = ReturnType<ReturnType<typeof layerCollector>['result']>

export type SourceStatistics = CoverageStatistics['layers'][number]

export function layerCollector({ grid, layers }: Pick<CoverageSource, 'grid' | 'layers'>) {
  const collectors = layers.map((layer) => ({ layer, values: new Tally(), frame: new Frame(grid) }))
  const alike = new AlikeLayers(layers)
  const presence = new Presence(grid, layers)
  return {
    add(window: Window, pixels: Pixels[]) {
      collectors.forEach(({ layer: { nodata }, values, frame }, index) => {
        const ofLayer = pixels[index] as Pixels
        values.add(ofLayer, nodata)
        frame.add(window, ofLayer, nodata)
      })
      alike.add(pixels)
      presence.add(window, pixels)
    },
    result: () => ({
      /** Tally and frame have raw pixels, without scale and offset. */
      layers: collectors.map((collected) => ({
        ...collected,
        statistics: computeStatistics(collected.values, collected.layer),
      })),
      /** Inputs whose layers are equal; null for layers without input. */
      alikeInputs: alike.inputs,
      /** Over all layers. */
      presence,
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

class AlikeLayers {
  #groups: { input: string | null; members: number[] }[]

  constructor(layers: LayerSource[]) {
    const inputs = [...new Set(layers.map(({ input }) => input))]
    this.#groups = inputs
      .map((input) => ({
        input,
        members: layers.flatMap((layer, index) => (layer.input === input ? index : [])),
      }))
      .filter(
        ({ members: [first, ...others] }) =>
          others.length > 0 &&
          others.every((other) =>
            haveSameMeaning(layers[first as number] as LayerSource, layers[other] as LayerSource),
          ),
      )
  }

  add(pixels: Pixels[]): void {
    this.#groups = this.#groups.filter(({ members: [first, ...others] }) => {
      const bytes = bytesIn(pixels[first as number] as Pixels)
      return others.every((other) => bytes.equals(bytesIn(pixels[other] as Pixels)))
    })
  }

  /** Equal so far; null for no input. */
  get inputs(): (string | null)[] {
    return this.#groups.map(({ input }) => input)
  }
}

function haveSameMeaning(a: LayerSource, b: LayerSource): boolean {
  return a.pixelType === b.pixelType && a.nodata === b.nodata && a.scale === b.scale && a.offset === b.offset
}

function bytesIn({ buffer, byteOffset, byteLength }: Pixels): Buffer {
  return Buffer.from(buffer as ArrayBuffer, byteOffset, byteLength)
}

/** A bit a tile that has a value in any layer. */
class Presence {
  readonly #nodata: (number | undefined)[]
  readonly #columns: number
  readonly #rows: number
  readonly #tiles: Uint8Array

  constructor({ width, height }: GridSize, layers: { nodata: number | undefined }[]) {
    this.#nodata = layers.map(({ nodata }) => nodata)
    this.#columns = Math.ceil(width / TILE_SIZE)
    this.#rows = Math.ceil(height / TILE_SIZE)
    this.#tiles = new Uint8Array(Math.ceil((this.#columns * this.#rows) / 8))
  }

  add({ column, row, width, height }: Window, pixels: Pixels[]): void {
    for (let top = 0; top < height; top += TILE_SIZE) {
      const end = Math.min(height, top + TILE_SIZE) * width
      for (let left = 0; left < width; left += TILE_SIZE) {
        const across = Math.min(TILE_SIZE, width - left)
        const start = top * width + left
        if (!pixels.some((band, index) => hasValue(band, this.#nodata[index], start, end, width, across))) {
          continue
        }
        const tile = ((row + top) / TILE_SIZE) * this.#columns + (column + left) / TILE_SIZE
        this.#tiles[tile >> 3] = (this.#tiles[tile >> 3] as number) | (1 << (tile & 7))
      }
    }
  }

  /** Level 0 has the tiles. */
  has(level: number, row: number, column: number): boolean {
    const side = BLOCK_FACTOR ** level
    const [lastRow, lastColumn] = [(row + 1) * side, (column + 1) * side]
    for (let tileRow = row * side; tileRow < Math.min(lastRow, this.#rows); tileRow++) {
      for (let at = column * side; at < Math.min(lastColumn, this.#columns); at++) {
        const tile = tileRow * this.#columns + at
        if ((this.#tiles[tile >> 3] as number) & (1 << (tile & 7))) return true
      }
    }
    return false
  }
}

function hasValue(
  pixels: Pixels,
  nodata: number | undefined,
  start: number,
  end: number,
  stride: number,
  width: number,
): boolean {
  for (let row = start; row < end; row += stride) {
    for (let at = row; at < row + width; at++) if (pixels[at] !== nodata) return true
  }
  return false
}
