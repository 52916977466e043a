import { Command } from 'commander'
import { removeUnusedFiles } from '#src/ingest/unused-files.ts'
import { tell, withDatabase } from './database.ts'
import { sizeText } from './doctor/finding.ts'
import { JSON_OPTION, type Output, print, withExamples } from './output.ts'
import { whileShown } from './progress.ts'

export const sweepCommand = new Command('sweep')
  .description('Remove the files of TILE_STORE that no release has, but for those of the last day.')
  .option('--dry-run', 'say how many there are, and remove none')
  .option('--force', 'remove files although the database names none at all')
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
