import type { Catalog, CatalogProduct as Product } from '../api-types.ts'
import { valueFormat } from './numbers.ts'
import { normalFirst } from './seasons.ts'

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
