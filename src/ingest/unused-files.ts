import type { Database } from '#src/database/client.ts'
import { isFileUsed } from './move-queries.ts'

/** Loads and moves write a file before the database names it, and whoever has an older snapshot still reads what is deleted. */
const KEPT_MS = 24 * 3_600_000

/** What was removed. */
export interface RemovedFiles {
  files: number
  bytes: number
}

/**
 * Removes the files that no release has, those left that were written within a day.
 *
 * @param dryRun tells what would be removed, and removes nothing
 * @throws {OperatorError} where TILE_STORE can only be read
 */
export async function removeUnusedFiles(
  { writer, files }: Database,
  dryRun: boolean,
  now = Date.now(),
): Promise<RemovedFiles> {
  const removed = { files: 0, bytes: 0 }
  if (!files) return removed
  for await (const { name, bytes, writtenAt } of files.list()) {
    if (now - writtenAt.getTime() < KEPT_MS || (await isFileUsed(writer, name))) continue
    if (!dryRun) await files.remove(name)
    removed.files++
    removed.bytes += bytes
  }
  return removed
}
