import type { Kysely } from 'kysely'
import type { Tables } from '#src/database/tables.ts'
import { sumHistories } from './recording-queries.ts'

/** Knows about how much the histories of all accounts hold together. */
export interface HistoryTotal {
  isFull(): Promise<boolean>
  /** Counts bytes that this process has just kept. */
  add(bytes: number): void
  state(): { bytes: number; limitBytes: number }
}

/** Between two readings, what other processes keep and what is deleted goes unnoticed. */
const READ_EVERY_MS = 5000

/** @param limitBytes which all histories together may hold */
export function createHistoryTotal(db: Kysely<Tables>, limitBytes: number): HistoryTotal {
  let bytes = 0
  let readAt = Number.NEGATIVE_INFINITY

  return {
    async isFull() {
      if (performance.now() - readAt >= READ_EVERY_MS) {
        bytes = await sumHistories(db)
        readAt = performance.now()
      }
      return bytes >= limitBytes
    },
    add(added) {
      bytes += added
    },
    state: () => ({ bytes, limitBytes }),
  }
}
