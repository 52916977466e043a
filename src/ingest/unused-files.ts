import { recordOperation } from '#src/data/audit-queries.ts'
import type { Database } from '#src/data/client.ts'
import { type FileStore, type ListedFile, rangesOf, StorageUnavailable } from '#src/data/files/store.ts'
import { inTransaction } from '#src/data/sql.ts'
import { isHeaderOf, isUnreadable } from '#src/data/tiles/granule.ts'
import { fileNameOf } from '#src/data/tiles/granule-reader.ts'
import { lockWork } from '#src/data/work-lock.ts'
import { OperatorError } from '#src/errors.ts'
import { listUsedFiles, type NamedGranule, namesFiles } from './move-queries.ts'

/** Tells which of some files coverages have. */
type UsedFiles = (names: string[]) => Promise<Set<string>>

/**
 * What writes files shares it, and what removes them has it alone: a file that nobody has may be written again while its
 * removal is under way. Any constant will do, as long as every process uses the same.
 */
export const FILES_LOCK = 7_239_462

/** Whoever has an older snapshot still reads what was deleted, and what is written by others may not be finished. */
const KEPT_MS = 24 * 3_600_000

/** The database is asked about so many at a time. */
const FILES_A_QUESTION = 500

/** What was removed. */
interface RemovedFiles {
  files: number
  bytes: number
  /** How many of them were not written to their end. */
  unfinished: number
}

interface SweepOptions {
  /** Counts what would be removed, and removes nothing. */
  dryRun?: boolean
  /** Removes files although the database names none at all. */
  force?: boolean
  /** The time, in milliseconds. */
  now?: number
  /** Told once, where releases are loaded or moved, which is waited for. */
  onWait?: () => void
}

/**
 * Removes the files that no release has, and what is left of those that were not written to their end; those that were
 * written within a day are left. Nobody loads or moves a release meanwhile.
 *
 * @throws {OperatorError} where TILE_STORE can only be read, or has files while the database names none: it may not be theirs
 */
export async function removeUnusedFiles(
  database: Database,
  { dryRun = false, force = false, now = Date.now(), onWait = () => {} }: SweepOptions = {},
): Promise<RemovedFiles> {
  const removed: RemovedFiles = { files: 0, bytes: 0, unfinished: 0 }
  const { writer, files } = database
  if (!files) return removed
  const { lost, unlock } = dryRun ? UNLOCKED : await lockWork(database, FILES_LOCK, { onWait })
  try {
    const used: UsedFiles = (names) => listUsedFiles(writer, names)
    const isTheirs = dryRun || force || (await namesFiles(writer))
    for await (const { name, bytes, unfinished } of unusedFiles(used, files, now)) {
      lost.throwIfAborted()
      if (!isTheirs && !unfinished) throw new OperatorError(notTheirs(files))
      if (!dryRun) await files.remove(name)
      removed.files++
      removed.bytes += bytes
      removed.unfinished += Number(unfinished)
    }
  } finally {
    unlock()
  }
  if (!dryRun && removed.files > 0) {
    await inTransaction(writer, (trx) =>
      recordOperation(trx, { kind: 'files_swept', detail: { ...removed } }),
    )
  }
  return removed
}

function notTheirs({ place }: FileStore): string {
  return `The database names no files at all, and ${place} has some: is it the right one, and what is to be imported there? --force removes them.`
}

/** What only looks needs no lock. */
const UNLOCKED = { lost: new AbortController().signal, unlock: () => {} }

/**
 * The files that no release has, but for those that were written within a day.
 *
 * @param now the time, in milliseconds
 */
export async function* unusedFiles(
  usedFiles: UsedFiles,
  files: FileStore,
  now: number,
): AsyncGenerator<ListedFile> {
  let old: ListedFile[] = []
  async function unused(): Promise<ListedFile[]> {
    const finished = old.filter(({ unfinished }) => !unfinished)
    const used = await usedFiles(finished.map(({ name }) => name))
    return old.filter(({ name }) => !used.has(name))
  }
  for await (const file of files.list()) {
    if (now - file.writtenAt.getTime() < KEPT_MS) continue
    old.push(file)
    if (old.length < FILES_A_QUESTION) continue
    yield* await unused()
    old = []
  }
  yield* await unused()
}

/** What was found of some of the files that a database names. */
interface FilePresence {
  looked: number
  /** The names of those that are not there as they were written, with why. */
  absent: { name: string; reason: string }[]
}

/** Files that are looked for at the same time. */
const AT_A_TIME = 8

/**
 * Looks whether granules are in a store: reads what each begins with, which its name is the sum of, and its last byte.
 *
 * @throws {StorageUnavailable} where it does not answer
 */
export async function lookForFiles(files: FileStore, granules: NamedGranule[]): Promise<FilePresence> {
  const ranges = rangesOf(files)
  const absent: FilePresence['absent'] = []
  const left = granules.values()

  async function look(granule: NamedGranule): Promise<void> {
    const name = fileNameOf(granule)
    const isWhole = (bytes: Buffer) => isHeaderOf(granule.name, bytes)
    try {
      await ranges.read({ name, offset: 0, length: granule.headerBytes, isWhole })
      await files.read(name, granule.bytes - 1, 1)
    } catch (error) {
      if (!isUnreadable(error) || (error instanceof StorageUnavailable && !error.hasAnswered)) throw error
      absent.push({ name, reason: (error as Error).message })
    }
  }

  async function lane(): Promise<void> {
    for (const granule of left) await look(granule)
  }

  await Promise.all(Array.from({ length: AT_A_TIME }, lane))
  return { looked: granules.length, absent }
}
