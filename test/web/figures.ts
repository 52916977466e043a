import { countYears } from '#schemas/glossary.ts'
import type { Called } from '#test/setup/calls.ts'
import type { Figures } from '#test/setup/page-state.ts'

/** How a product and its unit are called, and where its values are in an answer. */
const PRODUCTS: Record<string, [title: string, unit: string, key: string]> = {
  yield: ['Yield', 'kg/ha', 'yield_kg_ha'],
  fertilizer: ['Fertilizer', 'kg/ha', 'rate_kg_ha'],
  isfm: ['Organic inputs', 't/ha', 'rate_tons_ha'],
  forage: ['Forage', 'score', 'suitability_score'],
}

type Answers = Record<string, Called['body']>

/** The numbers in a place's tables of an answer with all products; of an area with its quantities. */
export function figuresOfPlace(answer: Answers, area?: string): Figures {
  const figures: Figures = {}
  for (const { product, title, unit, value, odds, entry } of entriesOf(answer)) {
    const { scenario, condition, range, quantity } = entry
    const input = inputOf(entry)
    add(figures, `${title}, ${unit}`, [input, seasonOf(entry)], [...odds, value, range?.low, range?.high])
    if (!quantity || !area) continue
    const amounts = product === 'isfm' ? [quantity.t] : [quantity.kg, quantity.bags]
    add(figures, `${title}, ${area}`, [input, scenario, titleOf(condition)], amounts)
  }
  return figures
}

/** The numbers in the report of a field, of its answers by product. */
export function figuresOfReport(answers: Answers): Figures {
  const { yield: first } = answers
  const figures: Figures = { [FIRST]: figuresOfFirst(answers), ...figuresOfPlace({ yield: first }) }
  for (const { title, unit, value, odds, entry } of entriesOf(answers)) {
    const { condition, range, quantiles = [], total_kg, total_tons } = entry
    const ends = range ? [range.low, range.high, 100 * range.level] : []
    const values: number[] = quantiles.map((one: { value: number }) => one.value)
    // One pixel has one value: its quantiles are the mean.
    const spread = values.some((one) => one !== value) ? values : []
    const numbers = [total_kg ?? total_tons, value, ...ends, ...odds.slice(0, 2), ...spread]
    const { forecast_period: period } = entry.answer
    const group = `${[title, period].filter(Boolean).join(', ')} (${unit})`
    add(figures, 'All seasons, odds and ranges', [group, inputOf(entry), seasonOf(entry), condition], numbers)
  }
  return figures
}

/** The table of what answers first: the normal season, and the highest of what has no season. */
const FIRST = 'In a normal season'

function figuresOfFirst(answers: Answers): Figures[string] {
  const figures: Figures = {}
  for (const [product, [title, , key]] of Object.entries(PRODUCTS)) {
    const entries: Answers[] = answers[product]?.[`${product}_data`] ?? []
    const highest = entries.toSorted((one, other) => other[key] - one[key])[0]
    const first = entries.some(({ scenario }) => scenario)
      ? entries.filter(({ scenario }) => scenario === 'Normal')
      : entries.filter((entry) => entry === highest)
    for (const entry of first) {
      const name = entry.scenario
        ? (inputOf(entry) ?? title)
        : `${title}: ${inputOf(entry)}, the highest of ${entries.length}`
      const { total_kg, total_tons, range } = entry
      add(figures, FIRST, [name], [total_kg ?? total_tons, entry[key], range?.low, range?.high])
    }
  }
  return figures[FIRST] ?? {}
}

/** The entries of answers by product, with the numbers that are shown of their odds: `4 of 10 years (39 %)`. */
function entriesOf(answers: Answers) {
  return Object.entries(PRODUCTS).flatMap(([product, [title, unit, key]]) => {
    const answer = answers[product]
    const entries: Answers[] = answer?.[`${product}_data`] ?? []
    const odds: [scenario: string, probability: number][] = entries.flatMap(({ scenario, probability }) =>
      probability === undefined ? [] : [[scenario, probability]],
    )
    const years = countYears(odds)
    return [...entries, ...(answer?.expected ?? [])].map((entry) => {
      const { scenario, probability } = entry
      const shown = probability === undefined ? [] : [years.get(scenario), 10, Math.round(100 * probability)]
      return { product, title, unit, value: entry[key], odds: shown, entry: { ...entry, answer } }
    })
  })
}

const inputOf = (entry: Answers): string | undefined =>
  entry.fertilizer_type ?? entry.isfm_type ?? entry.forage_variety

/** A season, and that which it has the values of. */
const seasonOf = ({ scenario, scenario_of: of }: Answers) => (of ? `${scenario} (${of})` : scenario)

const titleOf = (condition?: string) => condition?.replace(/^./, (letter) => letter.toUpperCase())

function add(figures: Figures, table: string, row: (string | undefined)[], numbers: (number | undefined)[]) {
  const isThere = <Value>(one: Value | undefined): one is Value => one !== undefined
  figures[table] = { ...figures[table], [row.filter(isThere).join(', ')]: numbers.filter(isThere) }
}

/** The numbers in a legend, from where to where each class goes. */
export const figuresOfClasses = (classes: { from: number; to: number }[]): Figures[string] =>
  Object.fromEntries(classes.map(({ from, to }, at) => [String(at + 1), [from, to]]))

/** The numbers in a legend of values that a page cuts into fifths: at numbers with two digits of their range. */
export function figuresOfFifths(values: number[]): Figures[string] {
  const sorted = values.toSorted((one, other) => one - other)
  const [least = 0, most = 0] = [sorted[0], sorted.at(-1)]
  const unit = 10 ** (Math.floor(Math.log10(most - least)) - 1)
  const borders = [1, 2, 3, 4].map((fifth) => {
    const value = sorted[Math.floor((fifth * sorted.length) / 5)] ?? most
    return unit * Math.round(value / unit)
  })
  const between = [...new Set(borders)].filter((border) => border > least && border <= most)
  const ends = [unit * Math.floor(least / unit), ...between, unit * Math.ceil(most / unit)]
  return figuresOfClasses(ends.slice(0, -1).map((from, at) => ({ from, to: ends[at + 1] ?? 0 })))
}

const SEASONS = ['Normal', 'Above Normal', 'Below Normal', 'Dominant']

/**
 * The numbers in a table of areas.
 *
 * @param figure what of an entry
 */
export const figuresOfAreas = (items: Answers[], figure = 'yield_kg_ha'): Figures[string] =>
  Object.fromEntries(
    items.map(({ location, yield_data }) => [
      `${location.name}, Rwanda`,
      SEASONS.map((season) =>
        Math.round(yield_data.find(({ scenario }: Answers) => scenario === season)[figure]),
      ),
    ]),
  )

/** The numbers in the table of a release's layers. */
export const figuresOfLayers = (layers: Answers[]): Figures[string] =>
  Object.fromEntries(
    layers.map(({ scenario, unit, pixels, minimum, mean, maximum }) => [
      `${scenario}, ${unit}`,
      [pixels, minimum, mean, maximum],
    ]),
  )
