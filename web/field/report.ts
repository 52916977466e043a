import type { Catalog } from '../api-types.ts'
import { syntheticNotice } from '../parts/blocks.ts'
import { amountFormat, type NumberText, valueFormat } from '../parts/numbers.ts'
import { sourceText } from '../parts/series.ts'
import { type Entry, entriesOf, labelOf, seasonNote } from '../parts/values.ts'
import { element } from '../shell/element.ts'
import { TEXTS } from '../texts/en.ts'
import { nameOfProduct } from '../texts/names.ts'
import type { ProductAdvice } from './advice.ts'
import type { Shape } from './shape.ts'
import { sketch } from './sketch.ts'
import { summaryOf } from './summary.ts'

const { field } = TEXTS

/** How the total of an entry is called, and its unit. */
const TOTALS = { total_kg: 'kg', total_tons: 't' }

interface Asked {
  shape: Shape
  /** Empty where it has none. */
  name: string
  catalog: Catalog
  /** Its code. */
  crop: string | null
}

/**
 * All that the service says of a field, as one sheet that can be printed.
 *
 * @param watch the way to be told when it changes
 */
export function fieldReport(
  advice: ProductAdvice[],
  { shape, name, catalog, crop }: Asked,
  watch: HTMLElement | false,
) {
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

function productPart(one: ProductAdvice) {
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
  const total = Object.keys(TOTALS).find((key) => entries.some((entry) => key in entry)) as
    | keyof typeof TOTALS
    | undefined
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
  const cells = (entry: Entry) => [
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

function quantilesOf({ quantiles }: Entry) {
  return ((quantiles ?? []) as { value: number }[]).map(({ value }) => value)
}

/** @param texts how each is written */
function rowOf(label: string, values: unknown[], texts: NumberText[]) {
  return element(
    'tr',
    {},
    element('th', { scope: 'row' }, label),
    ...values.map((value, at) =>
      element('td', { class: 'number' }, typeof value === 'number' ? texts[at]?.(value) : ''),
    ),
  )
}
