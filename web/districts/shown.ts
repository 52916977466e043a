import type { Catalog, CatalogProduct, CatalogRelease, Tileset } from '../api-types.ts'
import type { AreasOf } from '../geo/areas.ts'
import type { FeaturesMap } from '../map/features-map.ts'
import { type Class, classesOf, colorIn, legendOf } from '../map/legend.ts'
import { type Layers, layerOf } from '../parts/choices.ts'
import { chooser, element, labelled, optionElements, optionsOf, select } from '../shell/element.ts'
import { type Found, figureTable, loadFigures } from '../table/table.ts'
import { type Row, rowsOf } from '../table/values.ts'
import { districts, mapTexts, TEXTS } from '../texts/en.ts'
import { nameOfLayer } from '../texts/names.ts'

interface Wanted {
  catalog: Catalog
  product: CatalogProduct
  release: CatalogRelease
  level: number
  tilesets: Tileset[]
  areasOf: AreasOf
  left: AbortSignal
}

/**
 * The areas of a level: the means of a layer as colours with a legend, and any statistic in the table.
 *
 * @param view the input, the season and the area that are chosen
 */
export function districtsShown(
  wanted: Wanted,
  view: Record<string, string | null>,
  map: FeaturesMap | null,
  keep: (changes: Record<string, string | null>) => void,
) {
  const { catalog, product, release, level, tilesets, areasOf, left } = wanted
  let { area = null } = view
  const { input = null, scenario = null, condition = null } = view
  let layers = layerOf(tilesets, { input, scenario, condition })
  let found: Found | undefined
  const key = element('div', { class: 'legends' })
  const table = element('div')
  const figureChooser = select([], null, draw)
  figureChooser.name = 'figure'

  function choose(chosen: Parameters<typeof layerOf>[1]) {
    layers = layerOf(tilesets, chosen)
    keep(labelsOf(layers.layer))
    draw()
    drawMap(false)
  }

  function draw() {
    if (!found) return
    const chosen = figureChooser.value || product.value.key
    const figure = { key: chosen, note: noteOf(chosen, product.unit) }
    table.replaceChildren(
      ...figureTable(found, { catalog, release, layers, figure, chosen: area }, (row) => mark(row.area.code)),
    )
  }

  function mark(code: string | null) {
    area = code
    keep({ area })
    draw()
    drawMap(false)
    table.querySelector('.chosen')?.scrollIntoView({ block: 'nearest' })
  }

  /** @param whole whether all areas are to be seen */
  function drawMap(whole: boolean) {
    const { layer } = layers
    if (!found || !layer) return
    const { areas, figures } = found
    const { input, scenario, condition } = layer
    const rows = rowsOf(areas, figures, product.value.key, input, [scenario], condition)
    const classes = classesOf(rows.flatMap(({ values: [value] }) => value ?? []))
    const meaning = { title: nameOfLayer(release.product, layer), unit: layer.unit, classes }
    key.replaceChildren(legendOf({ ...meaning, note: mapTexts.legend.alike }))
    map?.show(featuresOf(rows, classes, area), whole).catch(() => {})
  }

  map?.ready.then(
    (drawn) =>
      drawn.on('click', 'feature-fill', ({ features }) => mark(features?.[0]?.properties.code ?? null)),
    () => {},
  )
  return {
    legend: key,
    choosers: layerChoosers(layers, choose),
    async load() {
      found = await loadFigures(table, { release, level, areasOf }, () => !left.aborted)
      if (!found) return table
      map?.outline(found.areas)
      figureChooser.replaceChildren(...figureOptions(found, product))
      draw()
      drawMap(true)
      return element('div', {}, labelled(districts.figure, figureChooser), table)
    },
  }
}

/** The figures that any area has. */
function figureOptions({ figures }: Found, { value, unit }: CatalogProduct) {
  const names = [...new Set([...figures.values()].flatMap((one) => Object.keys(one)))]
  const found = [value.key, ...Object.keys(districts.figures)].filter((figure) =>
    names.some((name) => name === figure || name.startsWith(`${figure} `)),
  )
  return optionElements(optionsOf(found, (figure) => nameOf(figure, unit)))
}

/** @param chosen the code of an area */
function featuresOf(rows: Row[], classes: Class[], chosen: string | null) {
  return rows.map(({ area: { code, geometry }, values: [value] }) => ({
    type: 'Feature' as const,
    geometry,
    properties: { code, color: colorIn(classes, value), chosen: code === chosen },
  }))
}

/** What tells a layer apart from the others of its release, as addresses have it. */
export type LayerLabels = Record<'input' | 'scenario' | 'condition', string | null>

export function labelsOf(layer: Tileset | undefined): LayerLabels {
  const { input = null, scenario = null, condition = null } = layer ?? {}
  return { input, scenario, condition }
}

export const labelsIn = (view: URLSearchParams): LayerLabels => ({
  input: view.get('input'),
  scenario: view.get('scenario'),
  condition: view.get('condition'),
})

/** The choosers of the input, the season and the condition, as far as there are any. */
export function layerChoosers(
  { inputs, scenarios, conditions, layer }: Layers,
  choose: (chosen: LayerLabels) => void,
) {
  let chosen = labelsOf(layer)
  return Object.entries({ input: inputs, scenario: scenarios, condition: conditions }).flatMap(
    ([name, values]) => {
      if (values.length === 0) return []
      const kind = name as keyof typeof chosen
      const options = optionsOf(values, (value) => value || TEXTS.choosers.byPlace)
      return chooser(TEXTS.choosers[kind], name, options, chosen[kind] ?? '', (value) => {
        chosen = { ...chosen, [kind]: value || null }
        choose(chosen)
      })
    },
  )
}

function nameOf(figure: string, unit: string) {
  return districts.figures[figure] ?? districts.mean(unit)
}

function noteOf(figure: string, unit: string) {
  return districts.figures[figure] ? districts.note(nameOf(figure, unit)) : mapTexts.table.note
}
