import type { Pixels } from './pixels.ts'
import type { DecodedTile, TileBand } from './wkb.ts'

export type WeighedArray = Float32Array | Float64Array

/** Pixels of a band, before scale and offset. */
export interface BandPixels {
  pixels: WeighedArray
  nodata: number | undefined
}

/** Pixels of some bands, one after the other, and of each the area that counts. */
export interface WeighedPixels {
  /** How many there are: the arrays may be longer. */
  count: number
  /** 0 for those that do not count. */
  areas: Float64Array
  bands: BandPixels[]
}

/** Numbers of a part, of all bands: what is gone through between two pauses. */
const PART = 131_072

/** Pixels of a first part: most polygons have no more. */
const FIRST_PART = 1024

/** Gathers tiles into parts of many pixels: gone through at once, these take a third of the time. */
export class PixelGatherer {
  readonly #take: (part: WeighedPixels) => void
  #part: WeighedPixels | undefined
  #room = FIRST_PART

  /** @param take is given each part that is full, and the last one */
  constructor(take: (part: WeighedPixels) => void) {
    this.#take = take
  }

  /** @param areas of the pixels of a tile, in rows of `stride` */
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

  /** Hands out what has been gathered. */
  finish(): void {
    if (this.#part) this.#take(this.#part)
    this.#part = undefined
  }

  /** Each part has room for twice as much as the one before, up to a limit. */
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

/**
 * An array that holds pixels of a type. There are two kinds for all types: V8 is several times as fast in loops that
 * have met few kinds.
 */
function arrayFor(pixels: Pixels, length: number): WeighedArray {
  const isWide = pixels.BYTES_PER_ELEMENT > 4 || pixels instanceof Int32Array || pixels instanceof Uint32Array
  return isWide ? new Float64Array(length) : new Float32Array(length)
}
