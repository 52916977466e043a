import { EXPECTED } from '#schemas/glossary.ts'
import { type NumberText, seasonText, valueFormat } from '../parts/values.ts'
import { element } from '../shell/element.ts'
import { TEXTS } from '../texts/en.ts'
import { nameOfProduct, percentText, yearsTexts } from '../texts/names.ts'
import type { Section, SectionEntry } from './answered.ts'

// The values of a product at a place as bars, with the odds of their seasons and their ranges.

interface Group {
  /** Null for one that needs no name. */
  heading: string | null
  rows: { name: string; entry: SectionEntry }[]
  expected: number | undefined
}

/** The rows of a chart: those of one input together. */
export function groupsOf({ entries, expected }: Pick<Section, 'entries' | 'expected'>): Group[] {
  const seasons = new Set(entries.map(({ scenario }) => scenario))
  // Where nothing differs by season, inputs are what is compared.
  const byInput = seasons.size > 1 || !seasons.has(null)
  const groups = new Map<string | null, Group>()
  for (const entry of entries) {
    const { input, scenario } = entry
    const heading = byInput ? input : null
    const season = scenario === null ? null : seasonText(scenario, entry)
    const name = byInput ? (season ?? input ?? '') : [input, season].filter(Boolean).join(', ')
    const group = groups.get(heading) ?? {
      heading,
      rows: [],
      expected: byInput ? expected.find((one) => one.input === input)?.value : undefined,
    }
    group.rows.push({ name, entry })
    groups.set(heading, group)
  }
  return [...groups.values()]
}

/** A table of the values of a product, each with a bar: what a chart shows is read from the same place. */
export function chart(section: Section) {
  const { product, unit, entries, expected } = section
  const groups = groupsOf(section)
  const values = entries.map(({ value }) => value)
  const means = expected.map(({ value }) => value)
  const ends = entries.flatMap(({ range }) => (range ? [range.low, range.high] : []))
  const form: Form = {
    most: Math.max(...values, ...means, ...ends, 0),
    // Means have more decimals than what they are of.
    text: valueFormat([...values, ...ends]),
    withOdds: entries.some(({ probability }) => probability !== null),
    years: yearsTexts(entries),
  }
  const isSeasonal = entries.some(({ scenario }) => scenario !== null)
  const head = [
    isSeasonal ? TEXTS.place.season : TEXTS.choosers.input,
    ...(form.withOdds ? [TEXTS.odds.title] : []),
    '',
    TEXTS.place.value(unit, ends.length > 0),
  ]
  const bodies = groups.map(({ heading, rows, expected: mean }) =>
    element(
      'tbody',
      {},
      heading !== null &&
        element('tr', {}, element('th', { colSpan: head.length, scope: 'rowgroup' }, heading)),
      ...rows.map(({ name, entry }) => rowOf(name, entry, form)),
      mean !== undefined && rowOf(EXPECTED, { value: mean }, form, 'expected'),
    ),
  )
  return element(
    'table',
    { className: 'chart' },
    element('caption', { className: 'unseen' }, `${nameOfProduct(product)}, ${unit}`),
    element(
      'thead',
      { className: 'unseen' },
      element(
        'tr',
        {},
        ...head.map((text) => (text ? element('th', { scope: 'col' }, text) : element('td', {}))),
      ),
    ),
    ...bodies,
  )
}

interface Form {
  /** The value whose bar is as long as can be. */
  most: number
  text: NumberText
  withOdds: boolean
  /** The odds of a season in words. */
  years: (scenario: unknown) => string
}

function rowOf(
  name: string,
  { value, scenario, range = null, probability = null }: Partial<SectionEntry> & { value: number },
  { most, text, withOdds, years }: Form,
  className = '',
) {
  const share = (number: number) => (most > 0 ? (Math.max(number, 0) / most) * 100 : 0)
  const bar = element('span', { className: 'bar' })
  bar.style.inlineSize = `${share(value)}%`
  const whisker = range && element('span', { className: 'whisker' })
  if (range && whisker) {
    whisker.style.insetInlineStart = `${share(range.low)}%`
    whisker.style.inlineSize = `${share(range.high) - share(range.low)}%`
  }
  return element(
    'tr',
    { className },
    element('th', { scope: 'row' }, name),
    withOdds && oddsCell(probability, years(scenario)),
    element(
      'td',
      { className: 'bars', 'aria-hidden': 'true' },
      element('span', { className: 'scale' }, bar, whisker),
    ),
    element(
      'td',
      { className: 'number' },
      element('span', { className: 'value' }, text(value)),
      range && ' ',
      range && element('span', { className: 'range' }, TEXTS.place.range(text(range.low), text(range.high))),
    ),
  )
}

/** As people count, and in percent for who points at it or hears it. */
function oddsCell(probability: number | null, years: string) {
  if (probability === null) return element('td', { className: 'odds' })
  const percent = percentText(probability)
  return element(
    'td',
    { className: 'odds', title: percent },
    years,
    element('span', { className: 'unseen' }, ` (${percent})`),
  )
}

/** What lines over bars and expected values mean; undefined where there are none. */
export function chartNote({ entries, expected }: Section): string | undefined {
  const seasons = new Map<number, Set<string>>()
  for (const { range, scenario, input } of entries) {
    if (!range) continue
    const names = seasons.get(range.level) ?? new Set()
    seasons.set(range.level, names.add(scenario ?? input ?? ''))
  }
  const levels = [...seasons].map(([level, names]) =>
    TEXTS.place.level(percentText(level), seasons.size === 1 ? '' : [...names].join(', ')),
  )
  const said = [
    levels.length > 0 && TEXTS.place.ranged(levels),
    expected.length > 0 && TEXTS.place.expectedNote,
  ]
  return said.filter(Boolean).join(' ') || undefined
}
