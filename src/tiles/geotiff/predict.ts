import type { Pixels } from '#src/raster/pixels.ts'

/** TIFF's names for what follows: differences of whole numbers, and of the bytes of floats (Adobe, TIFF Technical Note 3). */
const HORIZONTAL = 2
const FLOATING_POINT = 3

/** How pixels of a type are written so that they become shorter: by a third, where neighbours are alike. */
export function predictorOf(pixels: Pixels): number {
  return isFloat(pixels) ? FLOATING_POINT : HORIZONTAL
}

/**
 * Replaces each pixel by how it differs from the one before it in its row; of floats, their bytes are put side by side by
 * their weight first.
 *
 * @param pixels rows of `width`, which are changed
 * @returns their bytes
 */
export function predicted(pixels: Pixels, width: number): Uint8Array {
  const bytes = new Uint8Array(pixels.buffer as ArrayBuffer, pixels.byteOffset, pixels.byteLength)
  const size = pixels.BYTES_PER_ELEMENT
  if (!isFloat(pixels)) {
    for (let start = 0; start < pixels.length; start += width) difference(pixels, start, start + width)
    return bytes
  }
  const planes = new Uint8Array(bytes.length)
  for (let start = 0; start < bytes.length; start += width * size) {
    for (let plane = 0; plane < size; plane++) {
      // The most significant byte comes last in memory, and first here.
      const from = start + size - 1 - plane
      const to = start + plane * width
      for (let at = 0; at < width; at++) planes[to + at] = bytes[from + at * size] as number
    }
    difference(planes, start, start + width * size)
  }
  return planes
}

/** From the end, so that what is subtracted is what was there. What is beyond the type wraps around. */
function difference(numbers: Pixels, start: number, end: number): void {
  for (let at = end - 1; at > start; at--) {
    numbers[at] = (numbers[at] as number) - (numbers[at - 1] as number)
  }
}

function isFloat(pixels: Pixels): boolean {
  return pixels instanceof Float32Array || pixels instanceof Float64Array
}
