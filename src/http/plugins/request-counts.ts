import type { FastifyReply, FastifyRequest, RouteOptions } from 'fastify'
import fp from 'fastify-plugin'
import { DAY_MS, dayOf } from '#src/lib/days.ts'
import { bucketOf, type Latencies, noLatencies } from '#src/lib/histogram.ts'
import type { App } from '../app.ts'

/** How many requests of a day had one outcome, and how long they took. */
export interface RequestCount {
  /** ISO date, UTC. */
  day: string
  /** The operationId, or what else was asked for. */
  operation: string
  status: number
  /** The code of an error; empty for a success. */
  code: string
  requests: number
  totalMs: number
  maxMs: number
  latencies: Latencies
}

/** Adds counts to those that are kept; each day, operation, status and code comes once. */
export type AddCounts = (counts: RequestCount[]) => Promise<void>

declare module 'fastify' {
  interface FastifyInstance {
    /** Adds what has been counted in this process to what is kept. */
    flushRequestCounts(): Promise<void>
  }
}

/** What a crash of the process may lose of the counts. */
const FLUSH_MS = 10_000

interface Operation {
  name: string
  /** By error code, or by status where there is none. */
  outcomes: Map<string | number, RequestCount>
}

/**
 * Counts every request that is answered, unknown paths included, in memory: a few additions a request.
 * Now and then, and when the service closes, the counts are added to those in the database; where that
 * fails they wait for the next time. Nothing of who asked is counted.
 */
export const requestCounts = fp(
  async (app: App, { add }: { add: AddCounts }) => {
    const operations: Operation[] = []
    let today = dayOf(Date.now())
    let endOfToday = nextDay(Date.now())
    let waiting = new Map<string, RequestCount>()

    function counterOf(name: string) {
      const operation: Operation = { name, outcomes: new Map() }
      operations.push(operation)
      return (request: FastifyRequest, reply: FastifyReply, done: () => void): void => {
        const now = Date.now()
        if (now >= endOfToday) {
          collect()
          today = dayOf(now)
          endOfToday = nextDay(now)
        }
        count(operation, request.errorCode ?? '', reply.statusCode, reply.elapsedTime)
        done()
      }
    }

    function count({ name, outcomes }: Operation, code: string, status: number, milliseconds: number): void {
      const key = code || status
      let outcome = outcomes.get(key)
      if (!outcome) {
        outcome = {
          day: today,
          operation: name,
          status,
          code,
          requests: 0,
          totalMs: 0,
          maxMs: 0,
          latencies: noLatencies(),
        }
        outcomes.set(key, outcome)
      }
      outcome.requests++
      outcome.totalMs += milliseconds
      if (milliseconds > outcome.maxMs) outcome.maxMs = milliseconds
      const bucket = bucketOf(milliseconds)
      outcome.latencies[bucket] = (outcome.latencies[bucket] ?? 0) + 1
    }

    function collect(): void {
      for (const { outcomes } of operations) {
        for (const outcome of outcomes.values()) merge(waiting, outcome)
        outcomes.clear()
      }
    }

    async function write(): Promise<void> {
      collect()
      if (waiting.size === 0) return
      const counts = [...waiting.values()]
      waiting = new Map()
      try {
        await add(counts)
      } catch (error) {
        // Whether they were written may be unknown: then they count twice rather than never.
        for (const one of counts) merge(waiting, one)
        throw error
      }
    }

    let writing: Promise<void> = Promise.resolve()
    function flush(): Promise<void> {
      writing = writing.catch(() => {}).then(write)
      return writing
    }
    const tryFlush = () =>
      flush().catch((error) => app.log.warn({ err: error }, 'requests could not be counted yet'))

    app.decorate('flushRequestCounts', flush)
    app.addHook('onRoute', (route) => {
      route.onResponse = [counterOf(nameOf(route)), ...[route.onResponse ?? []].flat()]
    })
    const countUnknownPath = counterOf('unknownPath')
    app.addHook('onResponse', (request, reply, done) => {
      if (request.is404) countUnknownPath(request, reply, done)
      else done()
    })
    const timer = setInterval(tryFlush, FLUSH_MS).unref()
    app.addHook('onClose', async () => {
      clearInterval(timer)
      await tryFlush()
    })
  },
  { name: 'request-counts', dependencies: ['error-handler'] },
)

/** What a route is counted as. Those that are no operation of the API are pages about it. */
function nameOf({ schema, method }: RouteOptions): string {
  return schema?.operationId ?? (method === 'OPTIONS' ? 'preflight' : 'documentation')
}

function merge(into: Map<string, RequestCount>, count: RequestCount): void {
  const key = `${count.day} ${count.operation} ${count.status} ${count.code}`
  const present = into.get(key)
  if (!present) {
    into.set(key, count)
    return
  }
  present.requests += count.requests
  present.totalMs += count.totalMs
  present.maxMs = Math.max(present.maxMs, count.maxMs)
  present.latencies = present.latencies.map((n, bucket) => n + (count.latencies[bucket] as number))
}

function nextDay(time: number): number {
  return (Math.floor(time / DAY_MS) + 1) * DAY_MS
}
