import { round } from '#src/lib/round.ts'
import type { Layer } from './queries.ts'

/** The pixel of each band as it is stored, NaN for none; no bands where nothing is stored. */
export type StoredPixels = number[]

/** Values in the order of a release's layers: in their unit, rounded to their decimals, NaN for none. */
export type LayerValues = number[]

/** A layer, and the place of its coverage among those of its release. */
export interface PlacedLayer extends Layer {
  coverage: number
}

/**
 * Values from the pixels of a release's coverages; null where no layer has one. A number that leaves the
 * range of doubles is none.
 */
export function valuesOf(layers: PlacedLayer[], pixels: StoredPixels[]): LayerValues | null {
  const values: LayerValues = []
  let any = false
  for (const { coverage, band, scale, offset, decimals } of layers) {
    const value = (pixels[coverage]?.[band - 1] ?? Number.NaN) * scale + offset
    const known = Number.isFinite(value)
    any ||= known
    values.push(known ? round(value, decimals) : Number.NaN)
  }
  return any ? values : null
}
