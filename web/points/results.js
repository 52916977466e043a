import { short } from '../geo/places.js'
import { syntheticNotice } from '../parts/notice.js'
import { valueFormat } from '../parts/numbers.js'
import { save } from '../parts/save.js'
import { seasonNote } from '../parts/seasons.js'
import { tableOf } from '../parts/table.js'
import { valueColumns } from '../parts/values.js'
import { element, labelled, select } from '../shell/element.js'
import { TEXTS } from '../texts/en.js'
import { classesOf, colorOf, NO_VALUE } from './colors.js'
import { csvText } from './csv.js'

/** @typedef {import('./batches.js').Point} Point */
/** @typedef {import('./batches.js').Answer} Answer */
/** @typedef {{ point: Point, answer: Answer, values: Map<string, number>, record: string[] }} Done a row that is answered */

const { points } = TEXTS

/**
 * What has come of a file: a table, a map, and the file with the values behind.
 *
 * @param {object} work
 * @param {string[]} work.header
 * @param {Done[]} work.done
 * @param {import('../api-types').CatalogProduct} work.product
 * @param {import('../api-types').Catalog} work.catalog
 * @param {import('../parts/features-map.js').FeaturesMap | null} map
 * @param {HTMLElement} mapCard
 */
export function resultsOf({ header, done, product, catalog }, map, mapCard) {
  const names = valueColumns(done.map(({ values }) => values))
  let shown = names[0] ?? ''
  const draw = () => void map?.show(featuresOf(done, shown))
  const chooser = select(
    names.map((value) => ({ value, text: value })),
    shown,
    (value) => {
      shown = value
      draw()
    },
  )
  const text = valueFormat(done.flatMap(({ values }) => [...values.values()]))
  const degrees = (/** @type {number} */ value) => String(short(value))
  const table = tableOf({
    caption: points.caption(product.unit),
    columns: [
      { title: points.columns.id },
      { title: points.columns.name },
      { title: points.columns.lat, number: true, text: degrees },
      { title: points.columns.lng, number: true, text: degrees },
      ...names.map((title) => ({ title: title || product.unit, number: true, text })),
      { title: points.reason },
    ],
    rows: done.map(({ point, answer, values }) => ({
      cells: [
        point.id,
        point.name,
        point.lat,
        point.lng,
        ...names.map((name) => values.get(name)),
        answer.error,
      ],
      mark: answer.error === undefined ? '' : 'wrong',
    })),
    rowsAPage: 25,
  })
  const download = element('button', { type: 'button', class: 'primary' }, points.download)
  download.addEventListener('click', () =>
    save(csvText(fileRows(header, done, names, product)), 'advice.csv'),
  )
  mapCard.hidden = map === null
  if (map) mapCard.replaceChildren(names.length > 1 ? labelled(points.shown, chooser) : '', map.place)
  draw()
  return element(
    'section',
    { class: 'card' },
    syntheticNotice(done.some(({ answer }) => answer.synthetic === true)),
    element('div', { class: 'actions' }, download),
    seasonNote(
      catalog,
      names.flatMap((name) => name.split(', ')),
    ),
    table,
  )
}

/** @param {Done[]} done @param {string} shown */
function featuresOf(done, shown) {
  const classes = classesOf(done.flatMap(({ values }) => values.get(shown) ?? []))
  return done.flatMap(({ point, answer, values }) => {
    const value = values.get(shown)
    const { lat, lng } = answer.location ?? point
    if (typeof lat !== 'number' || typeof lng !== 'number') return []
    return {
      type: /** @type {const} */ ('Feature'),
      geometry: { type: 'Point', coordinates: [lng, lat] },
      properties: { color: value === undefined ? NO_VALUE : colorOf(classes, value) },
    }
  })
}

/**
 * The file as it was, with the values behind.
 *
 * @param {string[]} header
 * @param {Done[]} done
 * @param {string[]} names
 * @param {import('../api-types').CatalogProduct} product
 */
function fileRows(header, done, names, { value }) {
  const added = [
    ...names.map((name) => `${value.key} ${name}`.trim()),
    'release',
    'synthetic',
    'error',
    'code',
  ]
  const rows = done.map(({ record, answer, values }) => [
    ...header.map((_, place) => record[place]),
    ...names.map((name) => values.get(name)),
    answer.release,
    answer.synthetic,
    answer.error,
    answer.code,
  ])
  return [[...header, ...added], ...rows]
}
