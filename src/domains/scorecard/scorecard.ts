import type { Kysely } from 'kysely'
import type { Scorecard } from '#schemas/scorecard.ts'
import type { Tables } from '#src/database/tables.ts'
import type { ReleaseRow } from '#src/domains/releases/queries.ts'
import type { ProductDefinition } from '#src/products/define.ts'
import { scoresOf } from './figures.ts'
import { addPair, type Group, isLarge, newGroup, SMALLEST_GROUP, shownAmong } from './groups.ts'
import { type District, findDistricts, listObserved, type Observation } from './queries.ts'

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
  const scenarios = new Map<string | null, OfScenario>()
  for (const [index, { observed, predictions, observer = `row ${index}` }] of observations.entries()) {
    const district = districts[index]
    for (const { scenario, predicted } of predictions) {
      const of = scenarios.get(scenario) ?? { all: newGroup(), districts: new Map(), nowhere: newGroup() }
      scenarios.set(scenario, of)
      const group = district ? groupOf(of, district, scenario) : of.nowhere
      for (const one of [of.all, group]) addPair(one, { predicted, observed }, observer)
    }
  }
  const shown = [...scenarios.values()]
    .flatMap((of) => shownAmong([...of.districts.values()], of.nowhere))
    .sort((a, b) => compareText(a.district.code, b.district.code))
  const groups = [...scenarios.values()].reduce((sum, of) => sum + of.districts.size, 0)
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
      .filter(([, { all }]) => isLarge(all))
      .map(([scenario, { all }]) => ({ scenario, ...scoresOf(all.pairs) })),
    districts: shown.map(({ district, scenario, pairs }) => ({ ...district, scenario, ...scoresOf(pairs) })),
    withheld_groups: groups - shown.length,
  }
}

interface OfDistrict extends Group {
  district: District
  scenario: string | null
}

interface OfScenario {
  all: Group
  /** By their codes. */
  districts: Map<string, OfDistrict>
  /** What was observed in none. */
  nowhere: Group
}

function groupOf({ districts }: OfScenario, district: District, scenario: string | null): OfDistrict {
  const group = districts.get(district.code) ?? { ...newGroup(), district, scenario }
  districts.set(district.code, group)
  return group
}

function compareText(a: string, b: string): number {
  return a < b ? -1 : Number(a > b)
}
