import type { Area, Catalog, CatalogProduct, CatalogRelease } from '../api-types.ts'
import { type AreasOf, areaSource, type Figures } from '../geo/areas.ts'
import { save } from '../parts/blocks.ts'
import type { Layers } from '../parts/choices.ts'
import { tableOf } from '../parts/table.ts'
import { seasonNote } from '../parts/values.ts'
import { button, chooser, element, optionsOf } from '../shell/element.ts'
import { mapTexts, TEXTS } from '../texts/en.ts'
import { nameIn, nameOfLayer } from '../texts/names.ts'
import { csvOf, formatOf, type Row, rowsOf } from './values.ts'

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
  const choices = optionsOf(levels.map(String))
  container.replaceChildren(
    element(
      'h2',
      {},
      texts.caption(title, nameIn(catalog.countries, country)),
      element('span', { className: 'unit' }, ` ${product.unit}`),
    ),
    ...(levels.length > 0
      ? [chooser(texts.level, 'level', choices, String(levels[0]), (level) => load(Number(level))), results]
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

const byName = ({ area: one }: Row, { area: other }: Row) => one.name.localeCompare(other.name)

/** All that a level of most countries has. */
const MOST_AREAS = 1000

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
  const text = formatOf(rows)
  return [
    ...[seasonNote(catalog, scenarios)].filter((note) => note !== false),
    tableOf({
      caption: figure.note,
      columns: [
        { title: texts.area, head: true },
        ...columns.map((title) => ({ title, number: true, text })),
        { title: texts.within },
      ],
      rows: rows.toSorted(byName).map((row) => ({
        cells: [row.area.name, ...row.values, row.area.parent && parents.get(row.area.parent)],
        shown: () => [
          button(row.area.name, () => open(row), 'link'),
          ...row.values.map((value) => (value === null ? texts.none : undefined)),
        ],
        mark: row.area.code === chosen ? 'chosen' : '',
      })),
      rowsAPage: MOST_AREAS,
    }),
    element('p', {}, button(TEXTS.download, download)),
  ]
}
