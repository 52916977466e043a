import { sizeText } from '#src/cli/table.ts'
import type { Database } from '#src/data/database.ts'
import { StorageUnavailable } from '#src/data/failures.ts'
import type { StoreNotice } from '#src/data/tiles/store.ts'
import { openFileStore } from './open.ts'
import { findFileTotals, listSomeGranules } from './queries.ts'
import { lookForFiles } from './unused-files.ts'

/** What an export lacks. */
export async function noteExport({ writer, config }: Database): Promise<StoreNotice | undefined> {
  const { releases, files, bytes } = await findFileTotals(writer)
  if (releases === 0) return undefined
  const address = (await openFileStore(config))?.address ?? 'the files of TILE_STORE'
  return {
    level: 'note',
    sentence: `The tiles of ${releases} releases are not in it, but in ${files} files (${sizeText(bytes)}) of ${address}. Where it is imported, TILE_STORE has to lead to these or to a copy, in which each file has the same path. Or move them into the database before: agro releases move RELEASE --to postgis.`,
  }
}

const FILES_LOOKED_FOR = 1000

/** Whether an imported database has its files. */
export async function noteImport({ writer, config }: Database): Promise<StoreNotice | undefined> {
  const { releases, files: named } = await findFileTotals(writer)
  if (releases === 0) return undefined
  const begin = `The tiles of ${releases} releases are in ${named} files`
  const refuse = (sentence: string) => ({ level: 'error' as const, sentence: `${begin}${sentence}` })
  const files = await openFileStore(config)
  if (!files) {
    return refuse(', and TILE_STORE names none: set it to where they are. Until then these are answered 503.')
  }
  try {
    const { looked, absent } = await lookForFiles(files, await listSomeGranules(writer, FILES_LOOKED_FOR))
    if (absent.length === 0) {
      const sentence = `${begin} of ${files.address}: ${looked} were looked for, and are there.`
      return { level: 'note', sentence }
    }
    const missing = `${absent.length} of the ${looked} that were looked for are missing or damaged`
    return refuse(` of ${files.address}, where ${missing}: copy them there, each with the same path.`)
  } catch (error) {
    // The import is complete all the same.
    if (!(error instanceof StorageUnavailable)) throw error
    return refuse(`, and ${error.message}.`)
  }
}
