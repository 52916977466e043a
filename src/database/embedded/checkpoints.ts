import { queryMessage } from './messages.ts'

/** How often the log is looked at, at most: it grows by some 20 MB a second. */
const LOOK_EVERY_MS = 2000

/**
 * How much of the write-ahead log may come since the last checkpoint: all of it is read again after a crash,
 * up to a second for 100 MB, and none of it can be removed before.
 */
const LOG_BYTES = 64 * 1024 * 1024

const CHECKPOINT_WHERE_DUE = queryMessage(`do $$ begin
  if pg_catalog.pg_current_wal_insert_lsn() - (select redo_lsn from pg_catalog.pg_control_checkpoint()) > ${LOG_BYTES}
  then checkpoint;
  end if;
end $$`)

/**
 * Sees to it that the write-ahead log stays short. A server has a process for that; the embedded PostgreSQL makes
 * no checkpoint before it is closed, and its log would grow for as long as it runs.
 *
 * @param ask has the server do a request
 * @returns to be called while the server is outside of any transaction, and nobody waits for it
 */
export function keepLogShort(ask: (message: Uint8Array) => unknown): () => void {
  let lookedAt = performance.now()
  return () => {
    if (performance.now() - lookedAt < LOOK_EVERY_MS) return
    ask(CHECKPOINT_WHERE_DUE)
    lookedAt = performance.now()
  }
}
