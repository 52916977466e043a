import { Command } from 'commander'
import { inTransaction } from '#src/database/transaction.ts'
import {
  deleteRelease,
  listReleases,
  publishRelease,
  rollbackRelease,
} from '#src/domains/releases/queries.ts'
import { withDatabase } from './database.ts'
import { table } from './table.ts'

export const releasesCommand = new Command('releases').description(
  'List, publish, roll back and delete releases.',
)

releasesCommand
  .command('list')
  .description('List all releases and say which are published.')
  .action(() =>
    withDatabase(async ({ writer }) => {
      const releases = await listReleases(writer)
      if (releases.length === 0) return console.log('There are no releases.')
      const rows = releases.map(({ code, status, publishedAt, createdAt, source }) => [
        code,
        publishedAt ? 'published' : status === 'ready' ? 'not published' : 'incomplete',
        (publishedAt ?? createdAt).toISOString().slice(0, 16).replace('T', ' '),
        source,
      ])
      console.log(table(['RELEASE', 'STATE', 'SINCE (UTC)', 'SOURCE'], rows))
    }),
  )

releasesCommand
  .command('publish <release>')
  .description('Make a complete release the one that answers.')
  .action((code: string) =>
    withDatabase(async ({ writer }) => {
      const replaced = await inTransaction(writer, (trx) => publishRelease(trx, code))
      console.log(`${code} is published${replaced ? ` in the place of ${replaced}` : ''}.`)
    }),
  )

releasesCommand
  .command('rollback <release>')
  .description('Publish again what a published release took the place of.')
  .action((code: string) =>
    withDatabase(async ({ writer }) => {
      const published = await inTransaction(writer, (trx) => rollbackRelease(trx, code))
      console.log(`${published} is published again in the place of ${code}.`)
    }),
  )

releasesCommand
  .command('delete <release>')
  .description('Delete a release with its data. Incomplete ones can always be deleted.')
  .option('--force', 'delete it even though it is published')
  .action((code: string, { force = false }: { force?: boolean }) =>
    withDatabase(async ({ writer }) => {
      await inTransaction(writer, (trx) => deleteRelease(trx, code, force))
      console.log(`${code} is deleted.`)
    }),
  )
