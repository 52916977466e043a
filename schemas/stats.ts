import { type Static, Type } from 'typebox'
import * as t from './common.ts'
import { ofSeasonless, type ProductContract, recordedProductSchema } from './product.ts'

/** Days that `GET /stats` speaks of by default, and the most it does. */
export const STATS_DAYS = { default: 30, most: 366 } as const

export const StatsQuery = Type.Object({
  from: Type.Optional(
    Type.String({
      format: 'day',
      description: `The first day (UTC). Without it, ${STATS_DAYS.default} days end with the last one.`,
    }),
  ),
  to: Type.Optional(Type.String({ format: 'day', description: 'The last day (UTC), today without it.' })),
  scope: t.withDefault(
    t.oneOf(['own', 'all'], '`own`: the caller. `all`, for admins: all users, and the state of the service.'),
    'own',
  ),
})

const Count = Type.Integer({ minimum: 0 })
const Day = Type.String({ format: 'date', examples: ['2026-07-01'] })

function advisoryCountsOf(products: readonly ProductContract[]) {
  return t.component(
    'AdvisoryCounts',
    'Answers to callers with a token, including deleted items of the history.',
    {
      total: Count,
      by_product: Type.Array(
        Type.Object({
          product: recordedProductSchema(products, '`all` is every product in one call.'),
          advisories: Count,
        }),
      ),
      by_country: Type.Array(Type.Object({ country_code: Type.String(), advisories: Count })),
      by_crop: Type.Array(
        Type.Object({
          crop: t.stringOrNull(ofSeasonless(products, (names) => `Null for ${names}.`)),
          advisories: Count,
        }),
      ),
      by_day: Type.Array(Type.Object({ day: Day, advisories: Count }), {
        description: 'Every day from the first to the last, also those without any.',
      }),
    },
  )
}

const FeedbackCounts = t.component(
  'FeedbackCounts',
  'Feedback that was first given in these days and is still there.',
  {
    count: Count,
    average: t.numberOrNull('The mean rating, to two decimals; null where there is none.'),
  },
)

const Milliseconds = t.orNull(Type.Number())

const Latency = t.component(
  'Latency',
  'Milliseconds from the arrival of a request until its answer was handed to the network; null without requests. `max` is exact, the others to within 10 %: they come from a histogram.',
  { p50: Milliseconds, p95: Milliseconds, p99: Milliseconds, max: Milliseconds },
)

const Errors = Type.Array(
  Type.Object({
    status: Type.Integer({ examples: [404] }),
    code: Type.String({ examples: ['NO_DATA'] }),
    requests: Count,
  }),
)

const Traffic = {
  requests: Count,
  errors: Type.Integer({ minimum: 0, description: 'Requests answered 4xx or 5xx.' }),
  latency: t.ref(Latency),
}

const Service = t.component(
  'ServiceStats',
  'All requests that were answered, with a token or without, by all processes of the service.',
  {
    users: Type.Object({
      registered: Type.Integer({ minimum: 0, description: 'Accounts there are now.' }),
      active: Type.Integer({
        minimum: 0,
        description: 'Of these, who were given an advisory in these days.',
      }),
    }),
    ...Traffic,
    by_error: Errors,
    by_operation: Type.Array(
      Type.Object({
        operation: t.string(
          'The operationId; `documentation`, `preflight` and `unknownPath` are no operations.',
        ),
        ...Traffic,
      }),
    ),
    by_day: Type.Array(Type.Object({ day: Day, ...Traffic })),
  },
)

export const SlowCallsAnswer = t.component(
  'SlowCalls',
  'The slowest calls that a process of the service has answered lately.',
  {
    since: { ...t.Time, description: 'Calls that were over before are not among them.' },
    items: Type.Array(
      Type.Object({
        milliseconds: Type.Number({
          minimum: 0,
          description: 'From the arrival of the request until its answer was handed to the network.',
          examples: [812.4],
        }),
        operation: t.string('As in `GET /stats`.', 'yieldInPolygons'),
        status: Type.Integer({ examples: [200] }),
        code: t.stringOrNull('Of the error; null for a success.'),
        ended_at: t.Time,
        request_id: t.string(
          'The `X-Request-Id` of the answer; `reqId` in the log, where `ACCESS_LOG` is on.',
          'Xw3sQ8kdP0aB-1z',
        ),
      }),
      { description: 'The slowest first; of each operation five at most.' },
    ),
  },
)
export type SlowCallsAnswer = Static<typeof SlowCallsAnswer>

export function defineStatsSchemas(products: readonly ProductContract[]) {
  const advisories = advisoryCountsOf(products)
  const stats = t.component(
    'Stats',
    {
      scope: t.oneOf(['own', 'all'], 'The users in the counts.'),
      from: Day,
      to: Day,
      advisories: t.ref(advisories),
      feedback: t.ref(FeedbackCounts),
      service: Type.Optional(t.ref(Service)),
    },
    {
      scope: 'own',
      from: '2026-07-01',
      to: '2026-07-02',
      advisories: {
        total: 3,
        by_product: [
          { product: 'fertilizer', advisories: 2 },
          { product: 'forage', advisories: 1 },
        ],
        by_country: [{ country_code: 'eth', advisories: 3 }],
        by_crop: [
          { crop: 'wheat', advisories: 2 },
          { crop: null, advisories: 1 },
        ],
        by_day: [
          { day: '2026-07-01', advisories: 0 },
          { day: '2026-07-02', advisories: 3 },
        ],
      },
      feedback: { count: 2, average: 4.5 },
    },
  )
  const components = [advisories, FeedbackCounts, Latency, Service, stats]
  return { stats, components }
}
export type Stats = Static<ReturnType<typeof defineStatsSchemas>['stats']>
export type ServiceStats = Static<typeof Service>
export type AdvisoryCounts = Static<ReturnType<typeof advisoryCountsOf>>
export type FeedbackCounts = Static<typeof FeedbackCounts>
