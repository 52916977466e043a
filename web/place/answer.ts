import { valueFormat } from '../parts/values.ts'
import { element } from '../shell/element.ts'
import { TEXTS } from '../texts/en.ts'
import type { SectionEntry } from './answered.ts'

// The number that people came for, before the chart and the tables that have all of them.

/** The season that an answer is about: neither the best case nor the worst. */
export const SEASON = 'Normal'

/**
 * The entries that answer first: each input in the normal season, or in the first one there is. Where nothing differs by
 * season, the highest alone.
 */
export function firstEntries<Entry extends Pick<SectionEntry, 'scenario' | 'value'>>(
  entries: readonly Entry[],
): Entry[] {
  const [first] = entries
  if (first === undefined) return []
  if (entries.every(({ scenario }) => scenario === null))
    return [entries.reduce((most, one) => (one.value > most.value ? one : most))]
  const { scenario } = entries.find((one) => one.scenario === SEASON) ?? first
  return entries.filter((one) => one.scenario === scenario)
}

/** What a first entry is of: an input, or a season. @param entries all of the product */
export function nameOfAnswer({ input, scenario }: SectionEntry, entries: readonly SectionEntry[]): string {
  const { answer } = TEXTS
  if (scenario === null) return input === null ? '' : answer.highest(input, entries.length)
  const season = scenario === SEASON ? answer.normal : answer.season(scenario)
  return input === null ? season : answer.inSeason(input, season)
}

/**
 * The first entries in large, a line each, with their range.
 *
 * @param what is shown, where no heading says it
 */
export function answerLines(
  { unit, entries }: { unit: string; entries: SectionEntry[] },
  what?: string,
): HTMLElement[] {
  const ends = entries.flatMap(({ range }) => (range ? [range.low, range.high] : []))
  const text = valueFormat([...entries.map(({ value }) => value), ...ends])
  return firstEntries(entries).map((entry) => {
    const { range, input, scenario } = entry
    const season = scenario === SEASON ? TEXTS.answer.normalSeason : scenario
    const parts = [what, input, season].filter((part) => typeof part === 'string')
    return element(
      'p',
      { className: 'answer' },
      what !== undefined && element('span', { className: 'of' }, TEXTS.answer.of(...parts)),
      element('strong', {}, text(entry.value)),
      ` ${unit}${what === undefined ? ` ${nameOfAnswer(entry, entries)}`.trimEnd() : ''}`,
      range && ', ',
      range && element('span', { className: 'ends' }, TEXTS.place.range(text(range.low), text(range.high))),
    )
  })
}
