import { Command, Option } from 'commander'
import type { TileStoreName } from '#src/database/release-tables.ts'
import { moveRelease } from '#src/ingest/move.ts'
import { tell, withDatabase } from './database.ts'
import { JSON_OPTION, type Output, print, withExamples } from './output.ts'
import { progressLine } from './progress.ts'
import { storeText } from './releases-state.ts'

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
