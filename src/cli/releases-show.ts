import { Command } from 'commander'
import { isStale, lastDayOf, type Validity } from '#schemas/products/define.ts'
import {
  type LayerSummary,
  listLayers,
  type ReleaseRow,
  requireRelease,
} from '#src/catalog/release-queries.ts'
import { findSchedule, type Schedule } from '#src/catalog/schedule-queries.ts'
import type { AuditKind } from '#src/data/audit-kinds.ts'
import { listReleaseRecords, type ReleaseDetail, type ReleaseRecord } from '#src/data/audit-queries.ts'
import type { TileStoreName } from '#src/data/tables.ts'
import { findTileStore } from '#src/ingest/move-queries.ts'
import { shortNumber } from '#src/lib/round.ts'
import { lookInDatabase } from './database.ts'
import { listReleaseSizes } from './doctor/queries.ts'
import { printable, sizeText, table, timeText } from './table.ts'
import { JSON_OPTION, type Output, print, withExamples } from './terminal.ts'

type ReleaseFacts = Pick<ReleaseRow, 'publishedAt' | 'status' | 'loader'>

/** What a release is called that is published or not, is being loaded, or of which the load was cut off. */
export function stateOf({ publishedAt, status, loader }: ReleaseFacts): string {
  if (publishedAt) return 'published'
  if (status === 'ready') return 'not published'
  return loader === null ? 'incomplete' : 'loading'
}

/** The state of a release for people: whether its season is over, and when it is to be published. */
export function stateText(release: ReleaseFacts & Validity & { schedule: Schedule | null }): string {
  const { schedule } = release
  const parts = [stateOf(release)]
  if (isStale(release, Date.now())) parts.push('stale')
  if (schedule?.refusedAt) parts.push(`refused ${timeText(schedule.refusedAt)}`)
  else if (schedule) parts.push(`scheduled for ${timeText(schedule.publishAt)}`)
  return parts.join(', ')
}

/** Where the tiles of a release are, for people. */
export function storeText(store: TileStoreName): string {
  return store === 'files' ? 'the files of TILE_STORE' : 'the database'
}

export const showCommand = new Command('show')
  .description(
    'Show a release: where it comes from, its layers, what the checks have found in it, and who published it when.',
  )
  .argument('<release>', 'its code')
  .option(...JSON_OPTION)
  .action((code: string, output: Output) =>
    lookInDatabase(async ({ writer }) => {
      const { id, lockless: _, ...release } = await requireRelease(writer, code)
      const shown = {
        ...release,
        state: stateOf(release),
        stale: isStale(release, Date.now()),
        schedule: (await findSchedule(writer, id)) ?? null,
        bytes: (await listReleaseSizes(writer, id)).get(id) ?? 0,
        store: await findTileStore(writer, id),
        layers: await listLayers(writer, id),
        history: await listReleaseRecords(writer, code),
      }
      print(output, shown, textOf(shown))
    }),
  )
withExamples(showCommand, 'agro releases show yield-eth-wheat-2026-08-v2')

type ShownRelease = Omit<ReleaseRow, 'id' | 'lockless'> & {
  schedule: Schedule | null
  bytes: number
  store: TileStoreName
  layers: LayerSummary[]
  history: ReleaseRecord[]
}

function textOf(release: ShownRelease): string {
  const rows = release.layers.map(({ input, scenario, unit, validCount, width, height, ...values }) => [
    [input, scenario].filter((label) => label !== null).join(', '),
    unit,
    `${((100 * validCount) / (width * height)).toFixed(2)} %`,
    ...[values.minimum, values.maximum, values.mean].map((value) =>
      value === null ? 'none' : shortNumber(value),
    ),
  ])
  return [
    `${release.code}: ${stateText(release)}`,
    `source: ${release.source}`,
    `licence: ${release.licence}`,
    ...(release.lossy ? ['lossy: a compression may have changed its values'] : []),
    `loaded: ${timeText(release.createdAt)} UTC; its rasters take ${sizeText(release.bytes)} in ${storeText(release.store)}`,
    ...(release.publishedAt ? [`published: ${timeText(release.publishedAt)} UTC`] : []),
    ...(release.schedule?.refusal ? [`refused: ${printable(release.schedule.refusal)}`] : []),
    ...seasonText(release),
    table(['LAYER', 'UNIT', 'VALID', 'MINIMUM', 'MAXIMUM', 'MEAN'], rows),
    ...findingsText(release),
    ...historyText(release),
  ].join('\n')
}

function seasonText(release: ShownRelease): string[] {
  const last = lastDayOf(release)
  if (last === null) return []
  return [
    `valid until: ${last}${isStale(release, Date.now()) ? ', which is over: answers say that they are stale' : ''}`,
  ]
}

function findingsText({ findings }: Pick<ReleaseRow, 'findings'>): string[] {
  if (findings === null) return ['It was loaded without checks.']
  if (findings.length === 0) return ['The checks have found nothing.']
  return findings.map(
    ({ check, level, sentence, allowed }) => `${allowed ? 'allowed' : level}: ${sentence} (${check})`,
  )
}

function historyText({ code, history }: ShownRelease): string[] {
  if (history.length === 0) return []
  const rows = history.map(({ at, kind, operator, detail }) => [
    timeText(at),
    deedText(code, kind, detail),
    operator ?? '',
  ])
  return [table(['WHEN (UTC)', 'WHAT', 'BY'], rows)]
}

function deedText(code: string, kind: AuditKind, detail: ReleaseDetail): string {
  switch (kind) {
    case 'release_scheduled':
      return `scheduled for ${timeText(new Date(detail.publish_at as string))}`
    case 'release_unscheduled':
      return 'not scheduled any more'
    case 'release_refused':
      return `refused at its time: ${detail.refusal}`
    case 'release_withdrawn':
      return 'withdrawn'
    case 'release_moved':
      return `its tiles moved into ${storeText(detail.store as TileStoreName)}`
    default:
      return publicationText(code, detail)
  }
}

function publicationText(code: string, detail: ReleaseDetail): string {
  const { release, replaced, rollback, allowed, scheduled_by } = detail
  if (release !== code) return rollback ? `rolled back to ${release}` : `replaced by ${release}`
  return [
    `published${replaced ? ` in the place of ${replaced}` : ''}`,
    ...(rollback ? ['by a rollback'] : []),
    ...(scheduled_by ? [`scheduled by ${scheduled_by}`] : []),
    ...(allowed ? [`allowed: ${allowed.join(', ')}`] : []),
  ].join('; ')
}
