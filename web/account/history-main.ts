import type { HistoryItem, HistoryList } from '#schemas/history.ts'
import type { Catalog } from '../api-types.ts'
import { type Feature, featuresMap } from '../map/features-map.ts'
import { loaded, save, timeText, workButton } from '../parts/blocks.ts'
import { formOf } from '../parts/form.ts'
import type { Session } from '../parts/session.ts'
import { type Page, startPage } from '../parts/start.ts'
import { valuesText } from '../parts/values.ts'
import { element } from '../shell/element.ts'
import { history, TEXTS } from '../texts/en.ts'
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
  const choose = formOf({
    fields: filterFields(catalog, filter),
    action: history.apply,
    submit: async (values) => remember(values),
  })
  choose.classList.add('filters')
  return element(
    'div',
    { class: 'column' },
    choose,
    element('div', { class: 'actions' }, downloads(session, filter)),
    map && element('section', { class: 'card map-card' }, map.place),
    listOf(session, filter, (features) => void map?.show(features), catalog),
  )
}

function filterFields(catalog: Catalog, filter: Record<string, string | undefined>) {
  const every: [string, string][] = [['', history.every]]
  const chosen = (options: [string, string][], name: string) =>
    options.map(([value, text]) => ({ value, text, selected: filter[name] === value }))
  const products: [string, string][] = catalog.products.map(({ product }) => [
    product,
    TEXTS.products[product] ?? product,
  ])
  const countries: [string, string][] = catalog.countries.map(({ code, name }) => [code, name])
  return [
    {
      name: 'product',
      label: TEXTS.choosers.product,
      type: 'select',
      options: chosen([...every, ...products, ['all', history.all]], 'product'),
    },
    {
      name: 'kind',
      label: history.kind,
      type: 'select',
      options: chosen([...every, ['point', history.points], ['polygon', history.polygons]], 'kind'),
    },
    {
      name: 'country_code',
      label: TEXTS.choosers.country,
      type: 'select',
      options: chosen([...every, ...countries], 'country_code'),
    },
    { name: 'from', label: history.from, type: 'date', attributes: { value: filter.from ?? '' } },
    { name: 'to', label: history.to, type: 'date', attributes: { value: filter.to ?? '' } },
  ]
}

function downloads(session: Session, filter: Record<string, string | undefined>) {
  return workButton(history.download, async () => {
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
    list.append(...page.items.map((item) => itemOf(session, item, catalog)))
    drawn.push(...shapes.features)
    draw(drawn)
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

function itemOf(session: Session, item: HistoryItem, catalog: Catalog) {
  const { id, created_at, product, location, forecast_period, answer } = item
  const row = element('li', { class: 'item' })
  const remove = workButton(
    history.remove,
    async () => {
      if (!confirm(history.removeSure(location.name))) return
      await session.remove(`history/${id}`)
      row.remove()
    },
    { 'aria-label': history.removeNamed(location.name, timeText(created_at)) },
  )
  row.append(
    element('strong', {}, `${TEXTS.products[product] ?? history.all}: ${location.name}`),
    element('span', {}, history.when(timeText(created_at), forecast_period)),
    element(
      'span',
      {},
      element('a', { href: `./#at=${location.lat},${location.lng}` }, history.at(location.lat, location.lng)),
    ),
    element('span', {}, valuesText(answer, catalog)),
    feedbackForm(session, item, catalog),
    element('div', { class: 'actions' }, remove),
  )
  return row
}

startPage('account', history.title, open)
