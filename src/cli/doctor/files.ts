import {
  findFileTotals,
  listSomeGranules,
  listUsedFiles,
  type NamedGranule,
} from '#src/ingest/move-queries.ts'
import { lookForFiles, unusedFiles } from '#src/ingest/unused-files.ts'
import { messageOf } from '#src/lib/caught.ts'
import { FileMissing, type FileStore, StorageUnavailable } from '#src/storage/store.ts'
import type { Group, Patient } from './examination.ts'
import { error, type Finding, note, ok, sizeText, someNames, unknown } from './finding.ts'

/** Of the files that the database names, so many are looked for. */
const FILES_LOOKED_FOR = 200

/** A store may have a million files: so long is looked for those that no release has. */
const LOOKING_MS = 10_000

/** A store that hangs, such as a disk, ends nothing by itself: an answer is waited for so long. */
export const ANSWER_MS = 10_000

/** So many files may take so long. */
const LOOKING_FOR_MS = 60_000

/** A name that no file has, which a store that answers says. */
const NO_FILE = `${'0'.repeat(64)}.tif`

/** The files that tiles lie in. */
export const files: Group<Patient> = {
  group: 'files',
  questions: {
    reachable: async ({ ask, files }) => {
      const { releases } = await ask(findFileTotals)
      if (!files) return [releases === 0 ? NONE : notNamed(releases)]
      const [granule] = releases > 0 ? await ask((trx) => listSomeGranules(trx, 1)) : []
      const failure = await failureOf(files, granule)
      if (failure === UNANSWERABLE) return [unknown(mayNotList(files))]
      if (failure === undefined) return [ok(`The files in ${files.place} can be read.`)]
      if (releases === 0) {
        return [note(`${failure}; no release has any.`, 'A folder is made by the first file that is loaded.')]
      }
      return [error(`${failure}: ${releases} releases are answered 503.`, 'Mend what the sentence says.')]
    },
    writable: async ({ files }) => {
      if (!files) return []
      const canWrite = await inTime(files.canWrite())
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
        const { looked, absent } = await inTime(lookForFiles(files, granules), LOOKING_FOR_MS)
        if (absent.length === 0) return [ok(`${looked} of ${named} files were looked for, and are there.`)]
        const refused = absent.filter(({ reason }) => FORBIDDEN.test(reason))
        if (refused.length === looked) {
          return [unknown(`Whether the files are there cannot be seen: ${refused[0]?.reason}.`)]
        }
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
      if (!files || (await inTime(files.canWrite())) === false) return []
      if ((await failureOf(files)) !== undefined) return []
      const until = performance.now() + LOOKING_MS
      let [count, bytes] = [0, 0]
      const used = (names: string[]) => ask((trx) => listUsedFiles(trx, names))
      const listed = listedUntil(files, until)
      for await (const file of unusedFiles(used, listed, Date.now())) {
        count++
        bytes += file.bytes
      }
      const isAll = !listed.isCutOff()
      if (count === 0 && !isAll) return [note(MANY)]
      if (count === 0) return [ok('Each file that is older than a day is one of a release.')]
      const sentence = `${isAll ? '' : 'At least '}${count} files (${sizeText(bytes)}) are of no release.`
      return [note(sentence, 'Remove them with `agro releases sweep`.')]
    },
  },
}

/** Of what a store says to whoever may not read there, or whose signature is wrong. */
const FORBIDDEN = / 403\b/

const MANY = 'There are too many files to look at all of them: of those that were, each is one of a release.'

const NONE = ok('All tiles are in the database.')

function notNamed(releases: number): Finding {
  return error(
    `${releases} releases have their tiles in files, and TILE_STORE names none.`,
    'Set TILE_STORE to where they are.',
  )
}

/** What a store says of a name that is not there where a key may not list: nobody learns whether it may read. */
const UNANSWERABLE = Symbol('unanswerable')

const mayNotList = ({ place }: FileStore) =>
  `Whether files in ${place} can be read is seen when there are some: it says that nothing may be listed there.`

/**
 * Why a store cannot be read, in a sentence without its end; undefined where it can.
 *
 * @param granule one that it should have: who may not list is told 403 of one that is not there
 */
async function failureOf(
  files: FileStore,
  granule?: NamedGranule,
): Promise<string | typeof UNANSWERABLE | undefined> {
  try {
    await inTime(files.read(granule ? `${granule.name}.tif` : NO_FILE, 0, 1))
    return undefined
  } catch (caught) {
    if (caught instanceof FileMissing) return undefined
    const isForbidden = caught instanceof StorageUnavailable && caught.hasAnswered
    return isForbidden && !granule && FORBIDDEN.test(caught.message) ? UNANSWERABLE : sentenceOf(caught)
  }
}

/** The files of a store as far as they are listed until a time, which says nothing while none of them is of no release. */
function listedUntil(files: FileStore, until: number): FileStore & { isCutOff(): boolean } {
  let isCutOff = false
  return {
    ...files,
    isCutOff: () => isCutOff,
    async *list() {
      const listing = files.list()[Symbol.asyncIterator]()
      for (;;) {
        const { done, value } = await inTime(listing.next())
        if (done) return
        yield value
        isCutOff = performance.now() >= until
        if (isCutOff) {
          await inTime(Promise.resolve(listing.return?.()))
          return
        }
      }
    },
  }
}

/** @throws {StorageUnavailable} where a store is too late */
async function inTime<Answer>(answer: Promise<Answer>, milliseconds = ANSWER_MS): Promise<Answer> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    const say = () => reject(new StorageUnavailable('the files do not answer in time'))
    timer = setTimeout(say, milliseconds)
  })
  return Promise.race([answer, late]).finally(() => clearTimeout(timer))
}

function sentenceOf(caught: unknown): string {
  const message = messageOf(caught)
  return `${message.charAt(0).toUpperCase()}${message.slice(1)}`
}
