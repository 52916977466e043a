import type { Pixels } from './pixels.ts'
import type { DecodedTile, TileBand } from './wkb.ts'

export type WeighedArray = Float32Array | Float64Array

/** Before scale and offset. */
export interface BandPixels {
  pixels: WeighedArray
  nodata: number | undefined
}

export interface WeighedPixels {
  /** The arrays may be longer. */
  count: number
  /** 0 excludes a pixel. */
  areas: Float64Array
  bands: BandPixels[]
}

/** Numbers of all bands between two pauses. */
const PART = 131_072

/** Most polygons have no more. */
const FIRST_PART = 1024

/** Large parts take a third of the time of single tiles. */
export class PixelGatherer {
  readonly #take: (part: WeighedPixels) => void
  #part: WeighedPixels | undefined
  #room = FIRST_PART

  /** @param take gets each full part, and the last one */
  constructor(take: (part: WeighedPixels) => void) {
    this.#take = take
  }

  /** @param areas in rows of `stride` */
  add(tile: DecodedTile, areas: Float64Array, stride: number): void {
    const { width, height, bands } = tile
    const size = width * height
    if (this.#part && this.#part.count + size > this.#part.areas.length) this.finish()
    this.#part ??= this.#partFor(bands, size)
    const { count, areas: to, bands: toBands } = this.#part
    for (let row = 0, at = count; row < height; row++) {
      for (let column = 0; column < width; column++) to[at++] = areas[row * stride + column] as number
    }
    for (const [index, { pixels }] of bands.entries())
      (toBands[index] as BandPixels).pixels.set(pixels, count)
    this.#part.count += size
  }

  finish(): void {
    if (this.#part) this.#take(this.#part)
    this.#part = undefined
  }

  /** Rooms double up to a limit. */
  #partFor(bands: TileBand[], tileSize: number): WeighedPixels {
    const room = Math.max(tileSize, this.#room)
    this.#room = Math.min(2 * this.#room, Math.floor(PART / bands.length))
    return {
      count: 0,
      areas: new Float64Array(room),
      bands: bands.map(({ pixels, nodata }) => ({ pixels: arrayFor(pixels, room), nodata })),
    }
  }
}

/** Two kinds serve all types: V8 is several times as fast in loops that have met few kinds. */
function arrayFor(pixels: Pixels, length: number): WeighedArray {
  const isWide = pixels.BYTES_PER_ELEMENT > 4 || pixels instanceof Int32Array || pixels instanceof Uint32Array
  return isWide ? new Float64Array(length) : new Float32Array(length)
}
