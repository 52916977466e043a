import { Command, InvalidArgumentError } from 'commander'
import { listPrunable, pruneRelease } from '#src/domains/releases/pruning-queries.ts'
import { lookInDatabase, withDatabase } from './database.ts'
import { JSON_OPTION, type Output, print, withExamples } from './output.ts'
import { progressLine } from './progress.ts'
import { type Consent, confirm, YES_OPTION } from './terminal.ts'

export const pruneCommand = new Command('prune')
  .description(
    'Delete old releases for good. Each series keeps its published release, the newest others, and the target of a rollback.',
  )
  .requiredOption('--keep <number>', 'how many unpublished releases of each series stay', readCount)
  .option('--dry-run', 'list the releases to delete, and delete none')
  .option(...YES_OPTION)
  .option(...JSON_OPTION)
  .action(async (options: PruneOptions) => {
    const { keep } = options
    const listed = await lookInDatabase(({ writer }) => listPrunable(writer, keep))
    if (options.dryRun || listed.length === 0) {
      const text = listed.length === 0 ? 'There is nothing to delete.' : listed.join('\n')
      return print(options, { deleted: [], prunable: listed }, text)
    }
    await confirm(`This deletes ${listed.join(', ')} with all data, for good`, options)
    const deleted: string[] = []
    await withDatabase(async ({ writer }) => {
      const progress = progressLine('deleting')
      // Each for itself, so that none waits for all of them.
      for (const [index, code] of listed.entries()) {
        const shown = (part: number) => progress((index + part) / listed.length)
        if (await pruneRelease(writer, code, keep, shown)) deleted.push(code)
        shown(1)
      }
    })
    print(options, { deleted, prunable: listed }, deleted.map((code) => `${code} is deleted.`).join('\n'))
  })
withExamples(pruneCommand, 'agro releases prune --keep 2 --dry-run', 'agro releases prune --keep 2 --yes')

interface PruneOptions extends Output, Consent {
  keep: number
  dryRun?: boolean
}

function readCount(text: string): number {
  if (/^\d{1,6}$/.test(text)) return Number(text)
  throw new InvalidArgumentError('It must be a whole number from 0 on.')
}
