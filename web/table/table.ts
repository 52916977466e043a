import type { Area, Catalog, CatalogProduct, CatalogRelease } from '../api-types.ts'
import { type AreasOf, areaSource, type Figures } from '../geo/areas.ts'
import { save } from '../parts/blocks.ts'
import type { Layers } from '../parts/choices.ts'
import { seasonNote } from '../parts/values.ts'
import { button, element, labelled, select } from '../shell/element.ts'
import { mapTexts, TEXTS } from '../texts/en.ts'
import { nameIn, nameOfLayer } from '../texts/names.ts'
import { csvOf, formatOf, type Row, rowsOf, sorted } from './values.ts'

interface LayerShown {
  catalog: Catalog
  product: CatalogProduct
  release: CatalogRelease
  layers: Layers
  areasOf: AreasOf
}

/** A layer area by area: for visitors who cannot see the map, or prefer numbers. */
export async function showTable(
  container: HTMLElement,
  { catalog, product, release, layers, areasOf }: LayerShown,
  open: (area: Area) => void,
) {
  const texts = mapTexts.table
  const country = release.country_code
  const levels = catalog.boundaries
    .filter((one) => areaSource() && one.country_code === country && one.level > 0)
    .map(({ level }) => level)
    .sort()
  const results = element('div', { className: 'results-table' })
  let loads = 0
  const load = async (level: number) => {
    const mine = ++loads
    const isMine = () => mine === loads
    const found = await loadFigures(results, { release, level, areasOf }, isMine)
    if (!found) return
    const figure = { key: product.value.key, note: texts.note }
    results.replaceChildren(
      ...figureTable(found, { catalog, release, layers, figure }, ({ area }) => open(area)),
    )
  }
  const { input = null, condition = null } = layers.layer ?? {}
  const title = nameOfLayer(release.product, { input, scenario: null, condition })
  const options = levels.map((level) => ({ value: String(level), text: String(level) }))
  container.replaceChildren(
    element(
      'h2',
      {},
      texts.caption(title, nameIn(catalog.countries, country)),
      element('span', { className: 'unit' }, ` ${product.unit}`),
    ),
    ...(levels.length > 0
      ? [
          labelled(
            texts.level,
            select(options, String(levels[0]), (level) => load(Number(level))),
          ),
          results,
        ]
      : [element('p', {}, areaSource() ? texts.noAreas : texts.notListed)]),
  )
  if (levels[0] !== undefined) await load(levels[0])
}

export interface Found {
  areas: Area[]
  /** By the codes of areas. */
  figures: Figures
  /** The names of the areas above, by their codes. */
  parents: Map<string, string>
}

/**
 * Loads all that is known of the areas of a level, and says meanwhile how far it is, or why it is not there.
 *
 * @param isWanted whether nothing else is, by now
 */
export async function loadFigures(
  container: HTMLElement,
  { release, level, areasOf }: { release: CatalogRelease; level: number; areasOf: AreasOf },
  isWanted: () => boolean,
): Promise<Found | undefined> {
  const status = element('p', { role: 'status' }, TEXTS.loading)
  container.replaceChildren(status)
  try {
    const areas = await areasOf(release.country_code, level)
    const progress = (found: number, all: number) => {
      status.textContent = mapTexts.table.progress(found, all)
    }
    const figures = (await areaSource()?.figures(areas, release, progress)) ?? new Map()
    const parents = new Map(
      (await areasOf(release.country_code, level - 1)).map(({ code, name }) => [code, name]),
    )
    return isWanted() ? { areas, figures, parents } : undefined
  } catch (error) {
    const { message } = error as Error
    if (isWanted()) container.replaceChildren(element('p', { role: 'alert' }, TEXTS.failed(message)))
    return undefined
  }
}

interface FigureShown {
  catalog: Catalog
  release: CatalogRelease
  /** Of which the input is shown. */
  layers: Layers
  /** The name of its properties, and what is said of it. */
  figure: { key: string; note: string }
  /** The code of an area that is marked. */
  chosen?: string | null
}

/** One figure of all areas: a table with a column for each season, and the same as a file. */
export function figureTable(
  { areas, figures, parents }: Found,
  { catalog, release, layers, figure, chosen }: FigureShown,
  open: (row: Row) => void,
) {
  const texts = mapTexts.table
  const input = layers.layer?.input ?? null
  const scenarios = layers.scenarios.length > 0 ? layers.scenarios : [null]
  const rows = rowsOf(areas, figures, figure.key, input, scenarios, layers.layer?.condition)
  const columns = scenarios.map((scenario) => scenario ?? input ?? layers.layer?.unit ?? '')
  const download = () => save(csvOf(columns, rows), `${release.release}.csv`)
  return [
    element('p', { className: 'small' }, figure.note),
    ...[seasonNote(catalog, scenarios)].filter((note) => note !== false),
    element(
      'div',
      { className: 'scroll', tabIndex: 0, role: 'region', 'aria-label': texts.title },
      tableOf(rows, columns, parents, chosen ?? null, open),
    ),
    element('p', {}, button(TEXTS.download, download)),
  ]
}

function tableOf(
  rows: Row[],
  columns: string[],
  parents: Map<string, string>,
  chosen: string | null,
  open: (row: Row) => void,
) {
  const texts = mapTexts.table
  const text = formatOf(rows)
  let by = -1
  let descending = false
  const body = element('tbody')
  const heads = [texts.area, ...columns].map((name, at) => {
    const sort = () => {
      descending = by === at - 1 ? !descending : at > 0
      by = at - 1
      draw()
    }
    const press = button(name, sort, 'sort', { title: texts.sort(name) })
    return element('th', { scope: 'col', className: at === 0 ? '' : 'number' }, press)
  })
  const within = element('th', { scope: 'col' }, texts.within)
  const draw = () => {
    for (const [at, head] of heads.entries()) {
      head.setAttribute('aria-sort', at - 1 !== by ? 'none' : descending ? 'descending' : 'ascending')
    }
    body.replaceChildren(...sorted(rows, by, descending).map(rowOf))
  }
  const rowOf = (row: Row) => {
    const { area, values } = row
    const name = button(area.name, () => open(row), 'link', { title: texts.open(area.name) })
    return element(
      'tr',
      { className: area.code === chosen ? 'chosen' : '' },
      element('th', { scope: 'row' }, name),
      ...values.map((value) =>
        element('td', { className: 'number' }, value === null ? texts.none : text(value)),
      ),
      element('td', {}, (area.parent && parents.get(area.parent)) ?? ''),
    )
  }
  draw()
  return element(
    'table',
    { className: 'areas-table' },
    element('thead', {}, element('tr', {}, ...heads, within)),
    body,
  )
}
