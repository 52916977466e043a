import type { FastifyRequest } from 'fastify'
import type { Static } from 'typebox'
import { toQuerySchema } from '#schemas/point-request.ts'
import { isObservable, type ProductDefinition } from '#schemas/products/define.ts'
import { findRelease, type ReleaseRow } from '#src/catalog/release-queries.ts'
import type { Db } from '#src/data/tables.ts'
import { ADMIN_ERRORS, ApiError } from '#src/errors.ts'
import { type App, answers } from '#src/http/app.ts'
import { readQuery } from '#src/http/parameters.ts'
import { findCounted, listSkill, SKILL_LEVEL, type SkillBatch } from './queries.ts'
import {
  SCORECARD_DEFAULTS,
  Scorecard,
  ScorecardParams,
  ScorecardQuery,
  scorecardSchemas,
} from './schemas.ts'
import {
  countByAccount,
  type District,
  findAreas,
  groupsAt,
  isLarge,
  type Judged,
  listObserved,
  type Observation,
  rateByMessages,
  SMALLEST_GROUP,
  shownAt,
} from './scorecard-queries.ts'
import {
  blurSkill,
  computeReliability,
  computeScores,
  describeSkill,
  findBin,
  judge,
  scoreOdds,
  selectPredictions,
  sumSkill,
  TERCILES,
} from './scores.ts'

/** Areas are looked up in pieces. */
const PIECE = 1000

/** The observations of a release with their scores. */
export interface Gathered {
  counts: Pick<
    Scorecard,
    'from_feedback' | 'from_messages' | 'message_ratings' | 'from_file' | 'without_value'
  >
  judged: Judged[]
}

type OfRelease = Pick<ReleaseRow, 'code' | 'countryCode'>

/** Finds the observations of feedback, and what the release had predicted. @param level of the finest areas to find */
export async function gatherObservations(
  db: Db,
  release: OfRelease,
  product: ProductDefinition,
  level: number,
  given: readonly Observation[] = [],
): Promise<Gathered> {
  const reported = await listObserved(db, release.code, product)
  const all = [...reported, ...given]
  const found = await judgeAll(db, release, level, all)
  const judged = boundMessages(found, level)
  const counts = {
    from_feedback: reported.filter(({ byMessage }) => !byMessage).length,
    from_messages: judged.filter(({ byMessage }) => byMessage).length,
    message_ratings: await rateByMessages(db, release.code),
    from_file: given.length,
    without_value: all.length - found.length,
  }
  return { counts, judged }
}

async function judgeAll(
  db: Db,
  { countryCode }: OfRelease,
  level: number,
  all: readonly Observation[],
): Promise<Judged[]> {
  const observations = all
    .map((one) => ({ ...one, predictions: selectPredictions(one.predictions) }))
    .filter(({ predictions }) => predictions.length > 0)
  const areas: (District | undefined)[][] = []
  for (let from = 0; from < observations.length; from += PIECE) {
    areas.push(...(await findAreas(db, countryCode, level, observations.slice(from, from + PIECE))))
  }
  return observations.map(({ key, predictions, byMessage, ...one }, index) => ({
    ...judge(predictions, one),
    ...{ key, predictions, byMessage },
    observer: one.observer ?? key,
    areas: areas[index] ?? [],
  }))
}

/**
 * Adds up what everybody may know of observations that are in no sums yet, of the country and of its areas of the first
 * level. Each has a batch when enough accounts have reported something there. Rows of a file and accounts make none together:
 * somebody may know the file.
 *
 * @returns one batch at most for an area, of accounts and of the file each
 */
export async function gatherBatches(
  db: Db,
  release: OfRelease & Pick<ReleaseRow, 'id'>,
  product: ProductDefinition,
  given: readonly Observation[],
): Promise<SkillBatch[]> {
  const counted = await findCounted(db, release.id)
  const country = release.countryCode.toUpperCase()
  const batches: SkillBatch[] = []
  for (const all of [await listObserved(db, release.code, product, release.id), given]) {
    const judged = await judgeAll(db, release, SKILL_LEVEL, all)
    for (const level of [0, SKILL_LEVEL]) {
      const fresh = judged.filter(({ key }) => !counted.has(`${level} ${key}`))
      const bounded = boundMessages(fresh, SKILL_LEVEL)
      const groups = level === 0 ? new Map([[country, { observed: bounded }]]) : groupsAt(level, bounded)
      for (const [code, { observed }] of groups) {
        const batch = boundAccounts(observed)
        if (!isLarge(batch)) continue
        const observers = countByAccount(batch).accounts.size
        const sums = { level, area_code: code, observers, ...blurSkill(batch) }
        batches.push({ sums, keys: batch.map(({ key }) => key) })
      }
    }
  }
  return batches
}

/** The account that has reported most counts as often as all others together. */
function boundAccounts(judged: readonly Judged[]): Judged[] {
  const { accounts, total } = countByAccount(judged)
  const rooms = new Map([...accounts].map(([account, count]) => [account, total - count]))
  return judged.filter(({ observer, byMessage }) => {
    if (byMessage) return true
    const room = rooms.get(observer) as number
    rooms.set(observer, room - 1)
    return room > 0
  })
}

/**
 * Leaves out observations by message so that they decide nothing alone: in each area the oldest that are more than the
 * others, and those beyond the least and the most of the others.
 */
function boundMessages(judged: readonly Judged[], level: number): Judged[] {
  const others = new Map<string | undefined, { room: number; least: number; most: number }>()
  const nameArea = ({ areas }: Judged) => areas[level]?.code
  for (const one of judged) {
    if (one.byMessage) continue
    const { observed } = one.pair
    const { room = 0, least = observed, most = observed } = others.get(nameArea(one)) ?? {}
    const bounds = { room: room + 1, least: Math.min(least, observed), most: Math.max(most, observed) }
    others.set(nameArea(one), bounds)
  }
  return judged.filter((one) => {
    if (!one.byMessage) return true
    const bounds = others.get(nameArea(one))
    if (!bounds || one.pair.observed < bounds.least || one.pair.observed > bounds.most) return false
    return bounds.room-- > 0
  })
}

/** @param level of the districts @param kept the skill that is stored with the release */
export function describeScorecard(
  { code }: Pick<ReleaseRow, 'code'>,
  product: ProductDefinition,
  level: number,
  { judged, counts }: Gathered,
  kept: Scorecard['kept'],
): Scorecard {
  const scenarios = new Map<string | null, Pick<Judged, 'pair' | 'observer' | 'byMessage' | 'areas'>[]>()
  for (const { pair, predictions, ...of } of judged) {
    for (const { scenario, predicted } of predictions) {
      const all = scenarios.get(scenario) ?? []
      scenarios.set(scenario, all)
      all.push({ ...of, pair: { predicted, observed: pair.observed } })
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
    ...counts,
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
    odds: describeOdds(judged),
    skill: describeShown(level, judged).sort((a, b) => compareText(a.code, b.code)),
    kept,
  }
}

/** The scores of odds; bins of few accounts, and those that would give them away, have their number alone. */
function describeOdds(judged: readonly Judged[]): Scorecard['odds'] {
  const scored = judged.flatMap(({ season, ...one }) => (season ? [{ ...one, season }] : []))
  if (!isLarge(scored)) return null
  const seasons = scored.map(({ season }) => season)
  const reliability = TERCILES.map((scenario, index) => {
    const inBins = scored.map(({ observer, season }) => {
      const code = `${findBin(season.odds[index] as number)}`
      return { observer, areas: [{ code, name: code }] }
    })
    const shown = new Set(shownAt(0, inBins).map(({ district }) => Number(district.code)))
    const { term, bins } = computeReliability(seasons, index)
    const stated = bins.map((bin, at) => (shown.has(at) ? bin : { ...bin, forecast: null, observed: null }))
    return { scenario, term, bins: stated }
  })
  return {
    ...scoreOdds(seasons),
    told: scored.filter(({ isSeasonNamed }) => isSeasonNamed).length,
    reliability,
  }
}

/** The figures of the areas that may be shown. Ranges and odds count where those that have them may be shown by themselves. */
function describeShown(level: number, judged: readonly Judged[]) {
  const codesOf = (some: readonly Judged[]) =>
    new Set(shownAt(level, some).map(({ district }) => district.code))
  const [ranged, odds] = [codesOf(judged.filter(hasRange)), codesOf(judged.filter(hasSeason))]
  return shownAt(level, judged).map(({ district, observed }) => ({
    ...district,
    ...describeSkill(sumSkill(observed, { range: ranged.has(district.code), odds: odds.has(district.code) })),
  }))
}

const hasRange = ({ within }: Judged) => within !== null
const hasSeason = ({ season }: Judged) => season !== null

function compareText(a: string, b: string): number {
  return a < b ? -1 : Number(a > b)
}

const DESCRIPTION = `
Compares observations (\`observed\` of feedback) with the predictions of the release: their number, bias, RMSE, MAE and Spearman's rank correlation, by scenario and area of a level. For admins. Groups of fewer than ${SMALLEST_GROUP} accounts, and areas that would reveal them, are left out. The newest 50,000 count. Harvests told by text message count in an area up to the number of the others and between their least and most, and make no group large.

\`odds\` has the scores of probabilities, \`skill\` the figures of the most likely scenario by area, \`kept\` what \`agro scorecard --keep\` has kept.

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
        response: answers(Scorecard, 'The scores.', ...ADMIN_ERRORS, 'INVALID_PARAMETERS', 'NOT_FOUND'),
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
      const product = app.products.of(release.product)
      const gathered = await gatherObservations(db, release, product, level)
      const kept = await listSkill(db, release.id)
      return describeScorecard(release, product, level, gathered, kept)
    },
  )
}
