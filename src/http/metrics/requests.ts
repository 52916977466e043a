import { countsByOctave, type Latencies, noLatencies, sumOf } from '#src/lib/histogram.ts'
import type { RouteTotal } from '../request-counter.ts'
import type { RoutePattern } from '../route-pattern.ts'
import type { Metrics, Sample } from './metrics.ts'

/** Shows how requests have ended and how long they took, from what is counted of them anyway. */
export function observeRequests(metrics: Metrics, totals: () => RouteTotal[]): void {
  metrics.observeAll('http_request_duration_seconds', () => byStatus(totals()).flatMap(histogramOf))
  metrics.observeAll('agro_http_errors_total', () => errorsOf(totals()))
}

interface StatusTotal extends RoutePattern {
  status: number
  requests: number
  totalMs: number
  latencies: Latencies
}

/** Errors of several codes have one status. */
function byStatus(totals: RouteTotal[]): StatusTotal[] {
  const found = new Map<string, StatusTotal>()
  for (const { method, route, status, requests, totalMs, latencies } of totals) {
    const key = `${method} ${route} ${status}`
    const before = found.get(key) ?? { requests: 0, totalMs: 0, latencies: noLatencies() }
    found.set(key, {
      method,
      route,
      status,
      requests: before.requests + requests,
      totalMs: before.totalMs + totalMs,
      latencies: sumOf(before.latencies, latencies),
    })
  }
  return [...found.values()]
}

function histogramOf({ method, route, status, requests, totalMs, latencies }: StatusTotal): Sample[] {
  const labels = { method, route, status: String(status) }
  const name = 'http_request_duration_seconds'
  const bucket = (le: string, value: number) => ({
    labels: { le, ...labels },
    value,
    metricName: `${name}_bucket`,
  })
  return [
    ...countsByOctave(latencies).map(({ limitMs, count }) => bucket(secondsOf(limitMs), count)),
    bucket('+Inf', requests),
    { labels, value: totalMs / 1000, metricName: `${name}_sum` },
    { labels, value: requests, metricName: `${name}_count` },
  ]
}

/** Without the noise of binary fractions: a limit is the name of its bucket. */
function secondsOf(milliseconds: number): string {
  return String(Number((milliseconds / 1000).toPrecision(6)))
}

function errorsOf(totals: RouteTotal[]): Sample[] {
  const errors = new Map<string, number>()
  for (const { code, requests } of totals) {
    if (code !== '') errors.set(code, (errors.get(code) ?? 0) + requests)
  }
  return [...errors].map(([code, value]) => ({ labels: { code }, value }))
}
