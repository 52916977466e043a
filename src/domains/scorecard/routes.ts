import type { FastifyRequest } from 'fastify'
import { ref } from '#schemas/common.ts'
import { queryOf } from '#schemas/point-request.ts'
import { SCORECARD_DEFAULTS, Scorecard, ScorecardParams, ScorecardQuery } from '#schemas/scorecard.ts'
import { findRelease } from '#src/domains/releases/queries.ts'
import { ApiError, errorResponses } from '#src/errors.ts'
import type { App } from '#src/http/app.ts'
import { readQuery } from '#src/http/parameters.ts'
import { SMALLEST_GROUP } from './groups.ts'
import { isObservable, scorecardOf } from './scorecard.ts'

const DESCRIPTION = `
Compares observations (\`observed\` of feedback) with the predictions of the release: their number, bias, RMSE, MAE and Spearman's rank correlation, by scenario and area of a level. For admins. Groups of fewer than ${SMALLEST_GROUP} accounts, and areas that would reveal them, are left out. The newest 50,000 feedbacks count.

Only products whose layers differ in their scenario alone can be observed, such as yields. \`agro scorecard\` also takes observations from a file.`

type Call = FastifyRequest<{ Params: ScorecardParams; Querystring: ScorecardQuery }>

export function scorecardRoutes(app: App): void {
  const db = app.database.writer
  const observable = app.products.list.filter(isObservable).map(({ code }) => code)

  app.get(
    '/releases/:code/scorecard',
    {
      config: { role: 'admin', scope: 'advisory', caching: 'never' },
      schema: {
        operationId: 'getScorecard',
        summary: 'Compare predictions with observations',
        description: DESCRIPTION.trim(),
        tags: ['catalog'],
        params: ScorecardParams,
        querystring: queryOf(ScorecardQuery),
        response: {
          200: { ...ref(Scorecard), description: 'The scores.' },
          ...errorResponses(
            'UNAUTHORIZED',
            'INSUFFICIENT_SCOPE',
            'FORBIDDEN',
            'TWO_FACTOR_SETUP_REQUIRED',
            'INVALID_PARAMETERS',
            'NOT_FOUND',
          ),
        },
      },
      preValidation: readQuery(ScorecardQuery),
    },
    async ({ params: { code }, query: { level = SCORECARD_DEFAULTS.level } }: Call) => {
      const release = await findRelease(db, code)
      if (release?.status !== 'ready') {
        throw new ApiError('NOT_FOUND', `There is no release ${code} that is complete.`)
      }
      if (!observable.includes(release.product)) {
        throw ApiError.invalid('code', `must be the code of a release of ${observable.join(', ')}`)
      }
      return scorecardOf(db, release, app.products.of(release.product), level)
    },
  )
}
