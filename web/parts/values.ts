import type { Catalog, CatalogProduct as Product } from '../api-types.ts'
import { element } from '../shell/element.ts'
import { TEXTS } from '../texts/en.ts'

// How people read the numbers of answers, on pages and in the files that pages offer. JSON has all of their digits.

/**
 * The digits of a number that say something: three, or four where it begins with 1 to 4. What is left out is at most a
 * thousandth of it.
 */
const digitsOf = (value: number) => (Math.abs(value) < 5 * 10 ** exponentOf(value) ? 4 : 3)

const exponentOf = (value: number) => Number(value.toExponential().split('e')[1])

/** The decimals that these digits take, 0 for large numbers. */
const decimalsOf = (value: number) => (value === 0 ? 0 : Math.max(0, digitsOf(value) - 1 - exponentOf(value)))

/** An area or a total without the digits that only computing has given it. */
export const roundedAmount = (value: number) => Number(value.toPrecision(digitsOf(value)))

export type NumberText = (value: number) => string

/**
 * How values and means of a column are written: all with the same decimals, which are those of their layer as far as they
 * say something of the largest.
 *
 * @param column what is no number does not count
 * @param form without separators of thousands in files
 */
export function valueFormat(
  column: Iterable<unknown>,
  { grouped = true }: { grouped?: boolean } = {},
): NumberText {
  const numbers = [...column].filter((value) => typeof value === 'number')
  const largest = numbers.reduce((most, value) => Math.max(most, Math.abs(value)), 0)
  const told = numbers.reduce((most, value) => Math.max(most, writtenDecimals(value)), 0)
  const decimals = Math.min(told, decimalsOf(largest))
  const alike = format(decimals, grouped)
  return (value) => {
    // Nothing but 0 is written as 0.
    const vanishes = value !== 0 && Math.abs(value) < 0.5 * 10 ** -decimals
    if (!vanishes) return alike(value)
    return format(Math.min(decimalsOf(value), writtenDecimals(value)), grouped)(value)
  }
}

/** How areas and totals of a column are written. */
export function amountFormat(column: Iterable<unknown>, form?: { grouped?: boolean }): NumberText {
  const rounded = [...column].map((value) => (typeof value === 'number' ? roundedAmount(value) : value))
  const text = valueFormat(rounded, form)
  return (value) => text(roundedAmount(value))
}

const LEAST_WHOLE = 1000

/** How an area is written: a large one whole, as of a district. */
export const areaText = (value: number) =>
  Math.abs(value) < LEAST_WHOLE ? amountFormat([value])(value) : format(0, true)(value)

/** An estimate in a sentence: three digits of it say enough. */
export const estimateText = (value: number) => {
  const rounded = Number(value.toPrecision(3))
  return valueFormat([rounded])(rounded)
}

/** About how long something is. */
export const lengthText = (metres: number) =>
  metres < 1000 ? `${Number(metres.toPrecision(2))} m` : `${Number((metres / 1000).toPrecision(2))} km`

/** @param value as JSON writes it */
function writtenDecimals(value: number) {
  const [digits = '', exponent = '0'] = String(value).split('e')
  return Math.max(0, (digits.split('.')[1] ?? '').length - Number(exponent))
}

function format(decimals: number, grouped: boolean) {
  const places = Math.min(20, decimals)
  const { format: write } = new Intl.NumberFormat('en', {
    minimumFractionDigits: places,
    maximumFractionDigits: places,
    useGrouping: grouped,
  })
  return write
}

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

/** Names that no input has, as {@link inputOf} finds it. */
const OTHER_LABELS = ['scenario', 'condition', 'scenario_of']

/** What an entry is of, such as Urea: products name the member as they like. Null without one, as of a harvest. */
export function inputOf(entry: Entry): string | null {
  const [, input] =
    Object.entries(entry).find(
      ([name, value]) => typeof value === 'string' && !OTHER_LABELS.includes(name),
    ) ?? []
  return (input as string | undefined) ?? null
}

/** The labels of an entry in one text, such as Urea and Normal, as those of its layer. */
export function labelOf(entry: Entry) {
  return [inputOf(entry), entry.scenario, entry.condition]
    .filter((label) => typeof label === 'string')
    .join(', ')
}

/** Between which values one lies, with a probability. */
export interface Range {
  low: number
  high: number
  level: number
}

/** How sure an entry is. */
export interface Certainty {
  probability: number | null
  range: Range | null
  /** The season that the entry has the values of. */
  scenarioOf: string | null
}

export function certaintyOf({ probability, range, scenario_of }: Entry): Certainty {
  return {
    probability: (probability as number | undefined) ?? null,
    range: (range as Range | undefined) ?? null,
    scenarioOf: (scenario_of as string | undefined) ?? null,
  }
}

/** The name of a season, and of which one it has the values. */
export function seasonText(scenario: string, { scenarioOf }: Pick<Certainty, 'scenarioOf'>) {
  return scenarioOf === null ? scenario : TEXTS.place.restated(scenario, scenarioOf)
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
    element(
      'details',
      { class: 'small season-note' },
      element('summary', {}, TEXTS.meaningOf(one.scenario)),
      element('p', {}, one.description),
    )
  )
}
