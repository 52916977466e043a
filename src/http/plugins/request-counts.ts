import type { FastifyReply, FastifyRequest, RouteOptions } from 'fastify'
import fp from 'fastify-plugin'
import type { App } from '../app.ts'
import type { Sample } from '../metrics/metrics.ts'
import { findRoutePattern, type RoutePattern, UNKNOWN_PATH } from '../request.ts'
import {
  type AddCounts,
  addTally,
  countsByOctave,
  createPendingCounts,
  createRequestCounter,
  createSlowCalls,
  createToday,
  emptyTally,
  type RouteTotal,
} from '../request-counter.ts'

/** Errors of several codes have one status, and one histogram. */
function createHistograms(totals: RouteTotal[]): Sample[] {
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
    ...countsByOctave(latencies).map(({ limitMs, count }) => bucket(formatSeconds(limitMs), count)),
    bucket('+Inf', requests),
    { labels, value: totalMs / 1000, metricName: `${name}_sum` },
    { labels, value: requests, metricName: `${name}_count` },
  ]
}

/** Without the noise of binary fractions: a limit is the name of its bucket. */
function formatSeconds(milliseconds: number): string {
  return String(Number((milliseconds / 1000).toPrecision(6)))
}

function countErrors(totals: RouteTotal[]): Sample[] {
  const errors = new Map<string, number>()
  for (const { code, requests } of totals) {
    if (code !== '') errors.set(code, (errors.get(code) ?? 0) + requests)
  }
  return [...errors].map(([code, value]) => ({ labels: { code }, value }))
}

declare module 'fastify' {
  interface FastifyInstance {
    flushRequestCounts(): Promise<void>
    slowCalls: Pick<ReturnType<typeof createSlowCalls>, 'read'>
  }
}

/** Counts each answered request, unknown paths included, and keeps the slowest ones, without anything of the callers. */
export const requestCounts = fp(
  async (app: App, { add }: { add: AddCounts }) => {
    const { counterOf, flush, totals } = createRequestCounter(add)
    app.metrics.observeAll('http_request_duration_seconds', () => createHistograms(totals()))
    app.metrics.observeAll('agro_http_errors_total', () => countErrors(totals()))
    const slowCalls = createSlowCalls()

    function createHook(name: string, pattern: RoutePattern) {
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
        createHook(nameRoute(route), findRoutePattern(route, app.config.BASE_PATH)),
        ...[route.onResponse ?? []].flat(),
      ]
    })
    const countUnknownPath = createHook('unknownPath', UNKNOWN_PATH)
    app.addHook('onResponse', (request, reply, done) => {
      if (request.is404) countUnknownPath(request, reply, done)
      else done()
    })

    app.jobs.add('store-request-counts', flush, flush)
  },
  { name: 'request-counts', dependencies: ['error-handler', 'jobs', 'metrics', 'warm-up-requests'] },
)

/** Name in the counts; routes without an operation are pages of the documentation. */
function nameRoute({ schema, method }: RouteOptions): string {
  return schema?.operationId ?? (method === 'OPTIONS' ? 'preflight' : 'documentation')
}

export interface KeyUsage {
  keyId: string
  /** ISO date, UTC. */
  day: string
  requests: number
}

/** Adds usage to that in the database; key and day are unique. */
export type AddKeyUsage = (usage: KeyUsage[]) => Promise<void>

/** Keys and days in memory. Only keys of the database are counted, so there are rarely as many. */
const MOST_COUNTS = 10_000

declare module 'fastify' {
  interface FastifyInstance {
    countKeyRequest(keyId: string): void
    flushKeyUsage(): Promise<void>
  }
}

export const keyUsage = fp(
  async (app: App, { add: write }: { add: AddKeyUsage }) => {
    const today = createToday()
    const { add, flush } = createPendingCounts<KeyUsage>({
      keyOf: ({ keyId, day }) => `${keyId} ${day}`,
      merge: (sum, { requests }) => {
        sum.requests += requests
      },
      write,
      most: MOST_COUNTS,
    })
    app.decorate('countKeyRequest', (keyId: string) => add({ keyId, day: today(), requests: 1 }))
    app.decorate('flushKeyUsage', flush)
    app.jobs.add('store-key-usage', flush, flush)
  },
  { name: 'key-usage', dependencies: ['jobs'] },
)
