import type { FastifyRequest } from 'fastify'
import type { TSchema } from 'typebox'
import { ref } from '#schemas/common.ts'
import { type Stats, StatsQuery } from '#schemas/stats.ts'
import { errorResponses } from '#src/errors.ts'
import type { App } from '#src/http/app.ts'
import { readQuery } from '#src/http/parameters.ts'
import { callerOf } from '#src/http/plugins/authentication.ts'
import { notAllowed } from '#src/http/refusals.ts'
import { advisoryCounts, trafficCounts } from './answer.ts'
import { daysBetween } from './period.ts'
import { countErrors, countFeedback, countRequests, countUsage, countUsers } from './queries.ts'

const DESCRIPTION = `
Advisories of the caller by product, country, crop and day, and the feedback on them. Days are in UTC, first and last included; at most 366.

Admins may ask for \`scope=all\`: all users, and in \`service\` the requests, errors and times of the service. Other processes may be 10 seconds behind.`

const FOR_ADMINS = 'scope=all is for callers with the role admin.'

/** @param response the schema of the answer */
export function statsRoutes(app: App, response: TSchema): void {
  // What was just kept is counted: a replica may be behind.
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
        response: {
          200: { ...ref(response), description: 'The counts.' },
          ...errorResponses(
            'UNAUTHORIZED',
            'INSUFFICIENT_SCOPE',
            'INVALID_PARAMETERS',
            'FORBIDDEN',
            'TWO_FACTOR_SETUP_REQUIRED',
          ),
        },
      },
      preValidation: readQuery(StatsQuery),
    },
    async (request: FastifyRequest<{ Querystring: StatsQuery }>): Promise<Stats> => {
      const { from, to, scope = 'own' } = request.query
      const caller = callerOf(request)
      const { id, role } = caller
      if (scope === 'all' && role !== 'admin') throw notAllowed(caller, FOR_ADMINS)
      const days = daysBetween(from, to)
      const filter = { ...days, userId: scope === 'all' ? null : id }
      const stats = {
        scope,
        ...days,
        advisories: advisoryCounts(days, await countUsage(db, filter)),
        feedback: await countFeedback(db, filter),
      }
      if (scope === 'own') return stats
      await app.flushRequestCounts()
      return {
        ...stats,
        service: {
          users: await countUsers(db, filter),
          ...trafficCounts(days, await countRequests(db, filter)),
          by_error: await countErrors(db, filter),
        },
      }
    },
  )
}
