import { layerOf } from '../map/choices.ts'
import { legend } from '../map/legend.ts'
import { NO_VALUE } from '../points/colors.ts'
import { element, labelled, select } from '../shell/element.ts'
import { figureTable, loadFigures } from '../table/table.ts'
import { rowsOf } from '../table/values.ts'
import { TEXTS } from '../texts/en.ts'

/** @typedef {import('../api-types.ts').Tileset} Tileset */

/**
 * @typedef {object} Wanted
 * @property {import('../api-types.ts').Catalog} catalog
 * @property {import('../api-types.ts').CatalogProduct} product
 * @property {import('../api-types.ts').CatalogRelease} release
 * @property {number} level
 * @property {Tileset[]} tilesets
 * @property {import('../table/table.ts').AreasOf} areasOf
 * @property {AbortSignal} left
 */

const { districts } = TEXTS

/**
 * What is shown of areas: the means of a layer as colours, which its legend explains, and any figure in the table.
 *
 * @param {Wanted} wanted
 * @param {Record<string, string | null>} view the input, the season and the area that are chosen
 * @param {import('../parts/features-map.ts').FeaturesMap | null} map
 * @param {(changes: Record<string, string | null>) => void} keep
 */
export function districtsShown(wanted, view, map, keep) {
  const { catalog, product, release, level, tilesets, areasOf, left } = wanted
  let { area = null } = view
  let layers = layerOf(tilesets, { input: view.input ?? null, scenario: view.scenario ?? null })
  let found: import('../table/table.ts').Found | undefined
  const key = element('div', { class: 'legends' })
  const table = element('div')
  const figureChooser = select([], null, draw)
  figureChooser.name = 'figure'

  /** @param {Parameters<typeof layerOf>[1]} chosen */
  function choose(chosen) {
    layers = layerOf(tilesets, chosen)
    keep({ input: layers.layer?.input ?? null, scenario: layers.layer?.scenario ?? null })
    drawLegend()
    draw()
    drawMap(false)
  }

  const drawLegend = () => layers.layer && key.replaceChildren(legend(layers.layer, release, catalog))

  function draw() {
    if (!found) return
    const chosen = figureChooser.value || product.value.key
    const figure = { key: chosen, note: noteOf(chosen, product.unit) }
    table.replaceChildren(
      ...figureTable(found, { catalog, release, layers, figure, chosen: area }, (row) => mark(row.area.code)),
    )
  }

  /** @param {string | null} code */
  function mark(code) {
    area = code
    keep({ area })
    draw()
    drawMap(false)
    table.querySelector('.chosen')?.scrollIntoView({ block: 'nearest' })
  }

  /** @param {boolean} whole whether all areas are to be seen */
  function drawMap(whole) {
    const { layer } = layers
    if (!found || !layer) return
    const rows = rowsOf(found.areas, found.figures, product.value.key, layer.input, [layer.scenario])
    map?.show(featuresOf(rows, layer, area), whole).catch(() => {})
  }

  drawLegend()
  map?.ready.then(
    (drawn) =>
      drawn.on('click', 'feature-fill', ({ features }) => mark(features?.[0]?.properties.code ?? null)),
    () => {},
  )
  return {
    legend: key,
    choosers: [
      chooserOf('input', layers.inputs, layers.layer?.input ?? null, (input) =>
        choose({ input, scenario: layers.layer?.scenario ?? null }),
      ),
      chooserOf('scenario', layers.scenarios, layers.layer?.scenario ?? null, (scenario) =>
        choose({ input: layers.layer?.input ?? null, scenario }),
      ),
    ].filter((one) => one !== undefined),
    async load() {
      found = await loadFigures(table, { release, level, areasOf }, () => !left.aborted)
      if (!found) return table
      map?.outline(found.areas)
      figureChooser.replaceChildren(
        ...figuresIn(found, product).map((name) =>
          element('option', { value: name }, nameOf(name, product.unit)),
        ),
      )
      draw()
      drawMap(true)
      return element('div', {}, labelled(districts.figure, figureChooser), table)
    },
  }
}

/**
 * The figures that any area has.
 *
 * @param {import('../table/table.ts').Found} found
 * @param {import('../api-types.ts').CatalogProduct} product
 */
function figuresIn({ figures }, { value }) {
  const names = [...new Set([...figures.values()].flatMap((one) => Object.keys(one)))]
  return [value.key, 'min', 'max', 'stddev', 'covered_percent', 'total_kg', 'total_tons'].filter((figure) =>
    names.some((name) => name === figure || name.startsWith(`${figure} `)),
  )
}

/**
 * @param {import('../table/values.ts').Row[]} rows
 * @param {Tileset} layer
 * @param {string | null} chosen the code of an area
 */
function featuresOf(rows, layer, chosen) {
  return rows.map(({ area: { code, geometry }, values: [value] }) => ({
    type: /** @type {const} */ ('Feature'),
    geometry,
    properties: { code, color: colorIn(layer, value ?? null), chosen: code === chosen },
  }))
}

/**
 * @param {'input' | 'scenario'} name
 * @param {string[]} values
 * @param {string | null} chosen
 * @param {(value: string) => void} choose
 */
function chooserOf(name, values, chosen, choose) {
  if (values.length === 0) return undefined
  const control = select(
    values.map((value) => ({ value, text: value })),
    chosen,
    choose,
  )
  control.name = name
  return labelled(TEXTS.choosers[name], control)
}

/** @param {Tileset} layer @param {number | null} value @returns {string} as the map has it */
function colorIn({ classes }, value) {
  if (value === null) return NO_VALUE
  return classes.findLast(({ from }) => value >= from)?.color ?? classes[0]?.color ?? NO_VALUE
}

/** @param {string} figure @param {string} unit */
function nameOf(figure, unit) {
  return districts.figures[figure] ?? districts.mean(unit)
}

/** @param {string} figure @param {string} unit */
function noteOf(figure, unit) {
  return districts.figures[figure] ? districts.note(nameOf(figure, unit)) : TEXTS.table.note
}
