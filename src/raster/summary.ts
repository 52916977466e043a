import type { CoveredPixels } from './blocks.ts'
import type { TileBand } from './tiles.ts'

/** Before scale and offset; weight 0 without pixels. */
export interface Summary {
  weight: number
  mean: number
  /** Weighted squared differences from the mean. */
  squares: number
  minimum: number
  maximum: number
}

/** value = pixel * scale + offset. */
export interface Scaling {
  scale: number
  offset: number
}

/** In values. */
export function scaleSummary(
  { weight, mean, squares, minimum, maximum }: Summary,
  { scale, offset }: Scaling,
) {
  const [one, other] = [minimum * scale + offset, maximum * scale + offset]
  return {
    minimum: Math.min(one, other),
    maximum: Math.max(one, other),
    mean: mean * scale + offset,
    deviation: Math.sqrt(squares / weight) * Math.abs(scale),
    weight,
  }
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

/** Pairwise (Chan, Golub and LeVeque, 1979): precise for large values of little variance. */
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

export function summarizePixels({ pixels, nodata }: TileBand, { indexes, areas }: CoveredPixels): Summary {
  const summary = emptySummary()
  let total = 0
  let sum = 0
  for (let at = 0; at < areas.length; at++) {
    const weight = areas[at] as number
    const pixel = pixels[indexes[at] as number] as number
    if (weight === 0 || pixel === nodata) continue
    total += weight
    sum += weight * pixel
    if (pixel < summary.minimum) summary.minimum = pixel
    if (pixel > summary.maximum) summary.maximum = pixel
  }
  if (total === 0) return summary
  const mean = sum / total
  let squares = 0
  for (let at = 0; at < areas.length; at++) {
    const weight = areas[at] as number
    const pixel = pixels[indexes[at] as number] as number
    if (weight !== 0 && pixel !== nodata) squares += weight * (pixel - mean) * (pixel - mean)
  }
  return { ...summary, weight: total, mean, squares }
}

/**
 * As {@link summarizePixels}, of a whole tile: in half of the time.
 *
 * @param areas of the pixels of each row
 * @param start the index of the tile's first pixel
 * @param stride of the rows in `pixels`
 */
export function summarizeTile(
  { pixels, nodata }: TileBand,
  areas: Float64Array,
  { start, stride, width }: { start: number; stride: number; width: number },
): Summary {
  let [total, sum] = [0, 0]
  let [minimum, maximum] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY]
  for (let row = 0; row < areas.length; row++) {
    const weight = areas[row] as number
    if (weight === 0) continue
    for (let at = start + row * stride, end = at + width; at < end; at++) {
      const pixel = pixels[at] as number
      if (pixel === nodata) continue
      total += weight
      sum += weight * pixel
      if (pixel < minimum) minimum = pixel
      if (pixel > maximum) maximum = pixel
    }
  }
  if (total === 0) return emptySummary()
  const mean = sum / total
  let squares = 0
  for (let row = 0; row < areas.length; row++) {
    const weight = areas[row] as number
    if (weight === 0) continue
    for (let at = start + row * stride, end = at + width; at < end; at++) {
      const pixel = pixels[at] as number
      if (pixel !== nodata) squares += weight * (pixel - mean) * (pixel - mean)
    }
  }
  return { weight: total, mean, squares, minimum, maximum }
}

/** Stored together: single blocks would take twice the space. */
export const RUN_LENGTH = 32

/** Raise it with each change of the format or its meaning. */
export const SUMMARY_VERSION = 2

const MASK_BYTES = 4
const DOUBLE_BYTES = 8
const FLOAT_BYTES = 4

/** A byte for Float32 extremes, and a mask of blocks with a new weight. */
const BAND_HEAD_BYTES = 1 + MASK_BYTES

/**
 * Little-endian: a mask of blocks with values, the first in the lowest bit. Then by band: 1 for Float32 extremes; a
 * mask of blocks with a new weight; these weights as doubles; by block mean and squares as doubles, minimum and
 * maximum.
 *
 * @param blocks by index in the run, a summary a band
 */
export function encodeRun(blocks: Map<number, Summary[]>): Buffer {
  const indexes = [...blocks.keys()].sort((a, b) => a - b)
  const bandCount = blocks.get(indexes[0] as number)?.length ?? 0
  const parts: Buffer[] = [encodeMask(indexes)]
  for (let band = 0; band < bandCount; band++) {
    parts.push(
      encodeBand(
        indexes,
        indexes.map((index) => (blocks.get(index) as Summary[])[band] as Summary),
      ),
    )
  }
  return Buffer.concat(parts)
}

function encodeBand(indexes: number[], summaries: Summary[]): Buffer {
  const isNew = summaries.map(({ weight }, at) => weight !== summaries[at - 1]?.weight)
  const areFloats = summaries.every(({ minimum, maximum }) => isFloat(minimum) && isFloat(maximum))
  const endBytes = areFloats ? FLOAT_BYTES : DOUBLE_BYTES
  const weights = isNew.filter(Boolean).length
  const bytes = Buffer.allocUnsafe(
    BAND_HEAD_BYTES + weights * DOUBLE_BYTES + summaries.length * 2 * (DOUBLE_BYTES + endBytes),
  )
  bytes.writeUInt8(areFloats ? 1 : 0)
  encodeMask(indexes.filter((_, at) => isNew[at])).copy(bytes, 1)
  let at = BAND_HEAD_BYTES
  for (const [index, { weight }] of summaries.entries())
    if (isNew[index]) at = bytes.writeDoubleLE(weight, at)
  for (const { mean, squares, minimum, maximum } of summaries) {
    at = bytes.writeDoubleLE(mean, at)
    at = bytes.writeDoubleLE(squares, at)
    for (const end of [minimum, maximum]) {
      at = areFloats ? bytes.writeFloatLE(end, at) : bytes.writeDoubleLE(end, at)
    }
  }
  return bytes
}

function isFloat(number: number): boolean {
  return Math.fround(number) === number
}

function encodeMask(indexes: number[]): Buffer {
  const mask = Buffer.alloc(MASK_BYTES)
  mask.writeUInt32LE(indexes.reduce((bits, index) => (bits | (1 << index)) >>> 0, 0))
  return mask
}

export class SummaryRun {
  readonly #bytes: Buffer
  readonly #blocks: number
  readonly #bands: { areFloats: boolean; newWeights: number; weights: number; summaries: number }[] = []

  constructor(bytes: Buffer) {
    this.#bytes = bytes
    this.#blocks = bytes.readUInt32LE(0)
    const count = bitCount(this.#blocks)
    for (let at = MASK_BYTES; at < bytes.length; ) {
      const areFloats = bytes.readUInt8(at) === 1
      const newWeights = bytes.readUInt32LE(at + 1)
      const weights = at + BAND_HEAD_BYTES
      const summaries = weights + bitCount(newWeights) * DOUBLE_BYTES
      this.#bands.push({ areFloats, newWeights, weights, summaries })
      at = summaries + count * bytesOfSummary(areFloats)
    }
  }

  has(index: number): boolean {
    return ((this.#blocks >>> index) & 1) === 1
  }

  /** @param band from 1 */
  summary(index: number, band: number): Summary {
    const found = this.#bands[band - 1]
    if (!found || !this.has(index)) return emptySummary()
    const bytes = this.#bytes
    const upTo = 0xffff_ffff >>> (RUN_LENGTH - 1 - index)
    const { areFloats, newWeights, weights, summaries } = found
    const weightAt = weights + (bitCount(newWeights & upTo) - 1) * DOUBLE_BYTES
    const at = summaries + (bitCount(this.#blocks & upTo) - 1) * bytesOfSummary(areFloats)
    const ends = at + 2 * DOUBLE_BYTES
    return {
      weight: bytes.readDoubleLE(weightAt),
      mean: bytes.readDoubleLE(at),
      squares: bytes.readDoubleLE(at + DOUBLE_BYTES),
      minimum: areFloats ? bytes.readFloatLE(ends) : bytes.readDoubleLE(ends),
      maximum: areFloats ? bytes.readFloatLE(ends + FLOAT_BYTES) : bytes.readDoubleLE(ends + DOUBLE_BYTES),
    }
  }
}

function bytesOfSummary(areFloats: boolean): number {
  return 2 * (DOUBLE_BYTES + (areFloats ? FLOAT_BYTES : DOUBLE_BYTES))
}

function bitCount(bits: number): number {
  let pairs = bits - ((bits >>> 1) & 0x5555_5555)
  pairs = (pairs & 0x3333_3333) + ((pairs >>> 2) & 0x3333_3333)
  return (((pairs + (pairs >>> 4)) & 0x0f0f_0f0f) * 0x0101_0101) >>> 24
}
