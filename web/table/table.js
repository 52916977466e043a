import { element, labelled, select } from '../shell/element.js'
import { TEXTS } from '../texts/en.js'
import { nameOfLayer, numberText } from '../texts/names.js'
import { csvOf, sorted, valuesIn } from './values.js'

/**
 * What a layer shows, area by area: for those who cannot see the map, or would rather have numbers.
 *
 * @param {HTMLElement} container
 * @param {object} shown
 * @param {import('../api-types').Catalog} shown.catalog
 * @param {import('../api-types').CatalogProduct} shown.product
 * @param {import('../api-types').CatalogRelease} shown.release
 * @param {ReturnType<typeof import('../map/choices.js').layerOf>} shown.layers
 * @param {(country: string, level: number) => Promise<import('../api-types').Area[]>} shown.areasOf
 * @param {(place: import('../api-types').Place) => void} open
 */
export async function showTable(container, { catalog, product, release, layers, areasOf }, open) {
  const texts = TEXTS.table
  const country = release.country_code
  const levels = catalog.boundaries
    .filter((one) => one.country_code === country && one.level > 0)
    .map(({ level }) => level)
    .sort()
  const input = layers.layer?.input ?? null
  const scenarios = layers.scenarios.length > 0 ? layers.scenarios : [null]
  const results = element('div', { className: 'results-table' })
  let loads = 0
  /** @param {number} level */
  const load = async (level) => {
    const mine = ++loads
    const status = element('p', { role: 'status' }, TEXTS.loading)
    results.replaceChildren(status)
    /** @param {number} found @param {number} all */
    const progress = (found, all) => {
      status.textContent = texts.progress(found, all)
    }
    try {
      const areas = await areasOf(country, level)
      const rows = await valuesIn(areas, product, release, input, scenarios, progress)
      const parents = new Map((await areasOf(country, level - 1)).map(({ code, name }) => [code, name]))
      if (mine === loads) results.replaceChildren(...rowsShown(rows, parents))
    } catch (error) {
      if (mine !== loads) return
      results.replaceChildren(
        element('p', { role: 'alert' }, TEXTS.failed(/** @type {Error} */ (error).message)),
      )
    }
  }
  const title = nameOfLayer(release.product, { input, scenario: null })
  const countryName = catalog.countries.find(({ code }) => code === country)?.name ?? country
  const options = levels.map((level) => ({ value: String(level), text: String(level) }))
  container.replaceChildren(
    element(
      'h2',
      {},
      texts.caption(title, countryName),
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
      : [element('p', {}, texts.noAreas)]),
  )
  if (levels[0] !== undefined) await load(levels[0])

  /**
   * @param {import('./values.js').Row[]} rows
   * @param {Map<string, string>} parents
   */
  function rowsShown(rows, parents) {
    const columns = scenarios.map((scenario) => scenario ?? input ?? product.unit)
    return [
      element('p', { className: 'small' }, texts.note),
      element(
        'div',
        { className: 'scrolling', tabIndex: 0, role: 'region', 'aria-label': texts.title },
        tableOf(rows, columns, parents, open),
      ),
      element('p', {}, download(`${release.release}.csv`, csvOf(columns, rows))),
    ]
  }
}

/**
 * @param {import('./values.js').Row[]} rows
 * @param {string[]} columns
 * @param {Map<string, string>} parents
 * @param {(place: import('../api-types').Place) => void} open
 */
function tableOf(rows, columns, parents, open) {
  const texts = TEXTS.table
  let by = -1
  let descending = false
  const body = element('tbody')
  const heads = [texts.area, ...columns].map((name, at) => {
    const button = element('button', { type: 'button', title: texts.sort(name) }, name)
    const head = element('th', { scope: 'col', className: at === 0 ? '' : 'number' }, button)
    button.addEventListener('click', () => {
      descending = by === at - 1 ? !descending : at > 0
      by = at - 1
      draw()
    })
    return head
  })
  const within = element('th', { scope: 'col' }, texts.within)
  const draw = () => {
    for (const [at, head] of heads.entries()) {
      head.setAttribute('aria-sort', at - 1 !== by ? 'none' : descending ? 'descending' : 'ascending')
    }
    body.replaceChildren(...sorted(rows, by, descending).map(rowOf))
  }
  /** @param {import('./values.js').Row} row */
  const rowOf = ({ area, place, values }) => {
    const name = element(
      'button',
      { type: 'button', className: 'link', title: texts.open(area.name) },
      area.name,
    )
    name.addEventListener('click', () => open(place))
    return element(
      'tr',
      {},
      element('th', { scope: 'row' }, name),
      ...values.map((value) =>
        element('td', { className: 'number' }, value === null ? texts.none : numberText(value)),
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

/**
 * @param {string} name
 * @param {string} text
 */
function download(name, text) {
  const button = element('button', { type: 'button', className: 'quiet' }, TEXTS.table.download)
  button.addEventListener('click', () => {
    const href = URL.createObjectURL(new Blob([text], { type: 'text/csv' }))
    element('a', { href, download: name }).click()
    URL.revokeObjectURL(href)
  })
  return button
}
