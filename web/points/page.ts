import { dropZone } from '../parts/drop-zone.ts'
import { featuresMap } from '../parts/features-map.ts'
import { seriesChoosers, seriesIn } from '../parts/series.ts'
import { element, labelled, select } from '../shell/element.ts'
import { TEXTS } from '../texts/en.ts'
import { columnsOf, NoTable } from './csv.ts'
import { createElsewhere } from './elsewhere.ts'
import { pointOf, readTable } from './read.ts'
import { createRun } from './run.ts'

/** @typedef {import('./csv.ts').Columns} Columns */

const { points } = TEXTS
const LARGEST_FILE = 30_000_000
const KINDS = /** @type {const} */ (['lat', 'lng', 'name', 'id'])

/**
 * A file of points, and the advice for all of them.
 *
 * @param {import('../parts/page.ts').Page} page
 */
export async function open({ session, view, note, left }) {
  /** @type {import('../api-types.ts').Catalog} */
  const catalog = await session.get('catalog')
  await session.resume().catch(() => null)
  const map = featuresMap(catalog, { label: points.map, left })
  const mapCard = element('section', { class: 'card map-card', hidden: true }, map?.place)
  let table: import('./read.ts').Table | undefined
  /** @type {Columns} */
  let columns = { lat: -1, lng: -1, id: -1, name: -1 }
  let series = seriesIn(view)
  const choosers = element('div')
  const found = element('div')
  const elsewhere = createElsewhere(catalog, choose)
  const run = createRun({ session, catalog, map, mapCard, left })

  /** @param {typeof series} chosen */
  function choose(chosen) {
    const { release, place } = seriesChoosers(catalog, chosen, choose)
    choosers.replaceChildren(place)
    series = {
      product: release?.product ?? null,
      country: release?.country_code ?? null,
      crop: release?.crop ?? null,
      month: release?.forecast_period ?? null,
    }
    note(series)
    elsewhere.offer(series)
  }

  /** @param {File} file */
  async function take(file) {
    if (file.size > LARGEST_FILE) throw new Error(points.tooLarge)
    try {
      table = await readTable(await file.text())
    } catch (error) {
      throw error instanceof NoTable ? new Error(points.wrong[error.reason](error.line ?? 0)) : error
    }
    columns = columnsOf(table.header)
    showColumns(table)
    return points.taken(file.name, table.rows.length)
  }

  /** @param {import('./read.ts').Table} read */
  function showColumns(read) {
    const choosing = columnChoosers(read.header, columns, (chosen) => {
      columns = chosen
      showColumns(read)
    })
    const ready = columns.lat !== -1 && columns.lng !== -1
    const start = element('button', { type: 'button', class: 'primary' }, points.ask(read.rows.length))
    start.addEventListener('click', () => run.start(read, columns, series))
    void elsewhere.locate(read.rows.map((record, index) => pointOf(record, columns, index + 1)))
    found.replaceChildren(
      choosing,
      elsewhere.place,
      ready ? start : element('p', { class: 'problem', role: 'alert' }, points.noPlaces),
    )
  }

  choose(series)
  return element(
    'div',
    { class: 'column', 'data-goes-on': '' },
    element('p', {}, points.why),
    element(
      'section',
      { class: 'card' },
      choosers,
      dropZone(points.drop, '.csv,.tsv,.txt', take),
      found,
      run.progress,
    ),
    mapCard,
    run.result,
  )
}

/**
 * @param {string[]} header
 * @param {Columns} columns
 * @param {(columns: Columns) => void} choose
 */
function columnChoosers(header, columns, choose) {
  const options = [
    { value: '-1', text: points.noColumn },
    ...header.map((text, place) => ({ value: String(place), text })),
  ]
  const controls = KINDS.map((kind) => {
    const control = select(options, String(columns[kind]), (place) =>
      choose({ ...columns, [kind]: Number(place) }),
    )
    control.name = kind
    return labelled(points.columns[kind], control)
  })
  return element('div', { class: 'choosers' }, ...controls)
}
