import type { ProductDefinition } from '#schemas/products/define.ts'
import { isScore, type Quantities } from '#schemas/quantities.ts'
import type { EntryCertainty } from '#src/lookup/certainty.ts'
import type { Entry } from '#src/lookup/entries.ts'
import { type AdviceBody, groupBy, type Room } from './answer.ts'

/** The label of a layer without an input or a scenario. */
const NONE = 'any'

export function formatLabel(label: unknown): string {
  return label === null || label === undefined ? NONE : String(label)
}

/** The members of an answer for one product. */
export interface Section {
  release: string
  forecast_month?: string
  synthetic: boolean
  stale?: boolean
  quantities: Quantities
  entries: Entry[]
}

/** Reads the section of a product; undefined where the answer has a reason in its place. */
export function readSection(product: ProductDefinition, body: AdviceBody): Section | undefined {
  const entries = body[product.entries]
  return Array.isArray(entries) ? ({ ...body, entries } as unknown as Section) : undefined
}

/** The members that an answer has of these. */
export function pickMembers(body: object, names: string[]): AdviceBody {
  const found = body as AdviceBody
  return Object.fromEntries(names.flatMap((name) => (found[name] === undefined ? [] : [[name, found[name]]])))
}

export function describeSectionRelease({ release, forecast_month, synthetic, stale }: Section) {
  return { release, ...(forecast_month && { forecast_month }), synthetic, ...(stale && { stale }) }
}

/** Values by input and scenario, as far as the product has them. */
export function groupValues(
  { input, seasonal, value }: ProductDefinition,
  entries: readonly Entry[],
  read: (entry: Entry) => unknown = (entry) => entry[value.key],
): object {
  const keys = [...(input ? [input.key] : []), ...(seasonal ? ['scenario'] : [])]
  return nest(entries, keys, read) as object
}

function nest(entries: readonly Entry[], keys: string[], read: (entry: Entry) => unknown): unknown {
  const [key, ...others] = keys
  if (key === undefined) return read(entries[0] as Entry)
  const groups = groupBy(entries, (entry) => formatLabel(entry[key]))
  // Not by assignment: a source may call a layer __proto__.
  return Object.fromEntries([...groups].map(([name, group]) => [name, nest(group, others, read)]))
}

/** How sure the values of a section are, each thing once; nothing of a release with values alone. */
export function describeSureness(product: ProductDefinition, body: AdviceBody, entries: readonly Entry[]) {
  const sure = entries as readonly (Entry & EntryCertainty)[]
  const odds = sure.flatMap(({ scenario, probability }) =>
    probability === undefined ? [] : [[formatLabel(scenario), probability]],
  )
  const ranged = sure.filter(({ range }) => range !== undefined)
  const [restating, ...others] = new Set(sure.flatMap(({ scenario_of }) => scenario_of ?? []))
  const expected = (body.expected ?? []) as Entry[]
  return {
    ...(odds.length > 0 && { odds: Object.fromEntries(odds) }),
    ...(ranged.length > 0 && {
      low_high_level: groupValues(product, ranged, (entry) => {
        const { low, high, level } = (entry as EntryCertainty).range as NonNullable<EntryCertainty['range']>
        return [low, high, level]
      }),
    }),
    ...(restating !== undefined && others.length === 0 && { dominant_is: restating }),
    ...(expected.length > 0 && { mean_by_odds: groupValues({ ...product, seasonal: false }, expected) }),
  }
}

/** The condition that answers, where it is from, and the others: their values go before any entry does. */
export function describeCondition(product: ProductDefinition, body: AdviceBody, { isWhole }: Room) {
  const entries = body[product.entries] as Entry[]
  const condition = entries.find((entry) => entry.condition !== undefined)?.condition
  const alternatives = (body.by_condition ?? []) as AdviceBody[]
  const describe = (one: AdviceBody) => ({
    ...pickMembers(one, ['share_percent']),
    ...(isWhole && { values: groupValues(product, one.entries as Entry[]) }),
  })
  return {
    ...(condition !== undefined && { condition }),
    ...pickMembers(body, ['condition_source', 'question']),
    ...(alternatives.length > 0 && {
      by_condition: Object.fromEntries(alternatives.map((one) => [one.condition, describe(one)])),
    }),
  }
}

/** Sorts the best first where an agent has a score alone to choose by. */
export function sortEntries({ value, unit }: ProductDefinition, entries: readonly Entry[]): Entry[] {
  return entries.toSorted((a, b) => (isScore({ unit }) ? Number(b[value.key]) - Number(a[value.key]) : 0))
}

/** Entries in rows: each key is said once. */
export function makeTable(product: ProductDefinition, { entries }: Section, room: Room) {
  const ordered = sortEntries(product, entries).map((entry) => {
    const { range, ...members } = entry as Entry & EntryCertainty
    return { ...members, ...(range && { low: range.low, high: range.high }) } as Record<string, unknown>
  })
  const columns = [...new Set(ordered.flatMap(Object.keys))]
  const rows = room.list(ordered).map((entry) => columns.map((column) => entry[column] ?? null))
  return { columns, rows }
}
