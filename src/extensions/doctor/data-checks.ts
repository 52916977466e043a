import { LEVELS_BELOW } from '#schemas/areas.ts'
import { isStale } from '#schemas/products/define.ts'
import { listCountryEntries } from '#src/catalog/reference-queries.ts'
import { listReleases } from '#src/catalog/release-queries.ts'
import { listSchedules } from '#src/catalog/schedule-queries.ts'
import {
  answer,
  type CheckedDatabase,
  type CheckResult,
  type Checks,
  error,
  note,
  ok,
  warning,
} from '#src/cli/findings.ts'
import { sizeText, someNames, spanText, timeText } from '#src/cli/table.ts'
import type { Trx } from '#src/data/tables.ts'
import { listStores } from '#src/data/tiles/stores.ts'
import { readTotalLimit } from '#src/history/recorder.ts'
import { sumHistories } from '#src/history/recording-queries.ts'
import { findRetention } from '#src/history/retention-queries.ts'
import { listUnsummarised } from '#src/ingest/queries.ts'
import { isoMonth } from '#src/lib/dates.ts'
import * as queries from './queries.ts'

const rows = <Row>(query: (trx: Trx) => Promise<Row[]>, none: string, judge: (row: Row) => CheckResult) =>
  answer(query, (found) => (found.length === 0 ? ok(none) : found.map(judge)))

export const DATA_CHECKS: Checks<CheckedDatabase> = {
  'database.clock': answer(queries.findClocks, ({ now, published }, { kind }) => {
    const advice = 'Set the clocks by NTP: months, ids of histories and tokens go by that of this machine.'
    const ahead = (Date.now() - now.getTime()) / 1000
    if (kind === 'server' && Math.abs(ahead) > CLOCK_SECONDS) {
      const side = ahead > 0 ? 'ahead of' : 'behind'
      return warning(
        `The clock of this machine is ${spanText(Math.abs(ahead))} ${side} that of the database.`,
        advice,
      )
    }
    const since = published === null ? 0 : (Date.now() - published.getTime()) / 1000
    if (since >= -CLOCK_SECONDS) return ok('The clock agrees with the database and the last publication.')
    const sentence = `The last publication lies ${spanText(-since)} ahead: the clock was wrong then, or is now.`
    return warning(sentence, advice)
  }),

  'database.coordinate_systems': answer(queries.findCoordinateSystems, ({ present, missing }) => {
    if (present > 0 && missing.length === 0) return ok('The coordinate systems of all rasters are there.')
    const lacking =
      present === 0
        ? 'The table spatial_ref_sys is empty'
        : `The table spatial_ref_sys lacks ${someNames(missing.map(String))}`
    const sentence = `${lacking}: calls on rasters in such systems fail with INTERNAL.`
    return error(sentence, 'Have its owner run spatial_ref_sys.sql, which PostGIS has in its folder.')
  }),

  async 'history.months'({ ask, config: { HISTORY_MONTHS: months } }) {
    if (months === undefined) return ok('Histories stay for ever.')
    const { old } = await ask((trx) => findRetention(trx, months))
    if (!old) return ok(`Histories stay for ${months} months, and nothing in them is older.`)
    return warning(
      `Histories stay for ${months} months, and there are items that are older.`,
      'The service removes them within minutes where it runs with this HISTORY_MONTHS; else see who holds locks, and its log.',
    )
  },

  'history.total': answer(sumHistories, (bytes, { config }) => {
    const limit = readTotalLimit(config)
    if (limit === undefined) return ok(`Histories hold ${sizeText(bytes)}; HISTORY_TOTAL_MB sets no limit.`)
    const sentence = `Histories hold ${sizeText(bytes)} of the ${sizeText(limit)} of HISTORY_TOTAL_MB.`
    if (bytes < NEARLY * limit) return ok(sentence)
    const remedy = 'Raise HISTORY_TOTAL_MB, set HISTORY_MONTHS, or delete unused accounts.'
    return warning(bytes < limit ? sentence : `${sentence} New answers are not stored.`, remedy)
  }),

  'releases.published': answer(listReleases, (releases) => {
    const published = releases.filter(({ publishedAt }) => publishedAt).length
    if (published > 0) return ok(`${published} of ${releases.length} releases are published.`)
    const sentence = 'Nothing is published: every request for advice is answered NO_RELEASE.'
    return warning(sentence, 'Load rasters with `agro ingest`.')
  }),

  'releases.incomplete': rows(
    async (trx) => (await listReleases(trx)).filter(({ status }) => status === 'loading'),
    'No load was cut off.',
    ({ code, createdAt, loader }) => {
      const begun = `${code} is incomplete since ${timeText(createdAt)} UTC`
      if (loader !== null) return note(`${begun}, and is being loaded: process ${loader} of the database.`)
      const advice = 'Ingest it again: the next load clears its rest away.'
      return warning(`${begun}. Its load was interrupted.`, advice)
    },
  ),

  'releases.scheduled': rows(
    async (trx) => {
      const schedules = await listSchedules(trx)
      return (await listReleases(trx)).flatMap(({ id, code }) => {
        const schedule = schedules.get(id)
        return schedule ? [{ code, ...schedule }] : []
      })
    },
    'No release waits for its time.',
    ({ code, publishAt, refusedAt, refusal }) => {
      const wanted = `${code} is to be published at ${timeText(publishAt)} UTC`
      if (refusedAt) {
        const sentence = `${code} was refused when it was to be published, at ${timeText(refusedAt)} UTC: ${refusal}`
        const advice = `Mend it, or \`agro releases publish ${code}\` with --allow; \`agro releases unschedule ${code}\` forgets it.`
        return warning(sentence, advice)
      }
      if (Date.now() - publishAt.getTime() < OVERDUE_MS) return ok(`${wanted}.`)
      return warning(`${wanted}, which has passed: no service has done so.`, 'Start the service.')
    },
  ),

  /** The newest month of a series answers requests without a month. */
  'releases.seasons': answer(listReleases, (releases) => {
    const newest = new Map<string, { month: string; stale: boolean }>()
    for (const release of releases.filter(({ publishedAt }) => publishedAt)) {
      const series = [release.product, release.countryCode, release.cropCode].join(' ')
      const month = release.forecastPeriod?.slice(0, 7) ?? ''
      if (month >= (newest.get(series)?.month ?? ''))
        newest.set(series, { month, stale: isStale(release, Date.now()) })
    }
    if (newest.size === 0) return []
    const listWhere = (isMeant: (series: { month: string; stale: boolean }) => boolean) =>
      [...newest]
        .filter(([, series]) => isMeant(series))
        .map(([name, { month }]) => (month === '' ? name : `${name} (${month})`))
    const advice = 'Load the newest with `agro ingest`.'
    const old = listWhere(({ stale }) => stale)
    if (old.length > 0)
      return warning(`Requests without a month get a stale release: ${someNames(old)}.`, advice)
    const present = isoMonth(new Date().toISOString())
    const over = listWhere(({ month }) => month !== '' && month < present)
    if (over.length > 0)
      return note(`The month of the newest release is over for ${someNames(over)}.`, advice)
    return ok('The newest release of each series is for this month or a later one.')
  }),

  'releases.tiles': answer(queries.listLackingTiles, (lacking) => {
    if (lacking.length === 0) return ok('The tiles of all rasters in the database are there.')
    const names = lacking.map(({ code, found, needed }) => `${code} has ${found} of at least ${needed}`)
    const sentence = `Tiles are gone, and places there are answered NO_DATA: ${someNames(names)}.`
    return error(sentence, 'Restore raster_tile from a backup, or load the releases again.')
  }),

  'releases.summaries': answer(listUnsummarised, ({ length }) => {
    if (length === 0) return ok('All rasters have their summaries.')
    const sentence = `${length} rasters have no summaries of this version: polygons on them take longer.`
    return warning(sentence, 'Run `agro migrate`, or start the service anew.')
  }),

  'releases.stores': answer(queries.countReleasesByStore, (counts, { config }) => {
    const stores = listStores(config).map(([name]) => name)
    return counts
      .filter(({ store }) => !stores.includes(store))
      .map(({ store, releases }) => {
        const sentence = `${releases} releases are answered 503: their tiles are in the store ${store}, whose extension is off or deleted.`
        return error(sentence, 'Switch it on again by EXTENSIONS, or load these releases again.')
      })
  }),

  'areas.boundaries': answer(listCountryEntries, (countries) => {
    const advice = 'Load them with `agro boundaries`.'
    const findings = [0, ...LEVELS_BELOW].flatMap((level) => {
      const lacking = countries.filter(({ levels }) => !levels.includes(level))
      const names = lacking.map(({ name }) => name).join(', ')
      if (names === '') return []
      if (level > 0) return note(`These countries have no areas of level ${level}: ${names}.`, advice)
      const outside = 'These countries have no outline, so that nothing lies outside of them'
      return warning(`${outside}: ${names}.`, advice)
    })
    return findings.length > 0
      ? findings
      : ok(`All ${countries.length} countries have boundaries of all levels.`)
  }),
}

/** Machines with NTP differ by milliseconds. */
const CLOCK_SECONDS = 30

const NEARLY = 0.9

/** Services look every minute; a restarted one publishes late. */
const OVERDUE_MS = 120_000
