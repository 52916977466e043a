import { addTally, countsByOctave, emptyTally, type Tally } from '#src/lib/tallies.ts'
import type { RoutePattern } from '../request.ts'
import type { Sample } from './metrics.ts'

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
