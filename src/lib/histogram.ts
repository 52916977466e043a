/** Durations up to this, in milliseconds, are in the first bucket. */
const FIRST_MS = 0.1
/** Each bucket ends 2^(1/4) times as late as the one before. */
const BUCKETS_PER_OCTAVE = 4
/** The last bucket ends at 74 s, and has whatever takes longer, too. */
const BUCKETS = 79

/** How many of some requests took how long, in buckets of constant relative width. */
export type Latencies = number[]

export function noLatencies(): Latencies {
  return new Array(BUCKETS).fill(0)
}

export function sumOf(some: Latencies, others: Latencies): Latencies {
  return some.map((count, bucket) => count + (others[bucket] as number))
}

/** The bucket of a duration in milliseconds. */
export function bucketOf(milliseconds: number): number {
  if (milliseconds <= FIRST_MS) return 0
  return Math.min(Math.ceil(BUCKETS_PER_OCTAVE * Math.log2(milliseconds / FIRST_MS)), BUCKETS - 1)
}

/** How many durations did not exceed a limit, in milliseconds. */
export interface UpTo {
  limitMs: number
  count: number
}

/** The counts up to limits each of which is twice the one before; what exceeds the last of them is in none. */
export function countsByOctave(latencies: Latencies): UpTo[] {
  const counts: UpTo[] = []
  let count = 0
  for (let bucket = 0; bucket < BUCKETS - 1; bucket++) {
    count += latencies[bucket] as number
    const octave = bucket / BUCKETS_PER_OCTAVE
    if (Number.isInteger(octave)) counts.push({ limitMs: FIRST_MS * 2 ** octave, count })
  }
  return counts
}

/**
 * The duration in milliseconds that a part of the requests did not exceed: exact to within 10 %, between
 * 0.1 ms and 74 s. Null where there were none.
 *
 * @param longest the longest of the durations, which no answer exceeds
 */
export function quantile(latencies: Latencies, part: number, longest: number): number | null {
  const rank = Math.ceil(latencies.reduce((sum, count) => sum + count, 0) * part)
  if (rank === 0) return null
  let seen = 0
  const bucket = latencies.findIndex((count) => {
    seen += count
    return seen >= rank
  })
  // In the middle of the bucket, on the logarithmic scale.
  return Math.min(FIRST_MS * 2 ** ((bucket - 0.5) / BUCKETS_PER_OCTAVE), longest)
}
