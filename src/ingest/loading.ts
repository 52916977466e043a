import type { Database } from '#src/database/client.ts'
import { lockWork } from '#src/database/work-lock.ts'
import { deleteLoad, listDeadLoads, loadLockOf } from './load-queries.ts'
import type { ReleaseDescription } from './source.ts'
import { FILES_LOCK } from './unused-files.ts'

export interface LoadingOptions {
  /** Ends the load, of which nothing is left then. */
  signal?: AbortSignal
  /** Told in a sentence what is waited for, and what others have left. */
  tell?: (sentence: string) => void
  /** Shows which part of what a load has left is deleted, from 0 to 1. */
  clearing?: (code: string) => (part: number) => void
}

/**
 * Does what nobody else does with the same data meanwhile: whoever wants to waits. What is left of loads that were
 * cut off is cleared away before.
 *
 * @param work is to end when the signal is aborted: somebody wants that, or the lock is lost, and others take what
 * has been begun for dead
 */
export async function whileLoading<Result>(
  database: Database,
  description: ReleaseDescription,
  work: (signal: AbortSignal) => Promise<Result>,
  { signal, tell = () => {}, clearing = () => () => {} }: LoadingOptions = {},
): Promise<Result> {
  const lock = loadLockOf(description)
  const onWait = (isForShared: boolean) =>
    tell(
      isForShared
        ? 'Files that no release has are being swept: waiting for that.'
        : 'The same data are being loaded by another process: waiting for it.',
    )
  const shared = database.files && FILES_LOCK
  const { lost, unlock } = await lockWork(database, lock, { shared, onWait, signal })
  try {
    for (const { id, code } of await listDeadLoads(database.writer, lock)) {
      if (await deleteLoad(database.writer, id, clearing(code))) {
        tell(`The load of ${code} was cut off: what it left is deleted.`)
      }
    }
    return await work(signal ? AbortSignal.any([lost, signal]) : lost)
  } finally {
    unlock()
  }
}
