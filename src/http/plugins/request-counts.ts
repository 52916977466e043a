import type { FastifyReply, FastifyRequest, RouteOptions } from 'fastify'
import fp from 'fastify-plugin'
import type { App } from '../app.ts'
import type { Metrics, Sample } from '../metrics/metrics.ts'
import { patternOf, type RoutePattern, UNKNOWN_PATH } from '../request.ts'
import {
  type AddCounts,
  countsByOctave,
  createRequestCounter,
  createSlowCalls,
  type Latencies,
  noLatencies,
  type RouteTotal,
  type SlowCalls,
  sumOf,
} from '../request-counter.ts'

/** Shows how requests have ended and how long they took, from what is counted of them anyway. */
function observeRequests(metrics: Metrics, totals: () => RouteTotal[]): void {
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

declare module 'fastify' {
  interface FastifyInstance {
    /** Adds what has been counted in this process to what is kept. */
    flushRequestCounts(): Promise<void>
    /** The slowest calls that this process has answered lately. */
    slowCalls: Pick<SlowCalls, 'read'>
  }
}

/**
 * Counts every request that is answered, unknown paths included, in memory: a few additions a request, and keeps the
 * slowest ones. Now and then, and when the service closes, the counts are added to those in the database; where that
 * fails they wait for the next time. Nothing of who asked is counted or kept.
 */
export const requestCounts = fp(
  async (app: App, { add }: { add: AddCounts }) => {
    const { counterOf, flush, totals } = createRequestCounter(add)
    observeRequests(app.metrics, totals)
    const slowCalls = createSlowCalls()

    function hookOf(name: string, pattern: RoutePattern) {
      const count = counterOf(name, pattern)
      const note = slowCalls.noterOf(name)
      return (request: FastifyRequest, reply: FastifyReply, done: () => void): void => {
        if (!app.warmingUp) {
          const { statusCode, elapsedTime } = reply
          const code = request.errorCode ?? ''
          count(statusCode, code, elapsedTime)
          note(statusCode, code, elapsedTime, request.id)
        }
        done()
      }
    }

    app.decorate('flushRequestCounts', flush)
    app.decorate('slowCalls', slowCalls)
    app.addHook('onRoute', (route) => {
      route.onResponse = [
        hookOf(nameOf(route), patternOf(route, app.config.BASE_PATH)),
        ...[route.onResponse ?? []].flat(),
      ]
    })
    const countUnknownPath = hookOf('unknownPath', UNKNOWN_PATH)
    app.addHook('onResponse', (request, reply, done) => {
      if (request.is404) countUnknownPath(request, reply, done)
      else done()
    })

    app.jobs.add('store-request-counts', flush, flush)
  },
  { name: 'request-counts', dependencies: ['error-handler', 'jobs', 'metrics', 'warm-up-requests'] },
)

/** What a route is counted as. Those that are no operation of the API are pages about it. */
function nameOf({ schema, method }: RouteOptions): string {
  return schema?.operationId ?? (method === 'OPTIONS' ? 'preflight' : 'documentation')
}
