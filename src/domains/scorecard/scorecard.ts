import type { Kysely } from 'kysely'
import type { Scorecard } from '#schemas/scorecard.ts'
import type { Tables } from '#src/database/tables.ts'
import type { ReleaseRow } from '#src/domains/releases/queries.ts'
import type { ProductDefinition } from '#src/products/define.ts'
import { type Pair, scoresOf } from './figures.ts'
import { type District, findDistricts, listObserved, type Observation } from './queries.ts'

/** Smaller groups are not shown: they would tell of single farmers, and are chance. */
export const SMALLEST_GROUP = 5

/** Districts are looked up in pieces. */
const PIECE = 1000

/** Whether anything of a product can be held against observations: of several inputs nobody knows which it was. */
export function isObservable({ observed, input }: ProductDefinition): boolean {
  return observed !== null && input === null
}

/**
 * How well a release has predicted what was observed: what callers have said in feedback, and what else is given.
 *
 * @param level of the districts
 * @param given observations from elsewhere
 */
export async function scorecardOf(
  db: Kysely<Tables>,
  { code, countryCode }: Pick<ReleaseRow, 'code' | 'countryCode'>,
  product: ProductDefinition,
  level: number,
  given: readonly Observation[] = [],
): Promise<Scorecard> {
  const told = await listObserved(db, code, product)
  const observations = [...told, ...given].filter(({ predictions }) => predictions.length > 0)
  const districts: (District | null)[] = []
  for (let from = 0; from < observations.length; from += PIECE) {
    districts.push(...(await findDistricts(db, countryCode, level, observations.slice(from, from + PIECE))))
  }
  const ofAll = new Map<string | null, Pair[]>()
  const ofDistricts = new Map<string, { district: District; scenario: string | null; pairs: Pair[] }>()
  for (const [index, { observed, predictions }] of observations.entries()) {
    const district = districts[index]
    for (const { scenario, predicted } of predictions) {
      const pair = { predicted, observed }
      const pairs = ofAll.get(scenario) ?? []
      pairs.push(pair)
      ofAll.set(scenario, pairs)
      if (!district) continue
      const key = JSON.stringify([district.code, scenario])
      const group = ofDistricts.get(key) ?? { district, scenario, pairs: [] }
      group.pairs.push(pair)
      ofDistricts.set(key, group)
    }
  }
  const groups = [...ofDistricts.values()].sort((a, b) => compareText(a.district.code, b.district.code))
  const shown = groups.filter(({ pairs }) => pairs.length >= SMALLEST_GROUP)
  return {
    release: code,
    product: product.code,
    unit: product.unit,
    level,
    from_feedback: told.length,
    from_file: given.length,
    without_value: told.length + given.length - observations.length,
    smallest_group: SMALLEST_GROUP,
    scenarios: [...ofAll]
      .filter(([, pairs]) => pairs.length >= SMALLEST_GROUP)
      .map(([scenario, pairs]) => ({ scenario, ...scoresOf(pairs) })),
    districts: shown.map(({ district, scenario, pairs }) => ({ ...district, scenario, ...scoresOf(pairs) })),
    withheld_groups: groups.length - shown.length,
  }
}

function compareText(a: string, b: string): number {
  return a < b ? -1 : Number(a > b)
}
