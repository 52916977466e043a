import { lookForFiles } from '#src/ingest/file-presence.ts'
import { findFileTotals, listSomeGranules, listUsedFiles } from '#src/ingest/move-queries.ts'
import { unusedFiles } from '#src/ingest/unused-files.ts'
import { messageOf } from '#src/lib/caught.ts'
import { FileMissing, type FileStore, StorageUnavailable } from '#src/storage/store.ts'
import type { Group, Patient } from './examination.ts'
import { error, type Finding, note, ok, sizeText, someNames, unknown } from './finding.ts'

/** Of the files that the database names, so many are looked for. */
const FILES_LOOKED_FOR = 200

/** A store may have a million files: so long is looked for those that no release has. */
const LOOKING_MS = 10_000

/** A name that no file has, which a store that answers says. */
const NO_FILE = `${'0'.repeat(64)}.tif`

/** The files that tiles lie in. */
export const files: Group<Patient> = {
  group: 'files',
  questions: {
    reachable: async ({ ask, files }) => {
      const { releases } = await ask(findFileTotals)
      if (!files) return [releases === 0 ? NONE : notNamed(releases)]
      const failure = await failureOf(files)
      if (failure === undefined) return [ok(`The files in ${files.place} can be read.`)]
      if (releases === 0) {
        return [note(`${failure}; no release has any.`, 'A folder is made by the first file that is loaded.')]
      }
      return [error(`${failure}: ${releases} releases are answered 503.`, 'Mend what the sentence says.')]
    },
    writable: async ({ files }) => {
      if (!files) return []
      const canWrite = await files.canWrite()
      if (canWrite === null) {
        return [note('Whether files may be written in the bucket is seen when one is.')]
      }
      if (canWrite) return [ok(`Files can be written in ${files.place}.`)]
      return [
        note(
          `No files can be written in ${files.place} from here: what is only answered needs none.`,
          'Load, move and sweep releases where they can be.',
        ),
      ]
    },
    present: async ({ ask, files }) => {
      const { files: named } = await ask(findFileTotals)
      if (!files || named === 0) return []
      const granules = await ask((trx) => listSomeGranules(trx, FILES_LOOKED_FOR))
      try {
        const { looked, absent } = await lookForFiles(files, granules)
        if (absent.length === 0) return [ok(`${looked} of ${named} files were looked for, and are there.`)]
        const names = someNames(
          absent.map(({ name }) => name),
          2,
        )
        return [
          error(
            `Of ${looked} files that were looked for, ${absent.length} are missing or damaged: ${names}.`,
            'Put them back from a backup, or load the releases again.',
          ),
        ]
      } catch (caught) {
        if (!(caught instanceof StorageUnavailable)) throw caught
        return [unknown(`${sentenceOf(caught)}.`)]
      }
    },
    unused: async ({ ask, files }) => {
      if (!files || (await files.canWrite()) === false || (await failureOf(files))) return []
      const until = performance.now() + LOOKING_MS
      let [count, bytes, isAll] = [0, 0, true]
      const used = (names: string[]) => ask((trx) => listUsedFiles(trx, names))
      for await (const file of unusedFiles(used, files, Date.now())) {
        count++
        bytes += file.bytes
        isAll = performance.now() < until
        if (!isAll) break
      }
      if (count === 0) return [ok('Each file that is older than a day is one of a release.')]
      const sentence = `${isAll ? '' : 'At least '}${count} files (${sizeText(bytes)}) are of no release.`
      return [note(sentence, 'Remove them with `agro releases sweep`.')]
    },
  },
}

const NONE = ok('All tiles are in the database.')

function notNamed(releases: number): Finding {
  return error(
    `${releases} releases have their tiles in files, and TILE_STORE names none.`,
    'Set TILE_STORE to where they are.',
  )
}

/** Why a store cannot be read, in a sentence without its end; undefined where it can. */
async function failureOf(files: FileStore): Promise<string | undefined> {
  try {
    await files.read(NO_FILE, 0, 1)
    return undefined
  } catch (caught) {
    return caught instanceof FileMissing ? undefined : sentenceOf(caught)
  }
}

function sentenceOf(caught: unknown): string {
  const message = messageOf(caught)
  return `${message.charAt(0).toUpperCase()}${message.slice(1)}`
}
