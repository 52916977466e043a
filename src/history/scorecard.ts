import type { FastifyRequest } from 'fastify'
import type { Kysely } from 'kysely'
import type { Static } from 'typebox'
import {
  SCORECARD_DEFAULTS,
  Scorecard,
  ScorecardParams,
  ScorecardQuery,
  scorecardSchemas,
} from '#schemas/feedback.ts'
import { toQuerySchema } from '#schemas/point-request.ts'
import type { ProductDefinition } from '#schemas/products/define.ts'
import { findRelease, type ReleaseRow } from '#src/catalog/release-queries.ts'
import type { Tables } from '#src/data/tables.ts'
import { ApiError, answers } from '#src/errors.ts'
import type { App } from '#src/http/app.ts'
import { readQuery } from '#src/http/parameters.ts'
import {
  computeScores,
  type District,
  findAreas,
  groupsAt,
  isLarge,
  listObserved,
  type Observation,
  type Observed,
  SMALLEST_GROUP,
  shownAt,
} from './scorecard-queries.ts'

/** Areas are looked up in pieces. */
const PIECE = 1000

/** Whether observations can be compared with a product: with several inputs, the used one is unknown. */
export function isObservable({ observed, input }: ProductDefinition): boolean {
  return observed !== null && input === null
}

/** Compares a release with the observations of feedback and others. @param level of the districts */
export async function computeScorecard(
  db: Kysely<Tables>,
  { code, countryCode }: Pick<ReleaseRow, 'code' | 'countryCode'>,
  product: ProductDefinition,
  level: number,
  given: readonly Observation[] = [],
): Promise<Scorecard> {
  const told = await listObserved(db, code, product)
  const observations = [...told, ...given].filter(({ predictions }) => predictions.length > 0)
  const areas: (District | undefined)[][] = []
  for (let from = 0; from < observations.length; from += PIECE) {
    areas.push(...(await findAreas(db, countryCode, level, observations.slice(from, from + PIECE))))
  }
  const scenarios = new Map<string | null, Observed[]>()
  for (const [index, { observed, predictions, observer = `row ${index}` }] of observations.entries()) {
    for (const { scenario, predicted } of predictions) {
      const all = scenarios.get(scenario) ?? []
      scenarios.set(scenario, all)
      all.push({ pair: { predicted, observed }, observer, areas: areas[index] ?? [] })
    }
  }
  const shown = [...scenarios]
    .flatMap(([scenario, all]) => shownAt(level, all).map((group) => ({ scenario, ...group })))
    .sort((a, b) => compareText(a.district.code, b.district.code))
  const groups = [...scenarios.values()].reduce((sum, all) => sum + groupsAt(level, all).size, 0)
  return {
    release: code,
    product: product.code,
    unit: product.unit,
    level,
    from_feedback: told.length,
    from_file: given.length,
    without_value: told.length + given.length - observations.length,
    smallest_group: SMALLEST_GROUP,
    scenarios: [...scenarios]
      .filter(([, all]) => isLarge(all))
      .map(([scenario, all]) => ({ scenario, ...computeScores(all.map(({ pair }) => pair)) })),
    districts: shown.map(({ district, scenario, observed }) => ({
      ...district,
      scenario,
      ...computeScores(observed.map(({ pair }) => pair)),
    })),
    withheld_groups: groups - shown.length,
  }
}

function compareText(a: string, b: string): number {
  return a < b ? -1 : Number(a > b)
}

const DESCRIPTION = `
Compares observations (\`observed\` of feedback) with the predictions of the release: their number, bias, RMSE, MAE and Spearman's rank correlation, by scenario and area of a level. For admins. Groups of fewer than ${SMALLEST_GROUP} accounts, and areas that would reveal them, are left out. The newest 50,000 feedbacks count.

Only products whose layers differ in their scenario alone can be observed, such as yields. \`agro scorecard\` also takes observations from a file.`

type Call = FastifyRequest<{
  Params: Static<typeof ScorecardParams>
  Querystring: Static<typeof ScorecardQuery>
}>

export async function scorecard(app: App): Promise<void> {
  for (const schema of scorecardSchemas) app.addSchema(schema)
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
        querystring: toQuerySchema(ScorecardQuery),
        response: answers(
          Scorecard,
          'The scores.',
          'FORBIDDEN',
          'TWO_FACTOR_SETUP_REQUIRED',
          'INVALID_PARAMETERS',
          'NOT_FOUND',
        ),
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
      return computeScorecard(db, release, app.products.of(release.product), level)
    },
  )
}
