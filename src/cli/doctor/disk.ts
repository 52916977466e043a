import { statfs } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import type { Config } from '#src/config.ts'
import { codeOf } from '#src/lib/caught.ts'
import type { Group } from './examination.ts'
import { error, note, ok, sizeText, warning } from './finding.ts'

/** Below so much room an ingest may fill the disk, and below the other anything. */
const LITTLE = { bytes: 1e9, part: 0.1 }
const HARDLY_ANY = { bytes: 100e6, part: 0.02 }

/** The room that is left for the embedded database. */
export const disk: Group<Config> = {
  group: 'disk',
  questions: {
    free: async ({ DATABASE_URL, DATA_DIR }) => {
      if (DATABASE_URL !== undefined) {
        return [
          note(
            'How much room is left on the disks of the database server cannot be seen from here.',
            'Watch it there.',
          ),
        ]
      }
      const { bavail, blocks, bsize } = await statfs(await existingFolder(resolve(DATA_DIR)))
      const free = bavail * bsize
      const sentence = `${sizeText(free)} of ${sizeText(blocks * bsize)} are free for DATA_DIR.`
      const advice = 'Make room, or move DATA_DIR while the service is stopped.'
      if (isBelow(HARDLY_ANY, free, blocks * bsize)) return [error(sentence, advice)]
      return [isBelow(LITTLE, free, blocks * bsize) ? warning(sentence, advice) : ok(sentence)]
    },
  },
}

/** A large disk may have much room in a small part of it, and a small one little in a large part. */
function isBelow({ bytes, part }: typeof LITTLE, free: number, all: number): boolean {
  return free < bytes && free < all * part
}

/** The folder, or the nearest above it where it has not been made yet. */
async function existingFolder(folder: string): Promise<string> {
  try {
    await statfs(folder)
    return folder
  } catch (caught) {
    if (codeOf(caught) !== 'ENOENT' || dirname(folder) === folder) throw caught
    return existingFolder(dirname(folder))
  }
}
