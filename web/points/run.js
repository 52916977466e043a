import { save } from '../parts/save.js'
import { tableOf } from '../parts/table.js'
import { valueColumns, valuesOf } from '../parts/values.js'
import { element, labelled, select } from '../shell/element.js'
import { TEXTS } from '../texts/en.js'
import { numberText } from '../texts/names.js'
import { adviseAll } from './batches.js'
import { classesOf, colorOf } from './colors.js'
import { csvText } from './csv.js'
import { pointOf } from './read.js'

/** @typedef {import('../parts/series.js').Series} Series */
/** @typedef {import('./batches.js').Answer} Answer */
/** @typedef {{ point: import('./batches.js').Point, answer: Answer, values: Map<string, number>, record: string[] }} Done */

const { points } = TEXTS

/**
 * Asks for the advice for all rows of a file, and shows how far it is and what has come of it.
 *
 * @param {object} surroundings
 * @param {import('../account/session.js').Session} surroundings.session
 * @param {import('../api-types').Catalog} surroundings.catalog
 * @param {import('../parts/features-map.js').FeaturesMap | null} surroundings.map
 * @param {HTMLElement} surroundings.mapCard
 * @param {AbortSignal} surroundings.left
 */
export function createRun({ session, catalog, map, mapCard, left }) {
  const progress = element('div')
  const result = element('div')
  let running = new AbortController()
  left.addEventListener('abort', () => running.abort())

  /** @param {import('./read.js').Table} table @param {import('./csv.js').Columns} columns @param {Series} series */
  async function start(table, columns, series) {
    running.abort()
    running = new AbortController()
    const { signal } = running
    const product = catalog.products.find((one) => one.product === series.product)
    if (!product) return
    const all = table.rows.map((record, index) => pointOf(record, columns, index + 1))
    const query = new URLSearchParams({ country_code: series.country ?? '' })
    if (product.needs_crop && series.crop) query.set('crop', series.crop)
    if (series.month) query.set('forecast_period', series.month)
    const send = (/** @type {string} */ lines, /** @type {RequestInit} */ init) =>
      session.send(`advisory/${product.product}/points?${query}`, lines, init)
    const bar = progressBar(all.length, () => running.abort())
    progress.replaceChildren(bar.place)
    result.replaceChildren()
    mapCard.hidden = true
    /** @type {Done[]} */
    const done = []
    try {
      for await (const answers of adviseAll({ points: all, send, signal })) {
        for (const answer of answers) {
          const at = done.length
          const record = table.rows[at] ?? []
          const point = all[at]
          if (point) done.push({ point, answer, record, values: valuesOf(answer, product) })
        }
        bar.set(done.length)
      }
      bar.end(summaryOf(done))
    } catch (error) {
      if (left.aborted) return
      bar.end(
        signal.aborted
          ? points.stopped(done.length)
          : points.failed(done.length, /** @type {Error} */ (error).message),
      )
    }
    if (done.length > 0) show(table.header, done, product)
  }

  /** @param {string[]} header @param {Done[]} done @param {import('../api-types').CatalogProduct} product */
  function show(header, done, product) {
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
    const table = tableOf({
      caption: points.caption(product.unit),
      columns: [
        { title: points.columns.id },
        { title: points.columns.name },
        { title: points.columns.lat, number: true },
        { title: points.columns.lng, number: true },
        ...names.map((title) => ({ title: title || product.unit, number: true })),
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
      numberText,
      rowsAPage: 25,
    })
    const download = element('button', { type: 'button', class: 'primary' }, points.download)
    download.addEventListener('click', () =>
      save(csvText(fileRows(header, done, names, product)), 'advice.csv'),
    )
    mapCard.hidden = map === null
    if (map) mapCard.replaceChildren(names.length > 1 ? labelled(points.shown, chooser) : '', map.place)
    draw()
    result.replaceChildren(
      element('section', { class: 'card' }, element('div', { class: 'actions' }, download), table),
    )
  }

  return { progress, result, start }
}

/** @param {number} most @param {() => void} stop */
function progressBar(most, stop) {
  const bar = element('progress', { max: most, value: 0, 'aria-label': points.progress })
  const said = element('span', { role: 'status' }, points.done(0, most))
  const button = element('button', { type: 'button', class: 'quiet', onclick: stop }, points.stop)
  return {
    place: element('div', { class: 'actions' }, bar, said, button),
    /** @param {number} done */
    set(done) {
      bar.value = done
      said.textContent = points.done(done, most)
    },
    /** @param {string} text */
    end(text) {
      button.remove()
      said.textContent = text
    },
  }
}

/** @param {Done[]} done */
function summaryOf(done) {
  const wrong = done.filter(({ answer }) => answer.error !== undefined).length
  const releases = new Set(done.map(({ answer }) => answer.release).filter(Boolean))
  const text = points.finished(done.length - wrong, wrong)
  // Something new was published between two calls.
  return releases.size > 1 ? `${text} ${points.releases([...releases].join(', '))}` : text
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
      properties: { color: value === undefined ? '#888888' : colorOf(classes, value) },
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
