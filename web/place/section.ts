import type { CatalogRelease } from '../api-types.ts'
import { chooser, element } from '../shell/element.ts'
import { TEXTS } from '../texts/en.ts'
import { nameOfProduct, nameOfSource, titleOfCondition } from '../texts/names.ts'
import { answerLines } from './answer.ts'
import type { Section } from './answered.ts'
import { chart, chartNote } from './chart.ts'

/** @param unchosen says which it is without a choice; `chosen` is empty then */
export function conditionSelect(
  label: string,
  product: string,
  {
    unchosen,
    list,
    chosen,
  }: { unchosen: string; list: { condition: string; title: string }[]; chosen: string },
  choose: (condition: string | null) => void,
) {
  const options = list.map(({ condition, title }) => ({ value: condition, text: title }))
  const all = [{ value: '', text: unchosen }, ...options]
  return chooser(label, `condition of ${product}`, all, chosen, (value) => choose(value || null))
}

/** Chooses the condition of a field where a release has conditions; false where it has none. */
export function conditionChooser(
  { product, conditions, byLandscape, entries }: Section,
  wanted: string | null,
  choose: (condition: string | null) => void,
) {
  if (!conditions) return false
  const texts = TEXTS.place
  const { question, list, codes, default: ofAll } = conditions
  const found = entries.find(({ condition }) => condition !== null)?.condition ?? ''
  const chosen = list.find(({ condition }) => condition === wanted)?.condition ?? ''
  const title = titleOfCondition(conditions, chosen ? (ofAll ?? '') : found)
  const otherwise = chosen && codes ? texts.byLandscape : texts.byDefault(title)
  const unchosen = byLandscape ? texts.ofLandscape(title) : otherwise
  return conditionSelect(question, product, { unchosen, list, chosen }, choose)
}

export type NamedRelease = Pick<
  CatalogRelease,
  'release' | 'valid_until' | 'synthetic' | 'source' | 'licence'
>

/**
 * A product's values at a place, or why it has none.
 *
 * @param demo says that values are made up, where not those of all sections are
 */
export function sectionOf(
  section: Section,
  { releases }: { releases: NamedRelease[] },
  chooser: HTMLElement | false,
  demo: string | false = false,
) {
  const texts = TEXTS.place
  const { product, unit, period, entries, reason, stale } = section
  const release = releases.find((one) => one.release === section.release)
  const title = element('h3', {}, nameOfProduct(product), element('span', { className: 'unit' }, ` ${unit}`))
  if (entries.length === 0) {
    return element(
      'section',
      { className: 'product none' },
      title,
      element('p', {}, element('strong', {}, texts.noValue), reason ? `: ${reason}` : ''),
    )
  }
  const note = chartNote(section)
  const said = [period, release?.valid_until && texts.validUntil(release.valid_until)].filter(Boolean)
  return element(
    'section',
    { className: 'product' },
    title,
    demo !== false && section.synthetic && element('p', { className: 'small notice' }, demo),
    ...answerLines(section),
    chooser,
    chart(section),
    note !== undefined && element('p', { className: 'small' }, note),
    stale && element('p', { className: 'small notice' }, texts.stale),
    element('p', { className: 'small' }, said.join(', ')),
    element(
      'p',
      { className: 'small source' },
      `${texts.release} `,
      element('code', {}, section.release ?? ''),
      release ? `. ${nameOfSource(release)}` : '',
    ),
  )
}
