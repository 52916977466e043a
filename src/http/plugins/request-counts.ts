import type { FastifyReply, FastifyRequest, RouteOptions } from 'fastify'
import fp from 'fastify-plugin'
import type { App } from '../app.ts'
import { observeRequests } from '../metrics/requests.ts'
import { flushRegularly } from '../regular-flush.ts'
import { type AddCounts, createRequestCounter } from '../request-counter.ts'
import { patternOf, type RoutePattern, UNKNOWN_PATH } from '../route-pattern.ts'
import { createSlowCalls, type SlowCalls } from '../slow-calls.ts'

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
        if (!app.rehearsing) {
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

    flushRegularly(app, flush, 'requests could not be counted yet')
  },
  { name: 'request-counts', dependencies: ['error-handler', 'metrics', 'rehearsal'] },
)

/** What a route is counted as. Those that are no operation of the API are pages about it. */
function nameOf({ schema, method }: RouteOptions): string {
  return schema?.operationId ?? (method === 'OPTIONS' ? 'preflight' : 'documentation')
}
