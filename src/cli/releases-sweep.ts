import { Command } from 'commander'
import { removeUnusedFiles } from '#src/ingest/unused-files.ts'
import { tell, withDatabase } from './database.ts'
import { sizeText } from './doctor/finding.ts'
import { JSON_OPTION, type Output, print, withExamples } from './output.ts'
import { whileShown } from './progress.ts'

export const sweepCommand = new Command('sweep')
  .description('Remove files of TILE_STORE that belong to no release and are older than a day.')
  .option('--dry-run', 'count the files, and remove none')
  .option('--force', 'remove files even if the database names none')
  .option(...JSON_OPTION)
  .action((options: Output & { dryRun?: boolean; force?: boolean }) =>
    withDatabase(async (database) => {
      const { dryRun = false, force = false } = options
      const onWait = () => tell('Releases are being loaded or moved: waiting for that.')
      const { files, bytes, unfinished } = await whileShown(
        'looking',
        removeUnusedFiles(database, { dryRun, force, onWait }),
      )
      const verb = dryRun ? 'would be removed' : 'are removed'
      const rest = unfinished > 0 ? `, of which ${unfinished} were not written to their end` : ''
      const sentence = `${files} files (${sizeText(bytes)}) ${verb}${rest}.`
      print(options, { files, bytes, unfinished, removed: !dryRun }, sentence)
    }),
  )
withExamples(sweepCommand, 'agro releases sweep --dry-run', 'agro releases sweep')
