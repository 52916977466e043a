import { Command } from 'commander'
import { isStale } from '#schemas/products/define.ts'
import { listReleases, type ReleaseRow } from '#src/catalog/release-queries.ts'
import { deleteRelease, isFirst, requireDeletable, withdrawRelease } from '#src/catalog/removal-queries.ts'
import { listSchedules, type Schedule } from '#src/catalog/schedule-queries.ts'
import type { Database } from '#src/data/client.ts'
import type { CheckName } from '#src/data/rights.ts'
import { inTransaction } from '#src/data/sql.ts'
import type { TileStoreName } from '#src/data/tables.ts'
import { OperatorError } from '#src/errors.ts'
import { refusingChecks } from '#src/ingest/checks/judgement.ts'
import { listTileStores } from '#src/ingest/move-queries.ts'
import { rollBackChecked } from '#src/ingest/publish.ts'
import {
  allowOption,
  type LimitedPublishing,
  maxChangeOption,
  publishWithin,
  STRICT_OPTION,
  sayFindings,
} from './comparison.ts'
import { lookInDatabase, withDatabase } from './database.ts'
import { listReleaseSizes } from './doctor/queries.ts'
import { progressIfLong } from './progress.ts'
import { diffCommand } from './releases-diff.ts'
import { scheduleCommand, unscheduleCommand } from './releases-schedule.ts'
import { showCommand, stateOf, stateText } from './releases-show.ts'
import { moveCommand, pruneCommand, sweepCommand } from './releases-storage.ts'
import { printable, sizeText, table, timeText } from './table.ts'
import {
  type Consent,
  confirm,
  JSON_OPTION,
  type Output,
  print,
  refuse,
  withExamples,
  YES_OPTION,
} from './terminal.ts'

export const releasesCommand = new Command('releases').description(
  'List, show, compare, publish, schedule, roll back, delete, prune and move releases, and sweep unused files.',
)

const list = releasesCommand
  .command('list')
  .description('List all releases and say which are published.')
  .option(...JSON_OPTION)
  .action((output: Output) =>
    lookInDatabase(async ({ writer }) => {
      const sizes = await listReleaseSizes(writer)
      const schedules = await listSchedules(writer)
      const stores = await listTileStores(writer)
      const releases = (await listReleases(writer)).map(({ id, lockless: _, ...release }) => ({
        ...release,
        state: stateOf(release),
        stale: isStale(release, Date.now()),
        schedule: schedules.get(id) ?? null,
        bytes: sizes.get(id) ?? 0,
        store: stores.get(id) ?? 'postgis',
      }))
      print(output, releases, releasesText(releases))
    }),
  )
withExamples(list, 'agro releases list', 'agro releases list --json')

type ListedRelease = Omit<ReleaseRow, 'id' | 'lockless'> & {
  state: string
  stale: boolean
  schedule: Schedule | null
  bytes: number
  store: TileStoreName
}

function releasesText(releases: ListedRelease[]): string {
  if (releases.length === 0) return 'There are no releases.'
  const rows = releases.map((release) => [
    release.code,
    stateText(release),
    timeText(release.publishedAt ?? release.createdAt),
    sizeText(release.bytes),
    release.store === 'files' ? 'files' : 'database',
    release.source,
  ])
  const refusals = releases.flatMap(({ code, schedule }) =>
    schedule?.refusal ? [`${code} was refused: ${printable(schedule.refusal)}`] : [],
  )
  return [table(['RELEASE', 'STATE', 'SINCE (UTC)', 'SIZE', 'IN', 'SOURCE'], rows), ...refusals].join('\n')
}

releasesCommand.addCommand(showCommand)
releasesCommand.addCommand(diffCommand)
releasesCommand.addCommand(pruneCommand)
releasesCommand.addCommand(moveCommand)
releasesCommand.addCommand(sweepCommand)
releasesCommand.addCommand(scheduleCommand)
releasesCommand.addCommand(unscheduleCommand)

const publish = releasesCommand
  .command('publish <release>')
  .description('Check a complete release again, and make it the one that answers.')
  .addOption(allowOption())
  .addOption(maxChangeOption())
  .option(...STRICT_OPTION)
  .option(...JSON_OPTION)
  .action((code: string, options: PublishOptions) =>
    withDatabase(async (database) => {
      const done = await publishWithin(database, code, options, options.maxChange)
      const { replaced, findings } = done
      tellPublishing(
        done,
        options,
        { published: code, replaced: replaced ?? null, findings },
        `${code} is published${replaced ? ` in the place of ${replaced}` : ''}.`,
      )
    }),
  )
withExamples(
  publish,
  'agro releases publish yield-eth-wheat-2026-08-v2',
  'agro releases publish yield-eth-wheat-2026-08-v2 --allow month',
  'agro releases publish yield-eth-wheat-2026-08-v2 --max-change 25%',
  'agro releases publish yield-eth-wheat-2026-08-v2 --strict',
)

const rollback = releasesCommand
  .command('rollback <release>')
  .description(
    'Publish the predecessor of a published release again; a second rollback undoes the first. A release without predecessor is withdrawn.',
  )
  .addOption(allowOption())
  .option(...YES_OPTION)
  .option(...JSON_OPTION)
  .action((code: string, options: PublishOptions & Consent) =>
    withDatabase(async ({ writer }) => {
      if (await isFirst(writer, code)) return withdraw(writer, code, options)
      const done = await inTransaction(writer, (trx) => rollBackChecked(trx, code, options))
      tellPublishing(
        done,
        options,
        { published: done.code, replaced: code, findings: done.findings },
        `${done.code} is published again in the place of ${code}.`,
      )
    }),
  )
withExamples(rollback, 'agro releases rollback yield-eth-wheat-2026-08-v2')

async function withdraw(writer: Database['writer'], code: string, options: Output & Consent): Promise<void> {
  await confirm(
    `This withdraws ${code}: nothing is there that it took the place of, so its series has no release then`,
    options,
  )
  await inTransaction(writer, (trx) => withdrawRelease(trx, code))
  print(options, { published: null, replaced: code, findings: [] }, `${code} is withdrawn.`)
}

interface PublishOptions extends Output {
  allow: CheckName[]
  maxChange?: number
  strict?: boolean
}

function tellPublishing(
  { code, published, findings, change, sentence }: LimitedPublishing,
  output: Output,
  value: object,
  text: string,
): void {
  sayFindings(findings)
  if (published) {
    print(output, value, text)
    return
  }
  refuse(
    output,
    { published: null, replaced: null, findings, change },
    new OperatorError(
      sentence ??
        `${code} is not published: mend it, or publish it with --allow ${refusingChecks(findings).join()}.`,
      { code: 'CHECKS' },
    ),
  )
}

const remove = releasesCommand
  .command('delete <release>')
  .description('Delete a release with its data, for good. Incomplete ones can always be deleted.')
  .option('--force', 'delete it even if it is published or scheduled')
  .option(...YES_OPTION)
  .option(...JSON_OPTION)
  .action(async (code: string, options: Output & Consent & { force?: boolean }) => {
    const force = options.force ?? false
    await withDatabase(async ({ writer }) => {
      // A missing release, or one that must stay, is refused before the question.
      await inTransaction(writer, (trx) => requireDeletable(trx, code, force))
      await confirm(`This deletes the release ${code} with its data, for good`, options)
      const progress = progressIfLong(`deleting ${code}`)
      await inTransaction(writer, (trx) => deleteRelease(trx, code, force, progress))
      print(options, { deleted: code }, `${code} is deleted.`)
    })
  })
withExamples(
  remove,
  'agro releases delete yield-eth-wheat-2026-08-v1',
  'agro releases delete yield-eth-wheat-2026-08-v1 --yes',
)
