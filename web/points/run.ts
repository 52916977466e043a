import { valuesOf } from '../parts/values.ts'
import { element } from '../shell/element.ts'
import { TEXTS } from '../texts/en.ts'
import { adviseAll } from './batches.ts'
import { pointOf } from './read.ts'
import { resultsOf } from './results.ts'

/** @typedef {import('../parts/series.ts').Series} Series */
/** @typedef {import('./results.ts').Done} Done */

const { points } = TEXTS

/**
 * Asks for the advice for all rows of a file, and shows how far it is and what has come of it.
 *
 * @param {object} surroundings
 * @param {import('../account/session.ts').Session} surroundings.session
 * @param {import('../api-types.ts').Catalog} surroundings.catalog
 * @param {import('../parts/features-map.ts').FeaturesMap | null} surroundings.map
 * @param {HTMLElement} surroundings.mapCard
 * @param {AbortSignal} surroundings.left
 */
export function createRun({ session, catalog, map, mapCard, left }) {
  const progress = element('div')
  const result = element('div')
  let running = new AbortController()
  left.addEventListener('abort', () => running.abort())

  /** @param {import('./read.ts').Table} table @param {import('./csv.ts').Columns} columns @param {Series} series */
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
      bar.end(
        signal.aborted
          ? points.stopped(done.length)
          : points.failed(done.length, /** @type {Error} */ (error).message),
      )
    }
    // What is shown by now is another run, or another page.
    if (left.aborted || running.signal !== signal) return
    if (done.length > 0)
      result.replaceChildren(resultsOf({ header: table.header, done, product, catalog }, map, mapCard))
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
