import type { Catalog, CatalogRelease, Tileset } from '../api-types.ts'
import { seasonNote } from '../parts/values.ts'
import { element } from '../shell/element.ts'
import { TEXTS } from '../texts/en.ts'
import { nameOfLayer, nameOfSource, numberText } from '../texts/names.ts'

/** The legend of a layer: unit, classes and how they were cut. */
export function legend(layer: Tileset, release: CatalogRelease, catalog: Catalog) {
  const texts = TEXTS.legend
  const rows = layer.classes.map(({ from, to, color }, at) => {
    const swatch = element('span', { className: 'swatch' })
    swatch.style.backgroundColor = color
    const range = element('span', { className: 'unseen' }, texts.range(numberText(from), numberText(to)))
    const ends = [numberText(from), ...(at === layer.classes.length - 1 ? [numberText(to)] : [])]
    const ticks = ends.map((end) => element('span', {}, end))
    return element(
      'li',
      {},
      swatch,
      range,
      element('span', { className: 'ticks', 'aria-hidden': 'true' }, ...ticks),
    )
  })
  const said = [texts[layer.cut], layer.scenario !== null && texts.shared, texts.none].filter(Boolean)
  return element(
    'section',
    { className: 'legend', 'aria-label': texts.title },
    element(
      'h2',
      {},
      nameOfLayer(release.product, layer),
      element('span', { className: 'unit' }, ` ${layer.unit}`),
    ),
    rows.length > 0 ? element('ol', {}, ...rows) : element('p', {}, texts.empty),
    element('p', { className: 'small' }, said.join(' ')),
    seasonNote(catalog, [layer.scenario]),
    element('p', { className: 'small' }, nameOfSource(release)),
  )
}
