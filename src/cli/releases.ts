import { InvalidArgumentError, Option } from 'commander'
import { findLastDay, isStale, type Validity } from '#schemas/products/define.ts'
import { layerName } from '#src/advice/comparison/figures.ts'
import type { CheckName, ReleaseIssue } from '#src/catalog/release-checks.ts'
import {
  type LayerSummary,
  listLayers,
  listReleaseSizes,
  listReleases,
  type ReleaseRow,
  requireRelease,
} from '#src/catalog/release-queries.ts'
import * as removals from '#src/catalog/removal-queries.ts'
import * as schedules from '#src/catalog/schedule-queries.ts'
import type { AuditKind } from '#src/data/audit-kinds.ts'
import { listReleaseRecords, type ReleaseDetail, type ReleaseRecord } from '#src/data/audit-queries.ts'
import { inTransaction } from '#src/data/sql.ts'
import type { Trx } from '#src/data/tables.ts'
import { nameStore } from '#src/data/tiles/stores.ts'
import { OperatorError } from '#src/errors.ts'
import { inspectAgain, type Leniency, refusingChecks } from '#src/ingest/checks/index.ts'
import { rollBackChecked } from '#src/ingest/publish.ts'
import { type CommandAnswer, command, group, lookInDatabase, withDatabase, YES_OPTION } from './command.ts'
import {
  allowOption,
  type LimitedPublishing,
  maxChangeOption,
  printIssues,
  publishWithin,
  STRICT_OPTION,
} from './publishing.ts'
import { formatNumber, formatTable, printable, readTime, sizeText, timeText } from './table.ts'
import { type Consent, confirm, type Output, progressIfLong, progressLine, refuse } from './terminal.ts'

type ShownRelease = ReturnType<typeof showRelease>

function showRelease(
  { id: _, store, ...release }: ReleaseRow,
  rest: { schedule: schedules.Schedule | null; bytes: number },
) {
  return { ...release, state: nameState(release), stale: isStale(release, Date.now()), ...rest, store }
}

type ReleaseState = Pick<ReleaseRow, 'publishedAt' | 'status' | 'loader'>

function nameState({ publishedAt, status, loader }: ReleaseState): string {
  if (publishedAt) return 'published'
  if (status === 'ready') return 'not published'
  return loader === null ? 'incomplete' : 'loading'
}

function stateText(release: ReleaseState & Validity & { schedule: schedules.Schedule | null }): string {
  const { schedule } = release
  const parts = [nameState(release)]
  if (isStale(release, Date.now())) parts.push('stale')
  if (schedule?.refusedAt) parts.push(`refused ${timeText(schedule.refusedAt)}`)
  else if (schedule) parts.push(`scheduled for ${timeText(schedule.publishAt)}`)
  return parts.join(', ')
}

const list = command({
  usage: 'list',
  description: 'List all releases and say which are published.',
  examples: ['agro releases list', 'agro releases list --json'],
  async look({ writer }) {
    const sizes = await listReleaseSizes(writer)
    const scheduled = await schedules.listSchedules(writer)
    const releases = (await listReleases(writer)).map((release) =>
      showRelease(release, {
        schedule: scheduled.get(release.id) ?? null,
        bytes: sizes.get(release.id) ?? 0,
      }),
    )
    return [releases, listText(releases)]
  },
})

function listText(releases: ShownRelease[]): string {
  if (releases.length === 0) return 'There are no releases.'
  const rows = releases.map((release) => [
    release.code,
    stateText(release),
    timeText(release.publishedAt ?? release.createdAt),
    sizeText(release.bytes),
    release.store === 'postgis' ? 'database' : release.store,
    release.source,
  ])
  const refusals = releases.flatMap(({ code, schedule }) =>
    schedule?.refusal ? [`${code} was refused: ${printable(schedule.refusal)}`] : [],
  )
  return [formatTable(['RELEASE', 'STATE', 'SINCE (UTC)', 'SIZE', 'IN', 'SOURCE'], rows), ...refusals].join(
    '\n',
  )
}

const show = command({
  usage: 'show <release>',
  description:
    'Show a release: where it comes from, its layers, what the checks have found in it, and who published it when.',
  parameters: ['its code'],
  examples: ['agro releases show yield-eth-wheat-2026-08-v2'],
  async look({ writer }, _: Output, code: string) {
    const release = await requireRelease(writer, code)
    const { id } = release
    const shown = {
      ...showRelease(release, {
        schedule: (await schedules.findSchedule(writer, id)) ?? null,
        bytes: (await listReleaseSizes(writer, id)).get(id) ?? 0,
      }),
      layers: await listLayers(writer, id),
      history: await listReleaseRecords(writer, code),
    }
    return [shown, releaseText(shown)]
  },
})

function releaseText(release: ShownRelease & { layers: LayerSummary[]; history: ReleaseRecord[] }): string {
  const rows = release.layers.map(({ unit, validCount, width, height, ...values }) => [
    layerName(values),
    unit,
    `${((100 * validCount) / (width * height)).toFixed(2)} %`,
    ...[values.minimum, values.maximum, values.mean].map(formatNumber),
  ])
  const last = findLastDay(release)
  const over = release.stale ? ', which is over: answers say that they are stale' : ''
  const history = release.history.map(({ at, kind, operator, detail }) => [
    timeText(at),
    recordText(release.code, kind, detail),
    operator ?? '',
  ])
  return [
    `${release.code}: ${stateText(release)}`,
    `source: ${release.source}`,
    `licence: ${release.licence}`,
    ...(release.lossy ? ['lossy: a compression may have changed its values'] : []),
    `loaded: ${timeText(release.createdAt)} UTC; its rasters take ${sizeText(release.bytes)} in ${nameStore(release.store)}`,
    ...(release.publishedAt ? [`published: ${timeText(release.publishedAt)} UTC`] : []),
    ...(release.schedule?.refusal ? [`refused: ${printable(release.schedule.refusal)}`] : []),
    ...(last === null ? [] : [`valid until: ${last}${over}`]),
    formatTable(['LAYER', 'UNIT', 'VALID', 'MINIMUM', 'MAXIMUM', 'MEAN'], rows),
    ...findingLines(release.findings),
    ...(history.length > 0 ? [formatTable(['WHEN (UTC)', 'WHAT', 'BY'], history)] : []),
  ].join('\n')
}

function findingLines(findings: ReleaseRow['findings']): string[] {
  if (findings === null) return ['It was loaded without checks.']
  if (findings.length === 0) return ['The checks have found nothing.']
  return findings.map(
    ({ check, level, sentence, allowed }) => `${allowed ? 'allowed' : level}: ${sentence} (${check})`,
  )
}

function recordText(code: string, kind: AuditKind, detail: ReleaseDetail): string {
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
      return `its tiles moved into ${nameStore(detail.store as string)}`
  }
  const { release, replaced, rollback, allowed, scheduled_by } = detail
  if (release !== code) return rollback ? `rolled back to ${release}` : `replaced by ${release}`
  return [
    `published${replaced ? ` instead of ${replaced}` : ''}`,
    ...(rollback ? ['by a rollback'] : []),
    ...(scheduled_by ? [`scheduled by ${scheduled_by}`] : []),
    ...(allowed ? [`allowed: ${allowed.join(', ')}`] : []),
  ].join('; ')
}

const prune = command({
  usage: 'prune',
  description:
    'Delete old releases for good. Each series keeps its published release, the newest others, and the target of a rollback.',
  options: [
    new Option('--keep <number>', 'how many unpublished releases of each series stay')
      .argParser(readCount)
      .makeOptionMandatory(),
    ['--dry-run', 'list the releases to delete, and delete none'],
    YES_OPTION,
  ],
  examples: ['agro releases prune --keep 2 --dry-run', 'agro releases prune --keep 2 --yes'],
  async run({ keep, dryRun, ...consent }: Output & Consent & { keep: number; dryRun?: boolean }) {
    const prunable = await lookInDatabase(({ writer }) => removals.listPrunable(writer, keep))
    if (prunable.length === 0) return [{ deleted: [], prunable }, 'There is nothing to delete.']
    if (dryRun) return [{ deleted: [], prunable }, prunable.join('\n')]
    await confirm(`This deletes ${prunable.join(', ')} with all data, for good`, consent)
    const deleted: string[] = []
    await withDatabase(async ({ writer }) => {
      const progress = progressLine('deleting')
      // A transaction each, so that no release waits for all.
      for (const [index, code] of prunable.entries()) {
        const shown = (part: number) => progress((index + part) / prunable.length)
        if (await removals.pruneRelease(writer, code, keep, shown)) deleted.push(code)
        shown(1)
      }
    })
    return [{ deleted, prunable }, deleted.map((code) => `${code} is deleted.`).join('\n')]
  },
})

function readCount(text: string): number {
  if (/^\d{1,6}$/.test(text)) return Number(text)
  throw new InvalidArgumentError('It must be a whole number from 0 on.')
}

interface PublishOptions extends Output {
  allow: CheckName[]
  maxChange?: number
  strict?: boolean
}

const schedule = command({
  usage: 'schedule <release>',
  description:
    'Schedule the publication of a complete release. The checks run now and again at that time; a refused release stays unpublished.',
  parameters: ['its code'],
  options: [
    new Option('--at <time>', 'the time, for example 2026-12-01T06:00Z; a date means its start in UTC')
      .argParser(readTime)
      .makeOptionMandatory(),
    allowOption(),
    STRICT_OPTION,
  ],
  examples: [
    'agro releases schedule yield-eth-wheat-2026-12-v1 --at 2026-12-01T06:00Z',
    'agro releases schedule yield-eth-wheat-2026-12-v1 --at 2026-12-01T06:00Z --allow range',
  ],
  async change({ writer }, { at, allow, strict, ...output }: PublishOptions & { at: Date }, code: string) {
    await schedules.refusePast(writer, at)
    const findings = await inTransaction(writer, (trx) => scheduleChecked(trx, code, at, { allow, strict }))
    printIssues(findings)
    const refusing = refusingChecks(findings)
    if (refusing.length > 0) {
      const sentence = `${code} is not scheduled: mend it, or schedule it with --allow ${refusing.join()}.`
      const refusal = new OperatorError(sentence, { code: 'CHECKS' })
      refuse(output, { scheduled: null, publishAt: null, findings }, refusal)
    }
    return [
      { scheduled: code, publishAt: at, findings },
      `${code} is to be published at ${timeText(at)} UTC by the services that run then.`,
    ]
  },
})

/** @returns findings, which may refuse it */
export async function scheduleChecked(
  trx: Trx,
  code: string,
  publishAt: Date,
  leniency: Leniency,
): Promise<ReleaseIssue[]> {
  await schedules.requireUnpublished(trx, code)
  const findings = await inspectAgain(trx, code, leniency)
  if (refusingChecks(findings).length === 0) {
    const { allow, strict = false } = leniency
    await schedules.scheduleRelease(trx, code, { publishAt, allowed: [...allow], strict })
  }
  return findings
}

const unschedule = command({
  usage: 'unschedule <release>',
  description: 'Cancel a scheduled publication, or clear its refusal.',
  parameters: ['its code'],
  examples: ['agro releases unschedule yield-eth-wheat-2026-12-v1'],
  async change({ writer }, _: Output, code: string) {
    await inTransaction(writer, (trx) => schedules.unscheduleRelease(trx, code))
    return [{ unscheduled: code }, `${code} is not scheduled any more.`]
  },
})

const publish = command({
  usage: 'publish <release>',
  description: 'Check a complete release again, and make it the one that answers.',
  options: [allowOption(), maxChangeOption(), STRICT_OPTION],
  examples: [
    'agro releases publish yield-eth-wheat-2026-08-v2',
    'agro releases publish yield-eth-wheat-2026-08-v2 --allow month',
    'agro releases publish yield-eth-wheat-2026-08-v2 --max-change 25%',
    'agro releases publish yield-eth-wheat-2026-08-v2 --strict',
  ],
  async change(database, options: PublishOptions, code: string) {
    const done = await publishWithin(database, code, options, options.maxChange)
    const { replaced, findings } = done
    const instead = replaced ? ` instead of ${replaced}` : ''
    const value = { published: code, replaced: replaced ?? null, findings }
    return answerPublished(done, options, value, `${code} is published${instead}.`)
  },
})

const rollback = command({
  usage: 'rollback <release>',
  description:
    'Publish the predecessor of a published release again; a second rollback undoes the first. A release without predecessor is withdrawn.',
  options: [allowOption(), YES_OPTION],
  examples: ['agro releases rollback yield-eth-wheat-2026-08-v2'],
  async change({ writer }, options: PublishOptions & Consent, code: string) {
    if (await removals.isFirst(writer, code)) {
      const deed = `This withdraws ${code}: no release is there that it replaced, so its series has no release then`
      await confirm(deed, options)
      await inTransaction(writer, (trx) => removals.withdrawRelease(trx, code))
      return [{ published: null, replaced: code, findings: [] }, `${code} is withdrawn.`]
    }
    const done = await inTransaction(writer, (trx) => rollBackChecked(trx, code, options))
    const value = { published: done.code, replaced: code, findings: done.findings }
    return answerPublished(done, options, value, `${done.code} is published again instead of ${code}.`)
  },
})

function answerPublished(
  { code, published, findings, change, sentence }: LimitedPublishing,
  output: Output,
  value: object,
  text: string,
): CommandAnswer {
  printIssues(findings)
  if (published) return [value, text]
  const allow = refusingChecks(findings).join()
  const reason = sentence ?? `${code} is not published: mend it, or publish it with --allow ${allow}.`
  const refusal = new OperatorError(reason, { code: 'CHECKS' })
  return refuse(output, { published: null, replaced: null, findings, change }, refusal)
}

const remove = command({
  usage: 'delete <release>',
  description: 'Delete a release with its data, for good. Incomplete ones can always be deleted.',
  options: [['--force', 'delete it even if it is published or scheduled'], YES_OPTION],
  examples: [
    'agro releases delete yield-eth-wheat-2026-08-v1',
    'agro releases delete yield-eth-wheat-2026-08-v1 --yes',
  ],
  async change(
    { writer },
    { force = false, ...consent }: Output & Consent & { force?: boolean },
    code: string,
  ) {
    // A missing release, or one that must stay, is refused before the question.
    await inTransaction(writer, (trx) => removals.requireDeletable(trx, code, force))
    await confirm(`This deletes the release ${code} with its data, for good`, consent)
    const progress = progressIfLong(`deleting ${code}`)
    await inTransaction(writer, (trx) => removals.deleteRelease(trx, code, force, progress))
    return [{ deleted: code }, `${code} is deleted.`]
  },
})

export const releasesCommand = group(
  'releases',
  'List, show, publish, schedule, roll back, delete and prune releases.',
  [list, show, prune, schedule, unschedule, publish, rollback, remove],
)
