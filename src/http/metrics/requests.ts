import type { RoutePattern } from '../request.ts'
import type { Sample } from './metrics.ts'

const FIRST_MS = 0.1
/** Each bucket ends 2^(1/4) times as late as the one before. */
const BUCKETS_PER_OCTAVE = 4
/** The last bucket ends at 74 s, and has longer durations too. */
const BUCKETS = 79

/** Numbers of requests by duration, in buckets of constant relative width. */
export type Latencies = number[]

export function noLatencies(): Latencies {
  return new Array(BUCKETS).fill(0)
}

export function findBucket(milliseconds: number): number {
  if (milliseconds <= FIRST_MS) return 0
  return Math.min(Math.ceil(BUCKETS_PER_OCTAVE * Math.log2(milliseconds / FIRST_MS)), BUCKETS - 1)
}

/** Numbers of durations up to limits, each of which is twice the one before; longer ones are in none. */
function countsByOctave(latencies: Latencies): { limitMs: number; count: number }[] {
  const counts: { limitMs: number; count: number }[] = []
  let count = 0
  for (let bucket = 0; bucket < BUCKETS - 1; bucket++) {
    count += latencies[bucket] as number
    const octave = bucket / BUCKETS_PER_OCTAVE
    if (Number.isInteger(octave)) counts.push({ limitMs: FIRST_MS * 2 ** octave, count })
  }
  return counts
}

/** In milliseconds, exact to within 10 % between 0.1 ms and 74 s; null without requests. */
export function quantile(latencies: Latencies, part: number, longest: number): number | null {
  const rank = Math.ceil(latencies.reduce((sum, count) => sum + count, 0) * part)
  if (rank === 0) return null
  let seen = 0
  const bucket = latencies.findIndex((count) => {
    seen += count
    return seen >= rank
  })
  // The middle of the bucket on the logarithmic scale.
  return Math.min(FIRST_MS * 2 ** ((bucket - 0.5) / BUCKETS_PER_OCTAVE), longest)
}

/** Requests, and how long they took. */
export interface Tally {
  requests: number
  totalMs: number
  maxMs: number
  latencies: Latencies
}

export function emptyTally(): Tally {
  return { requests: 0, totalMs: 0, maxMs: 0, latencies: noLatencies() }
}

export function addTally(sum: Tally, { requests, totalMs, maxMs, latencies }: Tally): void {
  sum.requests += requests
  sum.totalMs += totalMs
  sum.maxMs = Math.max(sum.maxMs, maxMs)
  sum.latencies = sum.latencies.map((count, bucket) => count + (latencies[bucket] as number))
}

export interface Outcome {
  status: number
  code: string
}

/** Requests for a route with one outcome since the start of the process. */
export interface RouteTotal extends RoutePattern, Outcome, Tally {}

/** Errors of several codes have one status, and one histogram. */
export function createHistograms(totals: RouteTotal[]): Sample[] {
  const sums = new Map<string, RouteTotal>()
  for (const total of totals) {
    const { method, route, status } = total
    const key = `${method} ${route} ${status}`
    const sum = sums.get(key) ?? { method, route, status, code: '', ...emptyTally() }
    addTally(sum, total)
    sums.set(key, sum)
  }
  return [...sums.values()].flatMap(createHistogram)
}

function createHistogram({ method, route, status, requests, totalMs, latencies }: RouteTotal): Sample[] {
  const labels = { method, route, status: String(status) }
  const name = 'http_request_duration_seconds'
  const bucket = (le: string, value: number) => ({
    labels: { le, ...labels },
    value,
    metricName: `${name}_bucket`,
  })
  return [
    // Without the noise of binary fractions: a limit is the name of its bucket.
    ...countsByOctave(latencies).map(({ limitMs, count }) =>
      bucket(String(Number((limitMs / 1000).toPrecision(6))), count),
    ),
    bucket('+Inf', requests),
    { labels, value: totalMs / 1000, metricName: `${name}_sum` },
    { labels, value: requests, metricName: `${name}_count` },
  ]
}

export function countErrors(totals: RouteTotal[]): Sample[] {
  const errors = new Map<string, number>()
  for (const { code, requests } of totals) {
    if (code !== '') errors.set(code, (errors.get(code) ?? 0) + requests)
  }
  return [...errors].map(([code, value]) => ({ labels: { code }, value }))
}
