import { Option } from 'commander'
import { command } from '#src/cli/command.ts'
import { sizeText } from '#src/cli/table.ts'
import { type Output, progressLine, report, whileShown } from '#src/cli/terminal.ts'
import type { TileStoreName } from '#src/data/release-tables.ts'
import { nameStore } from '#src/data/tiles/stores.ts'
import { moveRelease } from './move.ts'
import { removeUnusedFiles } from './unused-files.ts'

/** `agro releases move`. */
export const moveCommand = command({
  usage: 'move <release>',
  description:
    'Move the tiles of a complete release into the files of TILE_STORE, or back, while the release answers. The copy is compared before it answers.',
  parameters: ['its code'],
  options: [new Option('--to <store>', 'where to').choices(['files', 'postgis']).makeOptionMandatory()],
  examples: [
    'agro releases move yield-eth-wheat-2026-08-v2 --to files',
    'agro releases move yield-eth-wheat-2026-08-v2 --to postgis',
  ],
  async change(database, { to }: Output & { to: TileStoreName }, code: string) {
    const onWait = () => report('Another release is being moved, or files are being swept: waiting for that.')
    const moved = await moveRelease(database, code, to, { progress: progressLine('moving'), onWait })
    const text = moved
      ? `The tiles of ${code} are in ${nameStore(to)} now.`
      : `They are in ${nameStore(to)} already.`
    return [{ release: code, store: to, moved }, text]
  },
})

/** `agro releases sweep`. */
export const sweepCommand = command({
  usage: 'sweep',
  description: 'Remove files of TILE_STORE that belong to no release and are older than a day.',
  options: [
    ['--dry-run', 'count the files, and remove none'],
    ['--force', 'remove files even if the database names none'],
  ],
  examples: ['agro releases sweep --dry-run', 'agro releases sweep'],
  async change(database, { dryRun = false, force = false }: Output & { dryRun?: boolean; force?: boolean }) {
    const onWait = () => report('Releases are being loaded or moved: waiting for that.')
    const sweeping = removeUnusedFiles(database, { dryRun, force, onWait })
    const { files, bytes, unfinished } = await whileShown('looking', sweeping)
    const verb = dryRun ? 'would be removed' : 'are removed'
    const rest = unfinished > 0 ? `, of which ${unfinished} were not written to their end` : ''
    const sentence = `${files} files (${sizeText(bytes)}) ${verb}${rest}.`
    return [{ files, bytes, unfinished, removed: !dryRun }, sentence]
  },
})
