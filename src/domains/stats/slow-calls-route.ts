import { ref } from '#schemas/common.ts'
import { SlowCallsAnswer } from '#schemas/stats.ts'
import { errorResponses } from '#src/errors.ts'
import type { App } from '#src/http/app.ts'
import { round } from '#src/lib/round.ts'

const DESCRIPTION = `
The slowest calls of the last 12 to 24 hours, the five slowest of each operation, for admins. Each is told by its operation and outcome, and by its \`X-Request-Id\`, by which a log of the same time has it, where \`ACCESS_LOG\` is on: nothing is kept of who asked, or for what. A call that its client gave up before the end of the answer is not among them.

They are those of the process that answers: each process of the service has its own, from its start on. \`GET /stats\` has the percentiles of all of them.`

export function slowCallsRoute(app: App): void {
  app.get(
    '/stats/calls',
    {
      config: { role: 'admin', scope: 'history', caching: 'never' },
      schema: {
        operationId: 'listSlowCalls',
        summary: 'The slowest calls lately',
        description: DESCRIPTION.trim(),
        tags: ['history'],
        response: {
          200: { ...ref(SlowCallsAnswer), description: 'The calls.' },
          ...errorResponses('UNAUTHORIZED', 'INSUFFICIENT_SCOPE', 'FORBIDDEN', 'TWO_FACTOR_SETUP_REQUIRED'),
        },
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
