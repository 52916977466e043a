import { short } from '../geo/places.ts'
import { syntheticNotice } from '../parts/notice.ts'
import { valueFormat } from '../parts/numbers.ts'
import { save } from '../parts/save.ts'
import { seasonNote } from '../parts/seasons.ts'
import { tableOf } from '../parts/table.ts'
import { valueColumns } from '../parts/values.ts'
import { element, labelled, select } from '../shell/element.ts'
import { TEXTS } from '../texts/en.ts'
import { classesOf, colorOf, NO_VALUE } from './colors.ts'
import { csvText } from './csv.ts'

/** @typedef {import('./batches.ts').Point} Point */
/** @typedef {import('./batches.ts').Answer} Answer */
/** @typedef {{ point: Point, answer: Answer, values: Map<string, number>, record: string[] }} Done a row that is answered */

const { points } = TEXTS

/**
 * What has come of a file: a table, a map, and the file with the values behind.
 *
 * @param {object} work
 * @param {string[]} work.header
 * @param {Done[]} work.done
 * @param {import('../api-types.ts').CatalogProduct} work.product
 * @param {import('../api-types.ts').Catalog} work.catalog
 * @param {import('../parts/features-map.ts').FeaturesMap | null} map
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
 * @param {import('../api-types.ts').CatalogProduct} product
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
