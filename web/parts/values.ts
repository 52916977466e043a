import type { Catalog, CatalogProduct as Product } from '../api-types.ts'
import { element } from '../shell/element.ts'
import { valueFormat } from './numbers.ts'

/** Of an answer, as the service gives it. */
export type Entry = Record<string, unknown>

/**
 * The entries of an answer of any product: `yield_data`, `fertilizer_data` ... None where it has an error. The normal
 * season comes first.
 */
export function entriesOf(answer: object): Entry[] {
  const entries: Entry[] = Object.entries(answer).find(([name]) => name.endsWith('_data'))?.[1] ?? []
  return normalFirst(entries, ({ scenario, ...entry }) => ({ input: labelOf(entry), scenario }))
}

/** What an entry is of, such as Urea and Normal, in one text. */
export function labelOf(entry: Entry) {
  return Object.values(entry)
    .filter((value) => typeof value === 'string')
    .join(', ')
}

/** The values of an answer by what they are of. */
export function valuesOf(answer: object, { value }: Product): Map<string, number> {
  return new Map(entriesOf(answer).map((entry) => [labelOf(entry), entry[value.key] as number]))
}

/** The names of all columns of values, in the order of the answers. */
export function valueColumns(rows: Iterable<Map<string, number>>) {
  const columns = new Set<string>()
  for (const row of rows) for (const name of row.keys()) columns.add(name)
  return [...columns]
}

/** All values of an answer in a line; also of the answer about every product, which has one of each. */
export function valuesText(answer: object, { products }: Catalog) {
  return products
    .flatMap((product) => {
      const own = (answer as Record<string, unknown>)[product.product]
      const values = valuesOf(typeof own === 'object' && own !== null ? own : answer, product)
      const text = valueFormat(values.values())
      return [...values]
        .filter(([, value]) => typeof value === 'number')
        .map(([label, value]) => `${label} ${text(value)} ${product.unit}`)
    })
    .join('; ')
}

/** The season that people are shown first, and the one whose name does not say itself. */
const FIRST = 'Normal'
const EXPLAINED = 'Dominant'

/**
 * Entries with the normal season first among those of the same input; else they stay as they are. Programs get the order
 * of the interface.
 */
export function normalFirst<Entry>(
  entries: readonly Entry[],
  read: (entry: Entry) => { input?: unknown; scenario: unknown },
): Entry[] {
  const groups = new Map<unknown, Entry[]>()
  for (const entry of entries) {
    const { input, scenario } = read(entry)
    const group = groups.get(input) ?? []
    groups.set(input, scenario === FIRST ? [entry, ...group] : [...group, entry])
  }
  return [...groups.values()].flat()
}

/** The meaning of the season whose name does not say itself, where it is among those that are shown. */
export function seasonNote({ scenarios }: Pick<Catalog, 'scenarios'>, shown: Iterable<unknown>) {
  const one = scenarios.find(({ scenario }) => scenario === EXPLAINED)
  return (
    one !== undefined &&
    [...shown].includes(EXPLAINED) &&
    element('p', { class: 'small season-note' }, element('strong', {}, one.scenario), `: ${one.description}`)
  )
}
