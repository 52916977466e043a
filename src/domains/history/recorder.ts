import { randomUUID } from 'node:crypto'
import { setTimeout } from 'node:timers/promises'
import type { Kysely } from 'kysely'
import { isDatabaseUnavailable } from '#src/database/failures.ts'
import type { Tables } from '#src/database/tables.ts'
import { ApiError } from '#src/errors.ts'
import { overloaded } from '#src/http/plugins/overload.ts'
import { type BatcherState, createBatcher } from '#src/lib/batcher.ts'
import type { RecordAdvisory } from './queries.ts'
import {
  findAccounts,
  type HistoryEntry,
  type HistoryQuota,
  insertAdvisories,
  type Written,
} from './recording-queries.ts'

/** What goes out in one statement; a single advisory may be larger than a batch should be. */
const BATCH_ENTRIES = 500
const BATCH_BYTES = 4_000_000

/** What may wait for the database: an answer that comes later than its client waits helps nobody. */
const WAITING_ENTRIES = 5000
const WAITING_BYTES = 64_000_000

/** An account that is locked is tried again after these: whoever has locked it is soon done, as a rule. */
const LOCKED_PAUSES_MS = [100, 200, 400, 800]

export interface HistoryRecorder {
  record: RecordAdvisory
  state(): BatcherState
}

/**
 * Makes what keeps advisories in their callers' histories. One statement is under way at a time; what
 * arrives meanwhile goes out together in the next one, as far as there is room by turns of those who wait. An
 * advisory alone waits for nobody, and one that the database refuses, or whose account is locked, spoils nothing for
 * the others.
 *
 * @param shorten is told whose history holds more than is kept of an account
 */
export function createHistoryRecorder(
  db: Kysely<Tables>,
  quota: HistoryQuota,
  shorten: (userId: string) => void,
): HistoryRecorder {
  const insert = createBatcher<HistoryEntry, string | null>({
    async run(entries) {
      const written = new Map((await insertAdvisories(db, entries, quota)).map((one) => [one.id, one]))
      const passedOver = entries.filter(({ id }) => !written.has(id)).map(({ userId }) => userId)
      const locked = passedOver.length > 0 ? await findAccounts(db, passedOver) : new Set()
      const holding = new Map<string, Written['held']>()
      return entries.map(({ id, userId, bytes }) => {
        const found = written.get(id)
        if (!found) return locked.has(userId) ? new AccountLocked() : accountDeleted()
        if (!found.kept) return null
        const before = holding.get(userId) ?? found.held
        const held = { items: before.items + 1, bytes: before.bytes + bytes }
        holding.set(userId, held)
        if (held.items > quota.items || held.bytes > quota.bytes) shorten(userId)
        return id
      })
    },
    concurrency: 1,
    batch: BATCH_ENTRIES,
    failsAll: isDatabaseUnavailable,
    bounds: {
      bytesOf: ({ bytes }) => bytes,
      batchBytes: BATCH_BYTES,
      waitingItems: WAITING_ENTRIES,
      waitingBytes: WAITING_BYTES,
      refusal: overloaded,
    },
  })

  const record: RecordAdvisory = async (record, party) => {
    const request = JSON.stringify(record.request)
    const answer = JSON.stringify(record.answer)
    const bytes = Buffer.byteLength(request) + Buffer.byteLength(answer)
    const entry = { ...record, id: randomUUID(), request, answer, bytes }
    for (const pauseMs of LOCKED_PAUSES_MS) {
      try {
        return await insert(entry, party)
      } catch (error) {
        if (!(error instanceof AccountLocked)) throw error
        await setTimeout(pauseMs)
      }
    }
    return insert(entry, party)
  }
  return { record, state: insert.state }
}

/** The answer where it stays so. */
class AccountLocked extends ApiError {
  constructor() {
    super('DATABASE_UNAVAILABLE', 'The account is locked at present; try again later.')
  }
}

function accountDeleted(): ApiError {
  return new ApiError('UNAUTHORIZED', 'The account has been deleted.')
}
