import type { Catalog, CatalogProduct, CatalogRelease, Tileset } from '../api-types.ts'
import type { AreasOf } from '../geo/areas.ts'
import type { FeaturesMap } from '../map/features-map.ts'
import { type Class, classesOf, colorIn, legendOf } from '../map/legend.ts'
import { type Layers, layerOf } from '../parts/choices.ts'
import { element, labelled, select } from '../shell/element.ts'
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
    const rows = rowsOf(
      found.areas,
      found.figures,
      product.value.key,
      layer.input,
      [layer.scenario],
      layer.condition,
    )
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
  return [value.key, 'min', 'max', 'stddev', 'covered_percent', 'total_kg', 'total_tons']
    .filter((figure) => names.some((name) => name === figure || name.startsWith(`${figure} `)))
    .map((figure) => element('option', { value: figure }, nameOf(figure, unit)))
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
      const options = values.map((value) => ({ value, text: value || TEXTS.choosers.byPlace }))
      const control = select(options, chosen[kind] ?? '', (value) => {
        chosen = { ...chosen, [kind]: value || null }
        choose(chosen)
      })
      control.name = name
      return [labelled(TEXTS.choosers[kind], control)]
    },
  )
}

function nameOf(figure: string, unit: string) {
  return districts.figures[figure] ?? districts.mean(unit)
}

function noteOf(figure: string, unit: string) {
  return districts.figures[figure] ? districts.note(nameOf(figure, unit)) : mapTexts.table.note
}
