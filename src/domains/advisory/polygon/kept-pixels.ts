import type { DecodedTile } from '#src/raster/raster-wkb.ts'
import { PixelGatherer, type WeighedPixels } from '#src/raster/weighed-pixels.ts'
import { isKeepable } from './band-distributions.ts'
import type { ZonalCoverage } from './zonal-queries.ts'

/** Keeps the pixels of tiles, so that they need not be read again; nothing where there are too many. */
export class KeptPixels {
  readonly #coverage: ZonalCoverage
  readonly #gatherer: PixelGatherer
  #parts: WeighedPixels[] | undefined = []
  #count = 0

  constructor(coverage: ZonalCoverage) {
    this.#coverage = coverage
    this.#gatherer = new PixelGatherer((part) => {
      this.#count += part.count
      this.#parts?.push(part)
      if (!isKeepable(this.#count, coverage.bands.length)) this.#parts = undefined
    })
  }

  add(tile: DecodedTile, areas: Float64Array): void {
    if (this.#parts) this.#gatherer.add(tile, areas, this.#coverage.tileSize)
  }

  /** All of them; undefined where there were too many. */
  take(): WeighedPixels[] | undefined {
    this.#gatherer.finish()
    return this.#parts
  }
}
