import type { Pixels } from '#src/raster/pixels.ts'
import type { LayerSource } from './source.ts'

/** Tells, window by window, of which inputs all layers have the same values. */
export class AlikeLayers {
  /** The places of an input's layers. */
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

  /** @param pixels of each layer, in the order of the layers */
  add(pixels: Pixels[]): void {
    this.#groups = this.#groups.filter(({ members: [first, ...others] }) => {
      const bytes = bytesIn(pixels[first as number] as Pixels)
      return others.every((other) => bytes.equals(bytesIn(pixels[other] as Pixels)))
    })
  }

  /** The inputs that have more than one layer, all of them alike so far; null stands for none. */
  get inputs(): (string | null)[] {
    return this.#groups.map(({ input }) => input)
  }
}

/** Whether the same pixels are the same values. */
function haveSameMeaning(a: LayerSource, b: LayerSource): boolean {
  return a.pixelType === b.pixelType && a.nodata === b.nodata && a.scale === b.scale && a.offset === b.offset
}

function bytesIn({ buffer, byteOffset, byteLength }: Pixels): Buffer {
  return Buffer.from(buffer as ArrayBuffer, byteOffset, byteLength)
}
