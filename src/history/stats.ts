import type { FastifyRequest } from 'fastify'
import type { Static, TSchema } from 'typebox'
import {
  type AdvisoryCounts,
  defineStatsSchemas,
  type ServiceStats,
  SlowCallsAnswer,
  STATS_DAYS,
  type Stats,
  StatsQuery,
} from '#schemas/stats.ts'
import { ADMIN_ERRORS, ApiError, notAllowed } from '#src/errors.ts'
import { type App, answers } from '#src/http/app.ts'
import { requireCaller } from '#src/http/caller.ts'
import { quantile } from '#src/http/metrics/requests.ts'
import { readQuery } from '#src/http/parameters.ts'
import { DAY_MS, formatDay } from '#src/lib/dates.ts'
import { round } from '#src/lib/round.ts'
import {
  countErrors,
  countFeedback,
  countRequests,
  countUsage,
  countUsers,
  type TrafficRow,
  type UsageRow,
} from './stats-queries.ts'

/** The first day that the database can write as the API does: years before it are counted backwards. */
const FIRST_DAY = dayNumber('0001-01-01')

type Days = Parameters<typeof countRequests>[1]

/** By default 30 days up to today. @throws {ApiError} INVALID_PARAMETERS */
function daysBetween(from: string | undefined, to: string | undefined): Days {
  const last = to === undefined ? Math.floor(Date.now() / DAY_MS) : dayNumber(to)
  const first = from === undefined ? Math.max(FIRST_DAY, last - STATS_DAYS.default + 1) : dayNumber(from)
  if (first > last) throw ApiError.invalid('from', 'must not be later than to')
  if (last - first >= STATS_DAYS.most)
    throw ApiError.invalid('from', `must be less than ${STATS_DAYS.most} days before to`)
  return { from: formatDay(first * DAY_MS), to: formatDay(last * DAY_MS) }
}

function listDays({ from, to }: Days): string[] {
  const first = dayNumber(from)
  return Array.from({ length: dayNumber(to) - first + 1 }, (_, index) => formatDay((first + index) * DAY_MS))
}

/** Days since 1970. */
function dayNumber(day: string): number {
  return Date.parse(day) / DAY_MS
}

function advisoryCounts(days: Days, rows: UsageRow[]): AdvisoryCounts {
  const by = (grouping: UsageRow['grouping']) => rows.filter((row) => row.grouping === grouping)
  const ofDay = new Map(by('day').map(({ day, advisories }) => [day, advisories]))
  return {
    total: by('total')[0]?.advisories ?? 0,
    by_product: by('product').map(({ product, advisories }) => ({ product, advisories })),
    by_country: by('country').map(({ country_code, advisories }) => ({ country_code, advisories })),
    by_crop: by('crop').map(({ crop_code, advisories }) => ({ crop: crop_code, advisories })),
    by_day: listDays(days).map((day) => ({ day, advisories: ofDay.get(day) ?? 0 })),
  }
}

function trafficCounts(
  days: Days,
  rows: TrafficRow[],
): Pick<ServiceStats, 'requests' | 'errors' | 'latency' | 'by_operation' | 'by_day'> {
  const ofDay = new Map(rows.flatMap((row) => (row.day === null ? [] : [[row.day, row]])))
  return {
    ...sumTraffic(rows.find(({ operation, day }) => operation === null && day === null)),
    by_operation: rows.flatMap((row) =>
      row.operation === null ? [] : [{ operation: row.operation, ...sumTraffic(row) }],
    ),
    by_day: listDays(days).map((day) => ({ day, ...sumTraffic(ofDay.get(day)) })),
  }
}

function sumTraffic(row: TrafficRow | undefined): Pick<ServiceStats, 'requests' | 'errors' | 'latency'> {
  const { requests = 0, errors = 0, latencies = [], longest = 0 } = row ?? {}
  const at = (part: number) => milliseconds(quantile(latencies, part, longest))
  const max = requests === 0 ? null : milliseconds(longest)
  return { requests, errors, latency: { p50: at(0.5), p95: at(0.95), p99: at(0.99), max } }
}

/** To a thousandth of a millisecond: the clock says no more. */
function milliseconds(duration: number | null): number | null {
  return duration === null ? null : round(duration, 3)
}

const DESCRIPTION = `
Advisories of the caller by product, country, crop and day, and the feedback on them. Days are in UTC, first and last included; at most 366.

Admins may ask for \`scope=all\`: all users, and in \`service\` the requests, errors and times of the service. Other processes may be 10 seconds behind.`

const FOR_ADMINS = 'scope=all is for callers with the role admin.'

/** @param response the schema of the answer */
function statsRoutes(app: App, response: TSchema): void {
  // What was just stored is counted: a replica may be behind.
  const db = app.database.writer

  app.get(
    '/stats',
    {
      config: { scope: 'history', caching: 'never' },
      schema: {
        operationId: 'getStats',
        summary: 'Usage statistics',
        description: DESCRIPTION.trim(),
        tags: ['history'],
        querystring: StatsQuery,
        response: answers(response, 'The counts.', 'INVALID_PARAMETERS', ...ADMIN_ERRORS),
      },
      preValidation: readQuery(StatsQuery),
    },
    async (request: FastifyRequest<{ Querystring: Static<typeof StatsQuery> }>): Promise<Stats> => {
      const { from, to, scope = 'own' } = request.query
      const caller = requireCaller(request)
      const { id, role } = caller
      if (scope === 'all' && role !== 'admin') throw notAllowed(caller, FOR_ADMINS)
      const days = daysBetween(from, to)
      const userId = scope === 'all' ? null : id
      const stats = {
        scope,
        ...days,
        advisories: advisoryCounts(days, await countUsage(db, days, userId)),
        feedback: await countFeedback(db, days, userId),
      }
      if (scope === 'own') return stats
      await app.flushRequestCounts()
      return {
        ...stats,
        service: {
          users: await countUsers(db, days),
          ...trafficCounts(days, await countRequests(db, days)),
          by_error: await countErrors(db, days),
        },
      }
    },
  )
}

const SLOW_CALLS_DESCRIPTION = `
The five slowest calls of each operation in the last 12 to 24 hours, for admins. Each has its operation, outcome and \`X-Request-Id\`, which finds it in the log (\`ACCESS_LOG\`). Callers and requests are not stored. Calls that the client ended are left out.

Each process has its own list, from its start. \`GET /stats\` has the percentiles of all processes.`

function slowCallsRoute(app: App): void {
  app.get(
    '/stats/calls',
    {
      config: { role: 'admin', scope: 'history', caching: 'never' },
      schema: {
        operationId: 'listSlowCalls',
        summary: 'The slowest recent calls',
        description: SLOW_CALLS_DESCRIPTION.trim(),
        tags: ['history'],
        response: answers(SlowCallsAnswer, 'The calls.', ...ADMIN_ERRORS),
      },
    },
    async (): Promise<SlowCallsAnswer> => {
      const { since, calls } = app.slowCalls.read()
      return {
        since: new Date(since).toISOString(),
        items: calls.map(({ milliseconds, operation, status, code, endedAt, requestId }) => ({
          milliseconds: round(milliseconds, 3),
          operation,
          status,
          code: code || null,
          ended_at: new Date(endedAt).toISOString(),
          request_id: requestId,
        })),
      }
    },
  )
}

export async function stats(app: App): Promise<void> {
  const { stats: response, components } = defineStatsSchemas(app.products.list)
  for (const schema of [...components, SlowCallsAnswer]) app.addSchema(schema)
  statsRoutes(app, response)
  slowCallsRoute(app)
}
