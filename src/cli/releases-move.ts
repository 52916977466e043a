import { Command, Option } from 'commander'
import type { TileStoreName } from '#src/database/release-tables.ts'
import { moveRelease } from '#src/ingest/move.ts'
import { withDatabase } from './database.ts'
import { JSON_OPTION, type Output, print, withExamples } from './output.ts'
import { progressLine } from './progress.ts'

const PLACES: Record<TileStoreName, string> = { files: 'the files of TILE_STORE', postgis: 'the database' }

export const moveCommand = new Command('move')
  .description(
    'Move the tiles of a complete release into the files of TILE_STORE, or back into the database, while it answers. They are compared before they are read from there.',
  )
  .argument('<release>', 'its code')
  .addOption(new Option('--to <store>', 'where to').choices(['files', 'postgis']).makeOptionMandatory())
  .option(...JSON_OPTION)
  .action((code: string, options: Output & { to: TileStoreName }) =>
    withDatabase(async (database) => {
      const { to } = options
      const moved = await moveRelease(database, code, to, progressLine('moving'))
      const text = moved
        ? `The tiles of ${code} are in ${PLACES[to]} now.`
        : `They are in ${PLACES[to]} already.`
      print(options, { release: code, store: to, moved }, text)
    }),
  )
withExamples(
  moveCommand,
  'agro releases move yield-eth-wheat-2026-08-v2 --to files',
  'agro releases move yield-eth-wheat-2026-08-v2 --to postgis',
)
