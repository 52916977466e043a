import { Command, InvalidArgumentError, Option } from 'commander'
import { listPrunable, pruneRelease } from '#src/catalog/removal-queries.ts'
import type { TileStoreName } from '#src/data/tables.ts'
import { moveRelease } from '#src/ingest/move.ts'
import { removeUnusedFiles } from '#src/ingest/unused-files.ts'
import { lookInDatabase, tell, withDatabase } from './database.ts'
import { progressLine, whileShown } from './progress.ts'
import { storeText } from './releases-show.ts'
import { sizeText } from './table.ts'
import {
  type Consent,
  confirm,
  JSON_OPTION,
  type Output,
  print,
  withExamples,
  YES_OPTION,
} from './terminal.ts'

export const moveCommand = new Command('move')
  .description(
    'Move the tiles of a complete release into the files of TILE_STORE, or back, while the release answers. The copy is compared before it answers.',
  )
  .argument('<release>', 'its code')
  .addOption(new Option('--to <store>', 'where to').choices(['files', 'postgis']).makeOptionMandatory())
  .option(...JSON_OPTION)
  .action((code: string, options: Output & { to: TileStoreName }) =>
    withDatabase(async (database) => {
      const { to } = options
      const moved = await moveRelease(database, code, to, { progress: progressLine('moving'), tell })
      const text = moved
        ? `The tiles of ${code} are in ${storeText(to)} now.`
        : `They are in ${storeText(to)} already.`
      print(options, { release: code, store: to, moved }, text)
    }),
  )
withExamples(
  moveCommand,
  'agro releases move yield-eth-wheat-2026-08-v2 --to files',
  'agro releases move yield-eth-wheat-2026-08-v2 --to postgis',
)

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
      // A transaction each, so that no release waits for all.
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
