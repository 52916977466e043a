import { featuresMap } from '../map/features-map.ts'
import { type Columns, columnsOf, NoTable, pointOf, readTable, type Table } from '../parts/csv.ts'
import { seriesChoosers, seriesIn } from '../parts/series.ts'
import { type Page, startPage } from '../parts/start.ts'
import { textZone } from '../parts/text-file.ts'
import { loadCatalog } from '../shell/api.ts'
import { chooser, element, optionsOf, replaceControls } from '../shell/element.ts'
import { points } from '../texts/en.ts'
import { createElsewhere } from './elsewhere.ts'
import { createRun } from './run.ts'

const FILES = {
  label: points.drop,
  accept: '.csv,.tsv,.txt',
  largest: 30_000_000,
  tooLarge: points.tooLarge,
}
const KINDS = ['lat', 'lng', 'name', 'id'] as const

/** A file of points, and the advice for all of them. */
async function open({ session, view, note, left }: Page) {
  const catalog = await loadCatalog(left)
  await session.resume().catch(() => null)
  const map = featuresMap(catalog, { label: points.map, left })
  const mapCard = element('section', { class: 'card map-card', hidden: true }, map?.place)
  let table: Table | undefined
  let columns: Columns = { lat: -1, lng: -1, id: -1, name: -1 }
  let series = seriesIn(view)
  const choosers = element('div')
  const found = element('div')
  const elsewhere = createElsewhere(catalog, choose, () => {
    columns = { ...columns, lat: columns.lng, lng: columns.lat }
    if (table) showColumns(table)
  })
  const run = createRun({ session, catalog, map, mapCard, left })

  function choose(chosen: typeof series) {
    const offered = seriesChoosers(catalog, chosen, choose)
    replaceControls(choosers, offered.place)
    series = offered.chosen
    note(series)
    elsewhere.offer(series)
  }

  async function take(text: string, name: string) {
    try {
      table = await readTable(text)
    } catch (error) {
      throw error instanceof NoTable ? new Error(points.wrong[error.reason](error.line ?? 0)) : error
    }
    columns = columnsOf(table.header)
    showColumns(table)
    return points.taken(name, table.rows.length)
  }

  function showColumns(read: Table) {
    const choosing = columnChoosers(read.header, columns, (chosen) => {
      columns = chosen
      showColumns(read)
    })
    const ready = columns.lat !== -1 && columns.lng !== -1
    const start = element('button', { type: 'button', class: 'primary' }, points.ask(read.rows.length))
    start.addEventListener('click', () => run.start(read, columns, series))
    void elsewhere.locate(read.rows.map((record, index) => pointOf(record, columns, index + 1)))
    replaceControls(
      found,
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
    element('section', { class: 'card' }, choosers, textZone({ ...FILES, take }), found, run.progress),
    mapCard,
    run.result,
  )
}

function columnChoosers(header: string[], columns: Columns, choose: (columns: Columns) => void) {
  const places = ['-1', ...Object.keys(header)]
  const options = optionsOf(places, (place) => header[Number(place)] ?? points.noColumn)
  const controls = KINDS.map((kind) =>
    chooser(points.columns[kind], kind, options, String(columns[kind]), (place) =>
      choose({ ...columns, [kind]: Number(place) }),
    ),
  )
  return element('div', { class: 'choosers' }, ...controls)
}

startPage('points', points.title, open)
