import { syntheticNotice } from '../parts/notice.ts'
import { amountFormat, valueFormat } from '../parts/numbers.ts'
import { seasonNote } from '../parts/seasons.ts'
import { sourceText } from '../parts/series.ts'
import { entriesOf, labelOf } from '../parts/values.ts'
import { element } from '../shell/element.ts'
import { TEXTS } from '../texts/en.ts'
import { nameOfProduct } from '../texts/names.ts'
import { sketch } from './sketch.ts'
import { summaryOf } from './summary.ts'

/** @typedef {import('./advice.ts').ProductAdvice} ProductAdvice */
/** @typedef {import('../parts/values.ts').Entry} Entry */

const { field } = TEXTS

/** How the total of an entry is called, and its unit. */
const TOTALS = { total_kg: 'kg', total_tons: 't' }

/**
 * All that the service says of a field, as one sheet that can be printed.
 *
 * @param {ProductAdvice[]} advice
 * @param {object} asked
 * @param {import('./shape.ts').Shape} asked.shape
 * @param {string} asked.name empty where it has none
 * @param {import('../api-types.ts').Catalog} asked.catalog
 * @param {string | null} asked.crop its code
 * @param {HTMLElement | false} watch the way to be told when it changes
 */
export function fieldReport(advice, { shape, name, catalog, crop }, watch) {
  const answers = advice.flatMap((one) => ('answer' in one ? [one.answer] : []))
  const location = answers[0]?.location
  const releases = catalog.releases.filter(({ release }) =>
    answers.some((answer) => answer.release === release),
  )
  return element(
    'article',
    { class: 'card report', 'aria-label': field.report },
    element('h3', { tabIndex: -1 }, name || field.report),
    syntheticNotice(answers.some(({ synthetic }) => synthetic)),
    summaryOf(advice, catalog.crops.find(({ code }) => code === crop)?.name ?? ''),
    element(
      'div',
      { class: 'facts' },
      sketch(shape, field.outline),
      location &&
        element(
          'p',
          {},
          field.area(amountFormat([location.area_ha])(location.area_ha)),
          element('br'),
          field.inside(String(location.lat), String(location.lng)),
          element('br'),
          field.on(new Date().toLocaleDateString(undefined, { dateStyle: 'long' })),
        ),
    ),
    seasonNote(
      catalog,
      answers.flatMap((answer) => entriesOf(answer).map(({ scenario }) => scenario)),
    ),
    ...advice.map(productPart),
    element(
      'footer',
      {},
      ...releases.map((release) => element('p', { class: 'small' }, sourceText(release))),
    ),
    element(
      'div',
      { class: 'actions' },
      element('button', { type: 'button', class: 'primary', onclick: () => print() }, field.print),
      watch,
    ),
  )
}

/** @param {ProductAdvice} one */
function productPart(one) {
  const { product } = one
  if (!('answer' in one)) {
    return element(
      'section',
      {},
      element('h4', {}, nameOfProduct(product.product)),
      element('p', {}, one.reason),
    )
  }
  const entries = entriesOf(one.answer)
  const total = /** @type {(keyof typeof TOTALS) | undefined} */ (
    Object.keys(TOTALS).find((key) => entries.some((entry) => key in entry))
  )
  const key = product.value.key
  // A field in one pixel has one value.
  const differs = entries.some((entry) => quantilesOf(entry).some((value) => value !== entry[key]))
  // The number to buy comes first: a phone shows two.
  const columns = [
    ...(total ? [field.total(TOTALS[total])] : []),
    `${field.mean} (${product.unit})`,
    ...(differs ? field.quantiles : []),
    field.covered,
  ]
  const cells = (/** @type {Entry} */ entry) => [
    ...(total ? [entry[total]] : []),
    entry[key],
    ...(differs ? quantilesOf(entry) : []),
    entry.covered_percent,
  ]
  const rows = entries.map((entry) => cells(entry))
  // Means and quantiles are of one layer, and stand beside each other.
  const value = valueFormat(entries.flatMap((entry) => [entry[key], ...(differs ? quantilesOf(entry) : [])]))
  const covered = valueFormat(entries.map((entry) => entry.covered_percent))
  const amount = amountFormat(total ? entries.map((entry) => entry[total]) : [])
  const texts = [
    ...(total ? [amount] : []),
    value,
    ...(differs ? field.quantiles.map(() => value) : []),
    covered,
  ]
  const title = [nameOfProduct(product.product), one.answer.forecast_period].filter(Boolean).join(', ')
  return element(
    'section',
    {},
    element('h4', {}, title),
    element(
      'div',
      { class: 'scroll', tabIndex: 0, role: 'region', 'aria-label': title },
      element(
        'table',
        {},
        element('caption', { class: 'unseen' }, title),
        element(
          'thead',
          {},
          element(
            'tr',
            {},
            element('th', { scope: 'col' }, field.of),
            ...columns.map((name) => element('th', { scope: 'col', class: 'number' }, name)),
          ),
        ),
        element('tbody', {}, ...entries.map((entry, at) => rowOf(labelOf(entry), rows[at] ?? [], texts))),
      ),
    ),
  )
}

/** @param {Entry} entry */
function quantilesOf({ quantiles }) {
  return /** @type {{ value: number }[]} */ (quantiles ?? []).map(({ value }) => value)
}

/** @param {string} label @param {unknown[]} values @param {import('../parts/numbers.ts').NumberText[]} texts how each is written */
function rowOf(label, values, texts) {
  return element(
    'tr',
    {},
    element('th', { scope: 'row' }, label),
    ...values.map((value, at) =>
      element('td', { class: 'number' }, typeof value === 'number' ? texts[at]?.(value) : ''),
    ),
  )
}
