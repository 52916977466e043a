import type { Rgba } from '#src/raster/palette-png.ts'

const NOTHING: Rgba = [0, 0, 0, 0]

const OPAQUE = 255

/**
 * The colours of classes, from low values to high: viridis (N. Smith and S. van der Walt, 2015, public domain) at equal
 * distances. It rises in lightness, so that it is read in grey and by people who do not see red or green.
 */
const VIRIDIS: readonly [number, number, number][] = [
  [68, 1, 84],
  [68, 57, 131],
  [49, 104, 142],
  [33, 145, 140],
  [53, 183, 121],
  [144, 215, 67],
  [253, 231, 37],
]

/** The most classes that a map has. */
export const MOST_CLASSES = VIRIDIS.length

/** A colour for each of some classes. */
export function coloursOf(classes: number): Rgba[] {
  return Array.from({ length: classes }, (_, at) => {
    const place = classes === 1 ? (MOST_CLASSES - 1) / 2 : (at * (MOST_CLASSES - 1)) / (classes - 1)
    return [...(VIRIDIS[Math.round(place)] as [number, number, number]), OPAQUE] as const
  })
}

/** The colours of pixels: the first stands for no value, the others for classes. */
export function paletteOf(classes: number): Rgba[] {
  return [NOTHING, ...coloursOf(classes)]
}

/** A colour as pages write it. */
export function hexOf([red, green, blue]: Rgba): string {
  return `#${[red, green, blue].map((part) => part.toString(16).padStart(2, '0')).join('')}`
}
