import { ref } from '#schemas/common.ts'
import { SlowCallsAnswer } from '#schemas/stats.ts'
import { errorResponses } from '#src/errors.ts'
import type { App } from '#src/http/app.ts'
import { round } from '#src/lib/round.ts'

const DESCRIPTION = `
The five slowest calls of each operation in the last 12 to 24 hours, for admins. Each has its operation, outcome and \`X-Request-Id\`, which finds it in the log (\`ACCESS_LOG\`). Callers and requests are not stored. Calls that the client ended are left out.

Each process has its own list, from its start. \`GET /stats\` has the percentiles of all processes.`

export function slowCallsRoute(app: App): void {
  app.get(
    '/stats/calls',
    {
      config: { role: 'admin', scope: 'history', caching: 'never' },
      schema: {
        operationId: 'listSlowCalls',
        summary: 'The slowest recent calls',
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
