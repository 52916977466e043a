import { recordOperation } from '#src/data/audit-queries.ts'
import type { Database } from '#src/data/database.ts'
import { StorageUnavailable } from '#src/data/failures.ts'
import { inTransaction } from '#src/data/sql.ts'
import { lockWork } from '#src/data/work-lock.ts'
import { OperatorError } from '#src/errors.ts'
import { isGranuleHeader } from './granule.ts'
import { fileNameOf } from './granule-reader.ts'
import { openFileStore } from './open.ts'
import { listUsedFiles, type NamedGranule, namesFiles } from './queries.ts'
import { createRangeReader, FILES_LOCK, type FileStore, type ListedFile } from './store.ts'

type UsedFiles = (names: string[]) => Promise<Set<string>>

/** Older snapshots still read deleted files, and other processes may be writing. */
const KEPT_MS = 24 * 3_600_000

const FILES_A_QUESTION = 500

interface SweepOptions {
  /** Only counts. */
  dryRun?: boolean
  /** Even if the database names no files. */
  force?: boolean
  now?: number
  /** Called once before waiting for loads and moves. */
  onWait?: () => void
}

/** Removes unused files and interrupted writes that are older than a day, while no release is loaded or moved. */
export async function removeUnusedFiles(
  database: Database,
  { dryRun = false, force = false, now = Date.now(), onWait = () => {} }: SweepOptions = {},
) {
  // Interrupted writes are unfinished.
  const removed = { files: 0, bytes: 0, unfinished: 0 }
  const { writer, config } = database
  const files = await openFileStore(config)
  if (!files) return removed
  const { lost, unlock } = dryRun ? UNLOCKED : await lockWork(database, FILES_LOCK, { onWait })
  try {
    const used: UsedFiles = (names) => listUsedFiles(writer, names)
    const isTheirs = dryRun || force || (await namesFiles(writer))
    for await (const { name, bytes, unfinished } of unusedFiles(used, files.list(), now)) {
      lost.throwIfAborted()
      if (!isTheirs && !unfinished)
        throw new OperatorError(
          `The database names no files at all, and ${files.address} has some: is it the right one, and what is to be imported there? --force removes them.`,
        )
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

/** Counting needs no lock. */
const UNLOCKED = { lost: new AbortController().signal, unlock: () => {} }

/** Older than a day. */
async function* unusedFiles(
  usedFiles: UsedFiles,
  files: AsyncIterable<ListedFile>,
  now: number,
): AsyncGenerator<ListedFile> {
  let old: ListedFile[] = []
  async function unused(): Promise<ListedFile[]> {
    const finished = old.filter(({ unfinished }) => !unfinished)
    const used = await usedFiles(finished.map(({ name }) => name))
    return old.filter(({ name }) => !used.has(name))
  }
  for await (const file of files) {
    if (now - file.writtenAt.getTime() < KEPT_MS) continue
    old.push(file)
    if (old.length < FILES_A_QUESTION) continue
    yield* await unused()
    old = []
  }
  yield* await unused()
}

const AT_A_TIME = 8

/**
 * Reads the header, whose hash is the name, and the last byte.
 *
 * @returns the missing or damaged files, with the reason
 * @throws {StorageUnavailable} for a store that does not answer
 */
export async function lookForFiles(files: FileStore, granules: NamedGranule[]) {
  const ranges = createRangeReader(files)
  const absent: { name: string; reason: string }[] = []
  const left = granules.values()

  async function look(granule: NamedGranule): Promise<void> {
    const name = fileNameOf(granule)
    const isWhole = (bytes: Buffer) => isGranuleHeader(granule.name, bytes)
    try {
      await ranges.read({ name, offset: 0, length: granule.headerBytes, isWhole })
      await files.read(name, granule.bytes - 1, 1)
    } catch (error) {
      if (!(error instanceof StorageUnavailable && error.hasAnswered)) throw error
      absent.push({ name, reason: error.message })
    }
  }

  async function work(): Promise<void> {
    for (const granule of left) await look(granule)
  }

  await Promise.all(Array.from({ length: AT_A_TIME }, work))
  return { looked: granules.length, absent }
}
