import { type CheckedDatabase, type Checks, error, note, ok, unknown } from '#src/cli/findings.ts'
import { someNames } from '#src/cli/table.ts'
import { StorageUnavailable } from '#src/data/failures.ts'
import { formatError } from '#src/lib/promises.ts'
import { openFileStore } from './open.ts'
import { findFileTotals, listSomeGranules, type NamedGranule } from './queries.ts'
import { FileMissing, type FileStore } from './store.ts'
import { lookForFiles } from './unused-files.ts'

export const checks: Checks<CheckedDatabase> = {
  async 'files.reachable'({ ask, config }) {
    const { releases } = await ask(findFileTotals)
    const files = await openFileStore(config)
    if (!files) {
      if (releases === 0) return ok('All tiles are in the database.')
      const sentence = `${releases} releases have their tiles in files, and TILE_STORE names none.`
      return error(sentence, 'Set TILE_STORE to where they are.')
    }
    const [granule] = releases > 0 ? await ask((trx) => listSomeGranules(trx, 1)) : []
    const failure = await findFailure(files, granule)
    if (failure === undefined) return ok(`The files in ${files.address} can be read.`)
    return releases === 0
      ? note(
          `${failure}; no release has files there.`,
          FORBIDDEN.test(failure)
            ? 'A key that may not list gets 403 for a missing file.'
            : 'A folder is made by the first file that is loaded.',
        )
      : error(`${failure}: ${releases} releases are answered 503.`, 'Mend what the sentence says.')
  },

  async 'files.present'({ ask, config }) {
    const { files: named } = await ask(findFileTotals)
    const files = await openFileStore(config)
    if (!files || named === 0) return []
    const granules = await ask((trx) => listSomeGranules(trx, FILES_LOOKED_FOR))
    try {
      const { looked, absent } = await lookForFiles(files, granules)
      if (absent.length === 0) return ok(`${looked} of ${named} files were looked for, and are there.`)
      const refused = absent.filter(({ reason }) => FORBIDDEN.test(reason))
      if (refused.length === looked)
        return unknown(`Whether the files are there cannot be seen: ${refused[0]?.reason}.`)
      const names = absent.map(({ name }) => name)
      return error(
        `Of ${looked} files that were looked for, ${absent.length} are missing or damaged: ${someNames(names, 2)}.`,
        'Put them back from a backup, or load the releases again.',
      )
    } catch (caught) {
      if (!(caught instanceof StorageUnavailable)) throw caught
      return unknown(`${capitalise(caught)}.`)
    }
  },
}

const FILES_LOOKED_FOR = 200

/** No file has this name; a working store says so. */
const NO_FILE = `${'0'.repeat(64)}.tif`

/** Stores answer so to keys without the right to read, and to wrong signatures. */
const FORBIDDEN = / 403\b/

/** @param granule an existing file: keys that may not list get 403 for missing ones */
async function findFailure(files: FileStore, granule?: NamedGranule): Promise<string | undefined> {
  try {
    await files.read(granule ? `${granule.name}.tif` : NO_FILE, 0, 1)
    return undefined
  } catch (caught) {
    return caught instanceof FileMissing ? undefined : capitalise(caught)
  }
}

function capitalise(caught: unknown): string {
  const message = formatError(caught)
  return `${message.charAt(0).toUpperCase()}${message.slice(1)}`
}
