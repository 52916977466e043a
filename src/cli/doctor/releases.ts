import { readReference } from '#src/database/reference.ts'
import { listPlausibleRanges } from '#src/domains/ranges/queries.ts'
import { listCropEntries } from '#src/domains/reference/queries.ts'
import { listReleases, type ReleaseRow } from '#src/domains/releases/queries.ts'
import { listSchedules, type Schedule } from '#src/domains/releases/schedule-queries.ts'
import { listUnsummarised } from '#src/ingest/queries.ts'
import { isoMonth } from '#src/lib/month.ts'
import { isStale } from '#src/products/season.ts'
import { timeText } from '../time.ts'
import type { Group, Patient } from './examination.ts'
import { type Finding, note, ok, sizeText, someNames, warning } from './finding.ts'
import { listReleaseSizes } from './table-queries.ts'

/** Services look every minute; one that was down publishes when it is back. */
const OVERDUE_MS = 120_000

export const releases: Group<Patient> = {
  group: 'releases',
  questions: {
    sizes: async ({ ask }) => {
      const [rows, sizes] = await ask(
        async (trx) => [await listReleases(trx), await listReleaseSizes(trx)] as const,
      )
      const published = rows.filter(({ publishedAt }) => publishedAt).length
      const bytes = [...sizes.values()].reduce((sum, size) => sum + size, 0)
      const largest = rows
        .toSorted((a, b) => (sizes.get(b.id) ?? 0) - (sizes.get(a.id) ?? 0))
        .map(({ id, code }) => `${code} ${sizeText(sizes.get(id) ?? 0)}`)
      if (published === 0) {
        return [
          warning(
            'Nothing is published: every request for advice is answered NO_RELEASE.',
            'Load rasters with `agro ingest`.',
          ),
        ]
      }
      return [
        ok(
          `${published} of ${rows.length} releases are published; rasters take ${sizeText(bytes)}: ${someNames(largest)}.`,
        ),
      ]
    },
    incomplete: async ({ ask }) => {
      const loading = (await ask(listReleases)).filter(({ status }) => status === 'loading')
      if (loading.length === 0) return [ok('No load was cut off.')]
      return loading.map(incompleteFinding)
    },
    scheduled: async ({ ask }) => {
      const rows = await ask(async (trx) => {
        const schedules = await listSchedules(trx)
        return (await listReleases(trx)).map(({ id, code }) => ({ code, schedule: schedules.get(id) }))
      })
      const findings = rows.flatMap(({ code, schedule }) => (schedule ? scheduleFinding(code, schedule) : []))
      return findings.length > 0 ? findings : [ok('No release waits for its time.')]
    },
    seasons: async ({ ask }) => seasonFindings(await ask(listReleases), new Date()),
    ranges: async ({ ask }) => {
      const { crops } = await readReference()
      const [known, stated] = await ask(
        async (trx) => [await listCropEntries(trx), await listPlausibleRanges(trx)] as const,
      )
      const lacking = crops
        .filter(({ code }) => known.some((crop) => crop.code === code))
        .flatMap(({ code, plausible }) =>
          Object.entries(plausible).map(([product, range]) => ({ code, product, range })),
        )
        .filter(
          ({ code, product }) =>
            !stated.some((range) => range.product === product && [null, code].includes(range.cropCode)),
        )
      if (lacking.length === 0) return [ok('All plausible ranges are set that a new database begins with.')]
      const names = lacking.map(({ code, product }) => `${product} of ${code}`)
      const commands = lacking.map(
        ({ code, product, range }) => `\`agro ranges set ${product} ${range.join(' ')} --crop ${code}\``,
      )
      return [
        note(
          `This database lacks plausible ranges that a new one begins with: ${names.join(', ')}.`,
          `Set them with ${commands.join(', ')}.`,
        ),
      ]
    },
    summaries: async ({ ask }) => {
      const coverages = await ask(listUnsummarised)
      if (coverages.length === 0) return [ok('All rasters have their summaries.')]
      return [
        warning(
          `${coverages.length} rasters have no summaries of this version: polygons on them take longer.`,
          'Run `agro migrate`, or start the service anew.',
        ),
      ]
    },
  },
}

function incompleteFinding({ code, createdAt, loader, lockless }: ReleaseRow): Finding {
  const begun = `${code} is incomplete since ${timeText(createdAt)} UTC`
  if (loader !== null) return note(`${begun}, and is being loaded: process ${loader} of the database.`)
  if (lockless) {
    return warning(
      `${begun}, by an older version. Its load may still run.`,
      `Where it is not, delete it with \`agro releases delete ${code}\`, and ingest it again.`,
    )
  }
  return warning(
    `${begun}. Its load was interrupted.`,
    'Ingest it again: the next load clears away what is left.',
  )
}

function scheduleFinding(code: string, { publishAt, refusedAt, refusal }: Schedule): Finding {
  const wanted = `${code} is to be published at ${timeText(publishAt)} UTC`
  if (refusedAt) {
    return warning(
      `${code} was refused when it was to be published, at ${timeText(refusedAt)} UTC: ${refusal}`,
      `Mend it, or \`agro releases publish ${code}\` with --allow; \`agro releases unschedule ${code}\` forgets it.`,
    )
  }
  if (Date.now() - publishAt.getTime() < OVERDUE_MS) return ok(`${wanted}.`)
  return warning(`${wanted}, which has passed: no service has done so.`, 'Start the service.')
}

/** Of each series, the newest month is the one that answers whoever names none. */
function seasonFindings(rows: ReleaseRow[], now: Date): Finding[] {
  const newest = new Map<string, { month: string; stale: boolean }>()
  for (const release of rows) {
    const { product, countryCode, cropCode, forecastPeriod, publishedAt } = release
    if (!publishedAt) continue
    const series = [product, countryCode, cropCode].join(' ')
    const month = forecastPeriod?.slice(0, 7) ?? ''
    if (month >= (newest.get(series)?.month ?? '')) {
      newest.set(series, { month, stale: isStale(release, now.getTime()) })
    }
  }
  const names = (series: typeof newest extends Map<infer K, infer V> ? [K, V][] : never) =>
    someNames(series.map(([name, { month }]) => (month === '' ? name : `${name} (${month})`)))
  const advice = 'Load the newest with `agro ingest`.'
  const old = [...newest].filter(([, { stale }]) => stale)
  if (old.length > 0) {
    return [warning(`Requests without a month get a stale release: ${names(old)}.`, advice)]
  }
  const present = isoMonth(now.toISOString())
  const over = [...newest].filter(([, { month }]) => month !== '' && month < present)
  if (over.length > 0) return [note(`The month of the newest release is over for ${names(over)}.`, advice)]
  return newest.size === 0 ? [] : [ok('The newest release of each series is for this month or a later one.')]
}
