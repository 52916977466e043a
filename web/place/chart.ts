import { type NumberText, valueFormat } from '../parts/numbers.ts'
import { element } from '../shell/element.ts'
import { TEXTS } from '../texts/en.ts'
import { nameOfProduct } from '../texts/names.ts'
import type { Section } from './sections.ts'

/** A table of the values of a product, each with a bar: what a chart shows is read from the same place. */
export function chart({ product, unit, entries }: Section) {
  const most = Math.max(...entries.map(({ value }) => value), 0)
  const text = valueFormat(entries.map(({ value }) => value))
  const seasonal = entries.some(({ scenario }) => scenario !== null)
  const inputs = [...new Set(entries.map(({ input }) => input))]
  // Without seasons, inputs are what is compared.
  const groups = seasonal ? inputs : [null]
  const bodies = groups.map((group) =>
    element(
      'tbody',
      {},
      group !== null && element('tr', {}, element('th', { colSpan: 3, scope: 'rowgroup' }, group)),
      ...entries
        .filter(({ input }) => !seasonal || input === group)
        .map(({ input, scenario, value }) => row(scenario ?? input ?? '', value, most, text)),
    ),
  )
  const caption = element('caption', { className: 'unseen' }, `${nameOfProduct(product)}, ${unit}`)
  const head = [seasonal ? TEXTS.place.season : TEXTS.choosers.input, '', unit].map((text) =>
    text ? element('th', { scope: 'col' }, text) : element('td', {}),
  )
  return element(
    'table',
    { className: 'chart' },
    caption,
    element('thead', { className: 'unseen' }, element('tr', {}, ...head)),
    ...bodies,
  )
}

/** @param most the value whose bar is as long as can be */
function row(name: string, value: number, most: number, text: NumberText) {
  const bar = element('span', { className: 'bar' })
  bar.style.inlineSize = `${most > 0 ? (Math.max(value, 0) / most) * 100 : 0}%`
  return element(
    'tr',
    {},
    element('th', { scope: 'row' }, name),
    element('td', { className: 'bars', 'aria-hidden': 'true' }, bar),
    element('td', { className: 'number' }, text(value)),
  )
}
