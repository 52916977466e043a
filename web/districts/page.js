import { loginFirst } from '../account/enter.js'
import { createAreas } from '../geo/areas.js'
import { loaded, workButton } from '../parts/blocks.js'
import { featuresMap } from '../parts/features-map.js'
import { save } from '../parts/save.js'
import { seriesChoosers, seriesIn } from '../parts/series.js'
import { element, labelled, select } from '../shell/element.js'
import { TEXTS } from '../texts/en.js'
import { countedAreas } from './progress.js'
import { districtTable } from './table.js'

/** @typedef {import('../parts/page.js').Page} Page */

const { districts } = TEXTS

/**
 * All areas of a level of a country, each with the advice for the whole of it.
 *
 * @param {Page} page
 */
export async function open({ session, view, remember, note, left }) {
  const catalog = await session.get('catalog')
  const series = seriesIn(view)
  const { release, place } = seriesChoosers(catalog, series, (chosen) =>
    remember({ ...chosen, level: view.get('level') }),
  )
  if (!release) return place
  const levels = levelsOf(catalog, release.country_code)
  const chosen = levels.find(({ value }) => value === view.get('level')) ?? levels[0]
  if (!chosen) return element('div', { class: 'column' }, place, element('p', {}, districts.noAreas))
  const level = chosen.value
  const said = {
    product: release.product,
    country: release.country_code,
    crop: release.crop,
    month: release.forecast_period,
  }
  const chooser = select(levels, level, (other) => remember({ ...said, level: other }))
  chooser.name = 'level'
  place.append(labelled(districts.levelOf, chooser))
  note({ ...said, level, area: view.get('area') })

  const map = featuresMap(catalog, { label: districts.map, left })
  const request = {
    admin: { country_code: release.country_code, level: Number(level) },
    ...(release.crop && { crop: release.crop }),
    ...(release.forecast_period && { forecast_period: release.forecast_period }),
  }
  const path = `advisory/${release.product}/polygons`
  const wanted = {
    catalog,
    release,
    level: Number(level),
    area: view.get('area'),
    map,
    areasOf: createAreas(catalog),
  }

  async function content() {
    if (!(await session.resume())) return loginButton()
    return districtTable(await counted.load(), wanted)
  }

  function loginButton() {
    const enter = workButton(districts.show, async () => {
      if (await loginFirst(session, districts.login)) await table.reload()
    })
    return element('div', {}, element('p', {}, districts.needsLogin), enter)
  }

  const counted = countedAreas(session, { path, request, areas: chosen.areas, left })
  const table = loaded(content)
  const download = workButton(districts.download, async () => {
    if (!(await loginFirst(session, districts.login))) return
    const text = await session.send(path, request, { headers: { accept: 'text/csv' } })
    save(text, `${release.product}-${release.country_code}-${level}.csv`)
  })
  return element(
    'div',
    { class: 'column', 'data-goes-on': '' },
    element('p', {}, districts.why),
    element('section', { class: 'card' }, place, element('div', { class: 'actions' }, download)),
    map && element('section', { class: 'card map-card' }, map.place),
    element('section', { class: 'card' }, counted.place, table),
  )
}

/**
 * The levels of which areas are loaded.
 *
 * @param {import('../api-types').Catalog} catalog
 * @param {string} country
 */
function levelsOf({ boundaries }, country) {
  return boundaries
    .filter((one) => one.country_code === country && one.level > 0)
    .map(({ level, areas }) => ({ value: String(level), text: districts.level(level, areas), areas }))
}
