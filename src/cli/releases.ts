import { Command } from 'commander'
import { inTransaction } from '#src/database/transaction.ts'
import {
  deleteRelease,
  listReleases,
  publishRelease,
  type ReleaseRow,
  rollbackRelease,
} from '#src/domains/releases/queries.ts'
import { lookInDatabase, withDatabase } from './database.ts'
import { JSON_OPTION, type Output, print, withExamples } from './output.ts'
import { whileShown } from './progress.ts'
import { table } from './table.ts'
import { type Consent, confirm, YES_OPTION } from './terminal.ts'

export const releasesCommand = new Command('releases').description(
  'List, publish, roll back and delete releases.',
)

const list = releasesCommand
  .command('list')
  .description('List all releases and say which are published.')
  .option(...JSON_OPTION)
  .action((output: Output) =>
    lookInDatabase(async ({ writer }) => {
      const releases = await listReleases(writer)
      print(
        output,
        releases.map(({ id: _, ...release }) => ({ ...release, state: stateOf(release) })),
        releasesText(releases),
      )
    }),
  )
withExamples(list, 'agro releases list', 'agro releases list --json')

function releasesText(releases: ReleaseRow[]): string {
  if (releases.length === 0) return 'There are no releases.'
  const rows = releases.map((release) => [
    release.code,
    stateOf(release),
    (release.publishedAt ?? release.createdAt).toISOString().slice(0, 16).replace('T', ' '),
    release.source,
  ])
  return table(['RELEASE', 'STATE', 'SINCE (UTC)', 'SOURCE'], rows)
}

function stateOf({ publishedAt, status }: Pick<ReleaseRow, 'publishedAt' | 'status'>): string {
  if (publishedAt) return 'published'
  return status === 'ready' ? 'not published' : 'incomplete'
}

const publish = releasesCommand
  .command('publish <release>')
  .description('Make a complete release the one that answers.')
  .option(...JSON_OPTION)
  .action((code: string, output: Output) =>
    withDatabase(async ({ writer }) => {
      const replaced = await inTransaction(writer, (trx) => publishRelease(trx, code))
      print(
        output,
        { published: code, replaced: replaced ?? null },
        `${code} is published${replaced ? ` in the place of ${replaced}` : ''}.`,
      )
    }),
  )
withExamples(publish, 'agro releases publish yield-eth-wheat-2026-08-v2')

const rollback = releasesCommand
  .command('rollback <release>')
  .description('Publish again what a published release took the place of; done again, it returns.')
  .option(...JSON_OPTION)
  .action((code: string, output: Output) =>
    withDatabase(async ({ writer }) => {
      const published = await inTransaction(writer, (trx) => rollbackRelease(trx, code))
      print(output, { published, replaced: code }, `${published} is published again in the place of ${code}.`)
    }),
  )
withExamples(rollback, 'agro releases rollback yield-eth-wheat-2026-08-v2')

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
