/** Each power of two is divided into so many buckets: a value is kept to within 1 of 128 parts. */
const SUBDIVISIONS = 128
const POWERS = 32

/** Latencies, counted in buckets whose width grows with them: recording one costs a few nanoseconds. */
export class Histogram {
  count = 0
  readonly #buckets = new Uint32Array(SUBDIVISIONS * POWERS)

  /** @param microseconds below 2^32, fractions are dropped */
  record(microseconds: number): void {
    const index = bucketOf(microseconds)
    this.#buckets[index] = (this.#buckets[index] as number) + 1
    this.count++
  }

  /** The latency that a part, from 0 to 1, of the requests did not exceed, in milliseconds; NaN of none. */
  quantile(part: number): number {
    const rank = Math.max(1, Math.ceil(part * this.count))
    let seen = 0
    for (let index = 0; index < this.#buckets.length; index++) {
      seen += this.#buckets[index] as number
      if (seen >= rank) return middleOf(index) / 1000
    }
    return Number.NaN
  }
}

function bucketOf(microseconds: number): number {
  const value = Math.floor(microseconds)
  if (value < SUBDIVISIONS) return value
  const power = 31 - Math.clz32(value) - 7
  return SUBDIVISIONS * power + (value >>> power)
}

function middleOf(index: number): number {
  if (index < 2 * SUBDIVISIONS) return index + 0.5
  const power = Math.floor(index / SUBDIVISIONS) - 1
  return (index - SUBDIVISIONS * power + 0.5) * 2 ** power
}
