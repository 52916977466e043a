import { Command } from 'commander'
import { removeUnusedFiles } from '#src/ingest/unused-files.ts'
import { withDatabase } from './database.ts'
import { sizeText } from './doctor/finding.ts'
import { JSON_OPTION, type Output, print, withExamples } from './output.ts'
import { whileShown } from './progress.ts'

export const sweepCommand = new Command('sweep')
  .description('Remove the files of TILE_STORE that no release has, but for those of the last day.')
  .option('--dry-run', 'say how many there are, and remove none')
  .option(...JSON_OPTION)
  .action((options: Output & { dryRun?: boolean }) =>
    withDatabase(async (database) => {
      const { dryRun = false } = options
      const { files, bytes } = await whileShown('looking', removeUnusedFiles(database, dryRun))
      const verb = dryRun ? 'would be removed' : 'are removed'
      print(options, { files, bytes, removed: !dryRun }, `${files} files (${sizeText(bytes)}) ${verb}.`)
    }),
  )
withExamples(sweepCommand, 'agro releases sweep --dry-run', 'agro releases sweep')
