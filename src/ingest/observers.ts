import type { Database } from '#src/data/database.ts'
import type { Trx } from '#src/data/tables.ts'
import type { SourceFile } from './source.ts'

/** With the numbers of its layers. */
export type LoadedFile = SourceFile<number>

/** Follows a load, within the transaction that completes the release. */
export type LoadObserver = (
  trx: Trx,
  release: { id: number; code: string },
  files: LoadedFile[],
) => Promise<void>

/** Of extensions, also of those that are off: what they keep of a release is whole then. */
export const LOAD_OBSERVERS: (() => Promise<LoadObserver>)[] = []

/**
 * Of extensions: makes the manifests of a folder of rasters that has none, where each would be, and says in lines what it
 * read. A person may give the source and the licence of all. Throws an OperatorError where something is uncertain.
 */
export const FOLDER_READERS: {
  extension: string
  load(): Promise<
    (
      database: Database,
      folder: string,
      given: { source?: string; licence?: string },
    ) => Promise<{ manifests: { path: string; text: string }[]; said: string[] }>
  >
}[] = []
