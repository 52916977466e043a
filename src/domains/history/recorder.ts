import { randomUUID } from 'node:crypto'
import type { Kysely } from 'kysely'
import { isDatabaseUnavailable } from '#src/database/failures.ts'
import type { Tables } from '#src/database/tables.ts'
import { ApiError } from '#src/errors.ts'
import { type HistoryEntry, insertAdvisories, type RecordAdvisory } from './queries.ts'

/** What goes out in one statement; a single advisory may be larger than a batch should be. */
const BATCH_ENTRIES = 500
const BATCH_BYTES = 4_000_000

/** What may wait for the database: an answer that comes later than its client waits helps nobody. */
const WAITING_ENTRIES = 5000
const WAITING_BYTES = 64_000_000

interface Waiting {
  entry: HistoryEntry
  kept: (id: string) => void
  failed: (error: unknown) => void
}

/**
 * Makes what keeps advisories in their callers' histories. One statement is under way at a time; what
 * arrives meanwhile goes out together in the next one. An advisory alone waits for nobody.
 */
export function createHistoryRecorder(db: Kysely<Tables>): RecordAdvisory {
  let queue: Waiting[] = []
  let queuedBytes = 0
  let writing = false

  async function write(): Promise<void> {
    writing = true
    while (queue.length > 0) await insert(nextBatch())
    writing = false
  }

  function nextBatch(): Waiting[] {
    let bytes = 0
    const tooMany = queue.findIndex(({ entry }, index) => {
      bytes += entry.bytes
      return index === BATCH_ENTRIES || (index > 0 && bytes > BATCH_BYTES)
    })
    const batch = tooMany === -1 ? queue : queue.slice(0, tooMany)
    queue = queue.slice(batch.length)
    for (const { entry } of batch) queuedBytes -= entry.bytes
    return batch
  }

  /** Writes a batch. Where the database refuses it, it goes in halves, down to the one that is to blame. */
  async function insert(batch: Waiting[]): Promise<void> {
    try {
      const ids = await insertAdvisories(
        db,
        batch.map(({ entry }) => entry),
      )
      for (const { entry, kept, failed } of batch) {
        if (ids.has(entry.id)) kept(entry.id)
        else failed(new ApiError('UNAUTHORIZED', 'The account has been deleted.'))
      }
    } catch (error) {
      if (batch.length === 1 || isDatabaseUnavailable(error)) {
        for (const { failed } of batch) failed(error)
        return
      }
      const middle = Math.ceil(batch.length / 2)
      await insert(batch.slice(0, middle))
      await insert(batch.slice(middle))
    }
  }

  return async (record) => {
    const request = JSON.stringify(record.request)
    const answer = JSON.stringify(record.answer)
    const bytes = Buffer.byteLength(request) + Buffer.byteLength(answer)
    if (queue.length >= WAITING_ENTRIES || queuedBytes + bytes > WAITING_BYTES) {
      throw new ApiError('OVERLOADED', 'The service is busy; try again in a second.')
    }
    return new Promise((kept, failed) => {
      queue.push({ entry: { ...record, id: randomUUID(), request, answer, bytes }, kept, failed })
      queuedBytes += bytes
      if (!writing) void write()
    })
  }
}
