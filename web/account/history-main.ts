import type { HistoryItem, HistoryList } from '#schemas/history.ts'
import type { Catalog } from '../api-types.ts'
import { type Feature, featuresMap } from '../map/features-map.ts'
import { loaded, removeButton, save, timeText, workButton } from '../parts/blocks.ts'
import { filterForm, periodFields } from '../parts/form.ts'
import type { Session } from '../parts/session.ts'
import { type Page, startPage } from '../parts/start.ts'
import { valuesText } from '../parts/values.ts'
import { answerLines } from '../place/answer.ts'
import { readEntries } from '../place/answered.ts'
import { element, optionsOf } from '../shell/element.ts'
import { history, TEXTS } from '../texts/en.ts'
import { nameOfProduct } from '../texts/names.ts'
import { besides } from './besides.ts'
import { entrance } from './enter.ts'
import { feedbackForm } from './feedback.ts'

const FILTERS = ['product', 'kind', 'country_code', 'from', 'to']
const ITEMS_A_PAGE = 20

/** The answers to the caller: a list and a map with filters, and all of them as a file. */
async function open({ session, view, remember, left }: Page) {
  if (!(await session.resume())) return entrance(session, history.login)
  const catalog = await session.get<Catalog>('catalog')
  const filter = Object.fromEntries(FILTERS.map((name) => [name, view.get(name) || undefined]))
  const map = featuresMap(catalog, { label: history.map, left })
  const choose = filterForm(TEXTS.apply, filterFields(catalog, filter), remember)
  return besides(session, [
    choose,
    element('div', { class: 'actions' }, downloads(session, filter)),
    map && element('section', { class: 'card map-card' }, map.place),
    listOf(session, filter, (features) => void map?.show(features), catalog),
  ])
}

function filterFields(catalog: Catalog, filter: Record<string, string | undefined>) {
  const chosenFrom = (name: string, label: string, names: Record<string, string>) => {
    const options = optionsOf(['', ...Object.keys(names)], (value) => names[value] ?? history.every)
    return { name, label, type: 'select', options, value: filter[name] }
  }
  const products = catalog.products.map(({ product }) => [product, nameOfProduct(product)])
  const countries = catalog.countries.map(({ code, name }) => [code, name])
  return [
    chosenFrom('product', TEXTS.choosers.product, { ...Object.fromEntries(products), all: history.all }),
    chosenFrom('kind', history.kind, { point: history.points, polygon: history.polygons }),
    chosenFrom('country_code', TEXTS.choosers.country, Object.fromEntries(countries)),
    ...periodFields(filter.from, filter.to),
  ]
}

function downloads(session: Session, filter: Record<string, string | undefined>) {
  return workButton(TEXTS.download, async () => {
    const text = await session.get<string>(
      'history/my',
      { ...filter, all: 'true' },
      { headers: { accept: 'text/csv' } },
    )
    save(text, 'history.csv')
  })
}

/** The newest items, and a button for more of them. */
function listOf(
  session: Session,
  filter: Record<string, string | undefined>,
  draw: (features: Feature[]) => void,
  catalog: Catalog,
) {
  const list = element('ul', { class: 'items' })
  const questions = new Map<Element | null, HistoryItem[]>()
  const drawn: Feature[] = []
  let cursor: string | null = null

  async function more() {
    const query = { ...filter, limit: ITEMS_A_PAGE, cursor: cursor ?? undefined }
    const [page, shapes] = await Promise.all([
      session.get<HistoryList>('history/my', query),
      session.get<{ features: Feature[] }>('history/my', query, {
        headers: { accept: 'application/geo+json' },
      }),
    ])
    cursor = page.next_cursor
    // The last question of a page may have answers on the next one.
    const last = list.lastElementChild
    const added = questionsOf([...(questions.get(last) ?? []), ...page.items])
    last?.remove()
    for (const question of added) {
      const row = questionOf(session, question, catalog)
      questions.set(row, question)
      list.append(row)
    }
    drawn.push(...shapes.features)
    // Answers to one question have the same shape.
    draw([...new Map(drawn.map((one) => [JSON.stringify(one.geometry), one])).values()])
    further.hidden = cursor === null
  }

  const further = workButton(history.more, more)
  const place = loaded(async () => {
    list.replaceChildren()
    await more()
    return list.childElementCount === 0 ? element('p', {}, history.none) : list
  })
  return element('section', { class: 'card', 'aria-label': history.title }, place, further)
}

/** Answers to one question come within a minute of each other. */
const TOGETHER_MS = 60_000

/**
 * Items by question, the newest first, as they are: pages ask every product about a place, one answer each. Counted from the
 * oldest, since who looks at an answer may ask for one product again.
 */
function questionsOf(items: HistoryItem[]): HistoryItem[][] {
  const questions: HistoryItem[][] = []
  for (const item of items.toReversed()) {
    const question = questions[0]
    const before = question?.[0]
    const isSame =
      before !== undefined &&
      JSON.stringify(before.location) === JSON.stringify(item.location) &&
      Date.parse(item.created_at) - Date.parse(before.created_at) < TOGETHER_MS &&
      question?.every(({ product }) => product !== item.product)
    if (isSame) question?.unshift(item)
    else questions.unshift([item])
  }
  return questions
}

/** A question with what answers it first; all values, feedback and deletion are folded. */
function questionOf(session: Session, items: HistoryItem[], catalog: Catalog) {
  const [{ created_at, location, forecast_period }] = items as [HistoryItem]
  const order = catalog.products.map(({ product }) => product)
  const sorted = items.toSorted((one, other) => order.indexOf(one.product) - order.indexOf(other.product))
  const row = element(
    'li',
    { class: 'item' },
    element('strong', {}, location.name),
    element('span', {}, history.when(timeText(created_at), forecast_period)),
    element('a', { href: `./#at=${location.lat},${location.lng}` }, history.at(location.lat, location.lng)),
    firstAnswers(sorted, catalog),
  )
  const parts = sorted.map((item) => {
    const part = itemOf(session, item, catalog, () => {
      part.remove()
      items.splice(items.indexOf(item), 1)
      if (items.length === 0) row.remove()
    })
    return part
  })
  row.append(
    element('details', { class: 'everything' }, element('summary', {}, history.everything), ...parts),
  )
  return row
}

function firstAnswers(items: HistoryItem[], { products }: Catalog) {
  const rows = items.flatMap(({ product, answer }) =>
    products.flatMap((one) => {
      const nested = (answer as Record<string, unknown>)[one.product]
      const own = product === one.product ? answer : nested
      if (typeof own !== 'object' || own === null) return []
      const lines = answerLines({ unit: one.unit, entries: readEntries(own, one.value.key) })
      const name = element('th', { scope: 'row' }, nameOfProduct(one.product))
      return lines.length === 0 ? [] : [element('tr', {}, name, element('td', {}, ...lines))]
    }),
  )
  return rows.length > 0 && element('table', { class: 'answers' }, element('tbody', {}, ...rows))
}

function itemOf(session: Session, item: HistoryItem, catalog: Catalog, removed: () => void) {
  const { id, created_at, product, location, answer } = item
  const name = TEXTS.products[product] ?? history.all
  const named = history.removeNamed(location.name, name, timeText(created_at))
  const remove = removeButton(named, history.removeSure(location.name), async () => {
    await session.remove(`history/${id}`)
    removed()
  })
  return element(
    'div',
    { class: 'answered' },
    element('h3', {}, name),
    element('p', {}, valuesText(answer, catalog)),
    feedbackForm(session, item, catalog),
    element('div', { class: 'actions' }, remove),
  )
}

startPage('account', history.title, open)
