import { Command } from 'commander'
import type { Database } from '#src/database/client.ts'
import type { CheckName } from '#src/database/findings.ts'
import { inTransaction } from '#src/database/transaction.ts'
import { deleteRelease, listReleases, type ReleaseRow } from '#src/domains/releases/queries.ts'
import { isFirst, withdrawRelease } from '#src/domains/releases/withdrawal-queries.ts'
import { OperatorError } from '#src/errors.ts'
import { refusingChecks } from '#src/ingest/checks/judgement.ts'
import { rollBackChecked } from '#src/ingest/publish.ts'
import { allowOption, sayFindings } from './checks.ts'
import { lookInDatabase, withDatabase } from './database.ts'
import { sizeText } from './doctor/finding.ts'
import { listReleaseSizes } from './doctor/table-queries.ts'
import { type LimitedPublishing, maxChangeOption, publishWithin } from './max-change.ts'
import { JSON_OPTION, type Output, print, withExamples } from './output.ts'
import { whileShown } from './progress.ts'
import { diffCommand } from './releases-diff.ts'
import { pruneCommand } from './releases-prune.ts'
import { showCommand } from './releases-show.ts'
import { stateOf } from './releases-state.ts'
import { table } from './table.ts'
import { type Consent, confirm, YES_OPTION } from './terminal.ts'

export const releasesCommand = new Command('releases').description(
  'List, show, compare, publish, roll back, delete and prune releases.',
)

const list = releasesCommand
  .command('list')
  .description('List all releases and say which are published.')
  .option(...JSON_OPTION)
  .action((output: Output) =>
    lookInDatabase(async ({ writer }) => {
      const sizes = await listReleaseSizes(writer)
      const releases = (await listReleases(writer)).map(({ id, lockless: _, ...release }) => ({
        ...release,
        state: stateOf(release),
        bytes: sizes.get(id) ?? 0,
      }))
      print(output, releases, releasesText(releases))
    }),
  )
withExamples(list, 'agro releases list', 'agro releases list --json')

/** A release as it is listed, with the bytes that its rasters take. */
type ListedRelease = Omit<ReleaseRow, 'id' | 'lockless'> & { state: string; bytes: number }

function releasesText(releases: ListedRelease[]): string {
  if (releases.length === 0) return 'There are no releases.'
  const rows = releases.map((release) => [
    release.code,
    release.state,
    (release.publishedAt ?? release.createdAt).toISOString().slice(0, 16).replace('T', ' '),
    sizeText(release.bytes),
    release.source,
  ])
  return table(['RELEASE', 'STATE', 'SINCE (UTC)', 'SIZE', 'SOURCE'], rows)
}

releasesCommand.addCommand(showCommand)
releasesCommand.addCommand(diffCommand)
releasesCommand.addCommand(pruneCommand)

const publish = releasesCommand
  .command('publish <release>')
  .description('Check a complete release again, and make it the one that answers.')
  .addOption(allowOption())
  .addOption(maxChangeOption())
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
)

const rollback = releasesCommand
  .command('rollback <release>')
  .description(
    'Publish again what a published release took the place of; done again, it returns. The first one is withdrawn.',
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

/** Takes a release back that nothing was published before. */
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
}

/** @throws {OperatorError} where the checks have refused it, or it changes too much */
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
  if (output.json) print(output, { published: null, replaced: null, findings, change }, '')
  throw new OperatorError(
    sentence ??
      `${code} is not published: mend it, or publish it with --allow ${refusingChecks(findings).join()}.`,
  )
}

const remove = releasesCommand
  .command('delete <release>')
  .description('Delete a release with its data, for good. Incomplete ones can always be deleted.')
  .option('--force', 'delete it even though it is published')
  .option(...YES_OPTION)
  .option(...JSON_OPTION)
  .action(async (code: string, options: Output & Consent & { force?: boolean }) => {
    await confirm(`This deletes the release ${code} with its data, for good`, options)
    await withDatabase(async ({ writer }) => {
      const deletion = inTransaction(writer, (trx) => deleteRelease(trx, code, options.force ?? false))
      await whileShown(`deleting ${code}`, deletion)
      print(options, { deleted: code }, `${code} is deleted.`)
    })
  })
withExamples(
  remove,
  'agro releases delete yield-eth-wheat-2026-08-v1',
  'agro releases delete yield-eth-wheat-2026-08-v1 --yes',
)
