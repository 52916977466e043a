import { sourceText } from '../parts/series.js'
import { entriesOf, labelOf } from '../parts/values.js'
import { element } from '../shell/element.js'
import { TEXTS } from '../texts/en.js'
import { nameOfProduct, numberText } from '../texts/names.js'
import { sketch } from './sketch.js'

/** @typedef {import('./advice.js').ProductAdvice} ProductAdvice */
/** @typedef {import('../parts/values.js').Entry} Entry */

const { field } = TEXTS

/** How the total of an entry is called, and its unit. */
const TOTALS = { total_kg: 'kg', total_tons: 't' }

/**
 * All that the service says of a field, as one sheet that can be printed.
 *
 * @param {ProductAdvice[]} advice
 * @param {import('./shape.js').Shape} shape
 * @param {import('../api-types').Catalog} catalog
 * @param {HTMLElement | false} watch the way to be told when it changes
 */
export function fieldReport(advice, shape, catalog, watch) {
  const answers = advice.flatMap((one) => ('answer' in one ? [one.answer] : []))
  const location = answers[0]?.location
  const releases = catalog.releases.filter(({ release }) =>
    answers.some((answer) => answer.release === release),
  )
  return element(
    'article',
    { class: 'card report', 'aria-label': field.report },
    element('h3', { tabIndex: -1 }, location?.name ?? field.report),
    element(
      'div',
      { class: 'facts' },
      sketch(shape, field.outline),
      location &&
        element(
          'p',
          {},
          field.area(numberText(location.area_ha)),
          element('br'),
          field.inside(String(location.lat), String(location.lng)),
          element('br'),
          field.on(new Date().toLocaleDateString(undefined, { dateStyle: 'long' })),
        ),
    ),
    answers.some(({ synthetic }) => synthetic) && element('p', { class: 'problem' }, TEXTS.synthetic),
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
  const columns = [
    `${field.mean} (${product.unit})`,
    ...field.quantiles,
    field.covered,
    ...(total ? [field.total(TOTALS[total])] : []),
  ]
  const cells = (/** @type {Entry} */ entry) => [
    entry[product.value.key],
    ...quantilesOf(entry),
    entry.covered_percent,
    ...(total ? [entry[total]] : []),
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
        element('tbody', {}, ...entries.map((entry) => rowOf(labelOf(entry), cells(entry)))),
      ),
    ),
  )
}

/** @param {Entry} entry */
function quantilesOf({ quantiles }) {
  return /** @type {{ value: number }[]} */ (quantiles ?? []).map(({ value }) => value)
}

/** @param {string} label @param {unknown[]} values */
function rowOf(label, values) {
  return element(
    'tr',
    {},
    element('th', { scope: 'row' }, label),
    ...values.map((value) =>
      element('td', { class: 'number' }, typeof value === 'number' ? numberText(value) : ''),
    ),
  )
}
