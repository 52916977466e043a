import type { Catalog } from '../api-types.ts'
import type { FeaturesMap } from '../map/features-map.ts'
import { progressBar } from '../parts/blocks.ts'
import { type Columns, pointOf, type Table, writingOf } from '../parts/csv.ts'
import type { Series } from '../parts/series.ts'
import type { Session } from '../parts/session.ts'
import { valuesOf } from '../parts/values.ts'
import { whileBusy } from '../shell/api.ts'
import { element } from '../shell/element.ts'
import { points } from '../texts/en.ts'
import { adviseAll } from './batches.ts'
import { type Done, resultsOf } from './results.ts'

interface Surroundings {
  session: Session
  catalog: Catalog
  map: FeaturesMap | null
  mapCard: HTMLElement
  left: AbortSignal
}

/** Asks for the advice for all rows of a file, and shows how far it is and what has come of it. */
export function createRun({ session, catalog, map, mapCard, left }: Surroundings) {
  const progress = element('div')
  const result = element('div')
  let running = new AbortController()
  left.addEventListener('abort', () => running.abort())

  async function start(table: Table, columns: Columns, series: Series) {
    running.abort()
    running = new AbortController()
    const { signal } = running
    const product = catalog.products.find((one) => one.product === series.product)
    if (!product) return
    const all = table.rows.map((record, index) => pointOf(record, columns, index + 1))
    const query = new URLSearchParams({ country_code: series.country ?? '' })
    if (product.needs_crop && series.crop) query.set('crop', series.crop)
    if (series.month) query.set('forecast_period', series.month)
    const send = (lines: string, init: RequestInit) =>
      whileBusy(
        () => session.send<string>(`advisory/${product.product}/points?${query}`, lines, init),
        init.signal,
      )
    const bar = progressBar({
      label: points.progress,
      most: all.length,
      text: (done) => points.done(done, all.length),
      stop: () => running.abort(),
    })
    progress.replaceChildren(bar.place)
    result.replaceChildren()
    mapCard.hidden = true
    const done: Done[] = []
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
        signal.aborted ? points.stopped(done.length) : points.failed(done.length, (error as Error).message),
      )
    }
    // The page shows another run, or another page is open.
    if (left.aborted || running.signal !== signal) return
    if (done.length > 0)
      result.replaceChildren(
        resultsOf(
          { header: table.header, writing: writingOf(table, columns), done, product, catalog },
          map,
          mapCard,
        ),
      )
  }

  return { progress, result, start }
}

function summaryOf(done: Done[]) {
  const wrong = done.filter(({ answer }) => answer.error !== undefined).length
  const releases = new Set(done.map(({ answer }) => answer.release).filter(Boolean))
  const text = points.finished(done.length - wrong, wrong)
  // Something new was published between two calls.
  return releases.size > 1 ? `${text} ${points.releases([...releases].join(', '))}` : text
}
