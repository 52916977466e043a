import type { Catalog, CatalogProduct } from '../api-types.ts'
import { areaSource, createAreas } from '../geo/areas.ts'
import { featuresMap } from '../map/features-map.ts'
import { column, loaded, syntheticNotice } from '../parts/blocks.ts'
import { createLayers } from '../parts/choices.ts'
import { seriesChoosers, seriesIn } from '../parts/series.ts'
import { type Page, startPage } from '../parts/start.ts'
import { loadCatalog } from '../shell/api.ts'
import { chooser, element } from '../shell/element.ts'
import { districts, mapTexts } from '../texts/en.ts'
import { nameOfLevel } from '../texts/names.ts'
import { districtsShown, labelsIn } from './shown.ts'

/** All areas of a level of a country, each with the advice for the whole of it: a map and a table. */
async function open({ view, remember, note, left }: Page) {
  const catalog = await loadCatalog(left)
  const series = seriesIn(view)
  const {
    release,
    chosen: said,
    place,
  } = seriesChoosers(catalog, series, (chosen) =>
    remember({ ...chosen, level: view.get('level'), scenario: view.get('scenario') }),
  )
  if (!release) return place
  const levels = levelsOf(catalog, release.country_code)
  const level = (levels.find(({ value }) => value === view.get('level')) ?? levels[0])?.value
  if (level === undefined)
    return column(place, element('p', {}, areaSource() ? districts.noAreas : mapTexts.table.notListed))
  let shown: Record<string, string | null> = {
    ...{ level, ...labelsIn(view), area: view.get('area') },
  }

  function keep(changes: Record<string, string | null>) {
    shown = { ...shown, ...changes }
    note({ ...said, ...shown })
  }

  place.append(
    chooser(districts.levelOf, 'level', levels, level, (other) =>
      remember({ ...said, ...shown, level: other, area: null }),
    ),
  )
  keep({})
  const map = featuresMap(catalog, { label: districts.map, left })
  const product = catalog.products.find((one) => one.product === release.product)
  const wanted = {
    catalog,
    product: product as CatalogProduct,
    release,
    level: Number(level),
    tilesets: await createLayers()(release.release, 'quantiles'),
    areasOf: createAreas(catalog),
    left,
  }
  const parts = districtsShown(wanted, shown, map, keep)
  place.append(...parts.choosers)
  return column(
    element('p', {}, districts.why),
    syntheticNotice(release.synthetic),
    element('section', { class: 'card' }, place),
    map && element('section', { class: 'card map-card' }, map.place, parts.legend),
    element('section', { class: 'card' }, loaded(parts.load)),
  )
}

/** The levels of which areas are loaded. */
function levelsOf({ boundaries }: Catalog, country: string) {
  return boundaries
    .filter((one) => areaSource() && one.country_code === country && one.level > 0)
    .map(({ level, areas }) => ({
      value: String(level),
      text: districts.level(nameOfLevel(country, level), areas),
    }))
}

startPage('districts', districts.title, open)
