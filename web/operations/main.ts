import type { ServiceStats, SlowCallsAnswer, Stats } from '#schemas/stats.ts'
import { entrance } from '../account/enter.ts'
import type { Catalog, CatalogRelease } from '../api-types.ts'
import { column, loaded, section, timeText } from '../parts/blocks.ts'
import { filterForm, periodFields } from '../parts/form.ts'
import type { Session } from '../parts/session.ts'
import { type Page, startPage } from '../parts/start.ts'
import { numberColumns, tableOf } from '../parts/table.ts'
import { element } from '../shell/element.ts'
import { partsThatAreOn } from '../shell/extensions.ts'
import { operations, slowCalls, TEXTS } from '../texts/en.ts'
import { wholeText } from '../texts/names.ts'
import type { OperationsPart } from './part.ts'
import { loadsSection, releasesSection, seriesCells } from './releases.ts'

type AllStats = Stats & { service: ServiceStats }
type Traffic = Pick<ServiceStats, 'requests' | 'errors' | 'latency'>

const PARTS = import.meta.glob<OperationsPart>('../extensions/*/operations.ts', {
  eager: true,
  import: 'part',
})

/** The page of admins: published releases, all releases, incomplete loads, the use of the service, and slow calls. */
async function open(page: Page) {
  const { session, view, remember, note, left } = page
  const user = await session.resume()
  if (!user) return entrance(session, operations.login)
  if (user.role !== 'admin') return element('p', {}, operations.adminsOnly)
  const catalog = await session.get<Catalog>('catalog')
  const [from, to] = ['from', 'to'].map((name) => view.get(name) ?? undefined)
  // A part of the page leaves the others' state in the address.
  const said = () => Object.fromEntries(new URLSearchParams(location.hash.slice(1)))
  const noteBeside: Page['note'] = (wanted) => note({ ...said(), ...wanted })
  const parts = partsThatAreOn(PARTS).map((part) => part({ ...page, note: noteBeside }, catalog))
  return column(
    section(operations.published, publishedTable(catalog.releases)),
    releasesSection(session, left, (release) => parts.flatMap(({ actionsOf }) => actionsOf?.(release) ?? [])),
    loadsSection(session, left),
    ...parts.map(({ place }) => place),
    section(
      operations.usage,
      filterForm(TEXTS.apply, periodFields(from, to), (chosen) => remember({ ...said(), ...chosen })),
      loaded(async () => usage(await session.get<AllStats>('stats', { from, to, scope: 'all' }))),
    ),
    slowCallsSection(session, left),
  )
}

function publishedTable(releases: CatalogRelease[]) {
  return tableOf({
    caption: operations.publishedCaption,
    columns: Object.values(operations.releaseColumns).map((title) => ({ title })),
    rows: releases.map((one) => ({
      cells: [one.release, ...seriesCells(one), one.valid_until, one.source],
      mark: one.stale ? 'wrong' : '',
    })),
  })
}

function usage({ from, to, advisories, service }: AllStats) {
  const { users, requests, errors, by_error, by_operation, by_day } = service
  const daysWithRequests = by_day.filter((day) => day.requests > 0).reverse()
  const counts = { advisories: advisories.total, requests, errors }
  return element(
    'div',
    {},
    element('p', {}, operations.summary({ from, to }, counts, users)),
    tableOf({
      caption: operations.byOperation,
      columns: trafficColumns(operations.operation),
      rows: by_operation.map((one) => ({ cells: [one.operation, ...trafficCells(one)] })),
      numberText: wholeText,
    }),
    element('p', { class: 'hint' }, operations.slowNote),
    tableOf({
      caption: operations.byError,
      columns: [{ title: operations.code }, ...numberColumns(operations.status, operations.requests)],
      rows: by_error.map(({ code, status, requests: count }) => ({ cells: [code, status, count] })),
      numberText: wholeText,
    }),
    tableOf({
      caption: operations.byDay,
      columns: trafficColumns(operations.day),
      rows: daysWithRequests.map((one) => ({ cells: [one.day, ...trafficCells(one)] })),
      numberText: wholeText,
    }),
  )
}

function trafficColumns(first: string) {
  const { requests, errors, latencies } = operations
  return [{ title: first }, ...numberColumns(requests, errors, ...latencies)]
}

function trafficCells({ requests, errors, latency: { p50, p95, p99, max } }: Traffic) {
  return [requests, errors, p50, p95, p99, max]
}

/** The slowest calls lately, one by one. */
function slowCallsSection(session: Session, left: AbortSignal) {
  return section(
    slowCalls.title,
    loaded(async () => {
      const { since, items } = await session.get<SlowCallsAnswer>('stats/calls', {}, { signal: left })
      return element('div', {}, element('p', {}, slowCalls.why(timeText(since))), tableOfCalls(items))
    }),
  )
}

function tableOfCalls(items: SlowCallsAnswer['items']) {
  const numbers = [slowCalls.columns.milliseconds, slowCalls.columns.status]
  return tableOf({
    caption: slowCalls.caption,
    columns: Object.values(slowCalls.columns).map((title) => ({ title, number: numbers.includes(title) })),
    rows: items.map(({ milliseconds, operation, status, code, ended_at, request_id }) => ({
      cells: [milliseconds, operation, status, code, ended_at, request_id],
      shown: () => [
        ...[undefined, undefined, String(status), undefined],
        ...[timeText(ended_at), element('code', {}, request_id)],
      ],
      mark: status >= 500 ? 'wrong' : '',
    })),
    rowsAPage: 25,
    numberText: wholeText,
  })
}

startPage(null, operations.title, open)
