import type { Kysely } from 'kysely'
import type { Scorecard } from '#schemas/scorecard.ts'
import type { Tables } from '#src/database/tables.ts'
import type { ReleaseRow } from '#src/domains/releases/queries.ts'
import type { ProductDefinition } from '#src/products/define.ts'
import { scoresOf } from './figures.ts'
import { type District, groupsAt, isLarge, type Observed, SMALLEST_GROUP, shownAt } from './groups.ts'
import { findAreas, listObserved, type Observation } from './queries.ts'

/** Areas are looked up in pieces. */
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
      .map(([scenario, all]) => ({ scenario, ...scoresOf(all.map(({ pair }) => pair)) })),
    districts: shown.map(({ district, scenario, observed }) => ({
      ...district,
      scenario,
      ...scoresOf(observed.map(({ pair }) => pair)),
    })),
    withheld_groups: groups - shown.length,
  }
}

function compareText(a: string, b: string): number {
  return a < b ? -1 : Number(a > b)
}
