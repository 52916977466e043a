import type { TileBand } from './raster-wkb.ts'

/** Weighted statistics of pixels, before scale and offset: of none, the weight is 0. */
export interface Summary {
  /** The area of the pixels that have a value. */
  weight: number
  mean: number
  /** The sum of the squared differences from the mean, each times its weight. */
  squares: number
  minimum: number
  maximum: number
}

export function emptySummary(): Summary {
  return {
    weight: 0,
    mean: 0,
    squares: 0,
    minimum: Number.POSITIVE_INFINITY,
    maximum: Number.NEGATIVE_INFINITY,
  }
}

/**
 * Adds other pixels to a summary (Chan, Golub and LeVeque, 1979: pairwise, so that nothing is lost
 * where values are large and vary little).
 */
export function addSummary(to: Summary, other: Summary): void {
  if (other.weight === 0) return
  const weight = to.weight + other.weight
  const difference = other.mean - to.mean
  const part = other.weight / weight
  to.squares += other.squares + difference * difference * to.weight * part
  to.mean += difference * part
  to.weight = weight
  if (other.minimum < to.minimum) to.minimum = other.minimum
  if (other.maximum > to.maximum) to.maximum = other.maximum
}

/** Some pixels of a band: a rectangle in an array of rows. */
export interface PixelRectangle {
  start: number
  stride: number
  width: number
  height: number
}

/**
 * The summary of a rectangle of pixels.
 *
 * @param weights of the pixels, in rows of `weightStride`; those of weight 0 do not count
 */
export function summaryOf(
  { pixels, nodata }: TileBand,
  { start, stride, width, height }: PixelRectangle,
  weights: Float64Array,
  weightStride: number,
): Summary {
  const summary = emptySummary()
  let total = 0
  let sum = 0
  for (let row = 0; row < height; row++) {
    for (let column = 0; column < width; column++) {
      const weight = weights[row * weightStride + column] as number
      const pixel = pixels[start + row * stride + column] as number
      if (weight === 0 || pixel === nodata) continue
      total += weight
      sum += weight * pixel
      if (pixel < summary.minimum) summary.minimum = pixel
      if (pixel > summary.maximum) summary.maximum = pixel
    }
  }
  if (total === 0) return summary
  const mean = sum / total
  let squares = 0
  for (let row = 0; row < height; row++) {
    for (let column = 0; column < width; column++) {
      const weight = weights[row * weightStride + column] as number
      const pixel = pixels[start + row * stride + column] as number
      if (weight !== 0 && pixel !== nodata) squares += weight * (pixel - mean) * (pixel - mean)
    }
  }
  return { ...summary, weight: total, mean, squares }
}
