import type { Config } from '#src/config.ts'
import { FOREIGN_KEY_VIOLATION, isDatabaseUnavailable } from '#src/data/failures.ts'
import type { Db } from '#src/data/tables.ts'
import { ApiError, accountDeleted, overloaded } from '#src/errors.ts'
import { type Batcher, type BatcherState, createBatcher } from '#src/lib/batcher.ts'
import { Cache } from '#src/lib/cache.ts'
import { readErrorCode, retry } from '#src/lib/promises.ts'
import { createUuidMaker } from '#src/lib/uuid.ts'
import type { AdvisoryRecord, FullHistory, RecordAdvisory } from './keep-answer.ts'
import { createMonths } from './queries.ts'
import {
  findAccounts,
  findSource,
  type HistoryEntry,
  type HistoryQuota,
  type ItemSource,
  insertAdvisories,
  sumHistories,
  type Written,
} from './recording-queries.ts'

/** More than there are releases and series. */
const MOST_SOURCES = 10_000

/** Items with the same key have the same source. */
function sourceKey({ product, kind, countryCode, releases }: AdvisoryRecord): string {
  return [product, kind, countryCode, ...releases].join('\n')
}

/** Between two readings, other processes and deletions go unnoticed. */
const READ_EVERY_MS = 5000

/** The approximate size of all histories. */
export function createHistoryTotal(db: Db, limitBytes: number) {
  let bytes = 0
  let readAt = Number.NEGATIVE_INFINITY
  return {
    async isFull(): Promise<boolean> {
      if (performance.now() - readAt >= READ_EVERY_MS) {
        bytes = await sumHistories(db)
        // The sum may take longer than the pause.
        readAt = performance.now()
      }
      return bytes >= limitBytes
    },
    add(added: number): void {
      bytes += added
    },
    state: () => ({ bytes, limitBytes }),
  }
}

/** The bounds of a statement; a single advisory may be larger. */
const BATCH_ENTRIES = 500
const BATCH_BYTES = 10_000_000

/** The queue of the database: an answer after the client's timeout is useless. */
const WAITING_BYTES = 64_000_000

/** Memory of a request that waits: 5,000 small ones at most. */
const REQUEST_BYTES = 12_800

/** The pauses before retries of a locked account: most locks are short. */
const LOCKED_PAUSES_MS = [100, 200, 400, 800]

const FULL_ACCOUNT: FullHistory = { full: 'account' }
const FULL_SERVICE: FullHistory = { full: 'service' }

const NO_ROOM: HistoryQuota = { items: 0, bytes: 0, full: 'refuse' }

/** SQLSTATE of an item whose month has no partition. */
const CHECK_VIOLATION = '23514'

/** Numbers of items: those that a quota leaves out are `full`, those that an error did `lost`. */
type Outcomes = Record<'kept' | 'full' | 'lost', number>

/**
 * Stores advisories, one statement at a time; those that arrive meanwhile go together in the next one.
 *
 * @param shorten receives the account whose history exceeds its quota
 * @param total undefined without a limit
 * @param newId makes ids that say the time
 */
export function createHistoryRecorder(
  db: Db,
  quota: HistoryQuota,
  shorten: (userId: string) => void,
  total?: ReturnType<typeof createHistoryTotal>,
  newId: () => string = createUuidMaker(),
): { record: RecordAdvisory; state(): BatcherState; outcomes: Readonly<Outcomes> } {
  const sources = new Cache<string, ItemSource>('history sources', { max: MOST_SOURCES })
  const outcomes: Outcomes = { kept: 0, full: 0, lost: 0 }
  const insert = createInserter(db, quota, shorten, outcomes, total)

  function countLost(error: unknown): never {
    const isOfDeletedAccount = error instanceof ApiError && error.code === 'UNAUTHORIZED'
    if (!isOfDeletedAccount) outcomes.lost++
    throw error
  }

  const findStored = (record: AdvisoryRecord) => sources.load(sourceKey(record), () => findSource(db, record))

  function keep(record: AdvisoryRecord, stored: ItemSource, id: string) {
    const entry = createEntry(record, stored, id)
    return insert(entry).catch((error) => tryAgain(error, record, stored, entry).catch(countLost))
  }

  /** Inserts once more where the account was locked, or a restored database has lost the source. */
  async function tryAgain(
    error: unknown,
    record: AdvisoryRecord,
    stored: ItemSource,
    first: HistoryEntry,
  ): Promise<string | FullHistory> {
    let entry = first
    if (readErrorCode(error) === FOREIGN_KEY_VIOLATION) {
      if (sources.peek(sourceKey(record)) === stored) sources.delete(sourceKey(record))
      entry = { ...entry, ...(await findStored(record)) }
    } else if (!(error instanceof AccountLocked)) throw error
    return retry(
      () => insert(entry),
      LOCKED_PAUSES_MS,
      (failure) => failure instanceof AccountLocked,
    )
  }

  // Each promise on the way is paid for by every call with a token: there is one more than the batcher's.
  const record: RecordAdvisory = (record) => {
    // Ids are in the order in which was asked, whatever has to be waited for.
    const id = newId()
    const stored = sources.get(sourceKey(record))
    if (stored) return keep(record, stored, id)
    return findStored(record).then((found) => keep(record, found, id), countLost)
  }
  return { record, state: insert.state, outcomes }
}

function createInserter(
  db: Db,
  quota: HistoryQuota,
  shorten: (userId: string) => void,
  outcomes: Outcomes,
  total: ReturnType<typeof createHistoryTotal> | undefined,
): Batcher<HistoryEntry, string | FullHistory> {
  return createBatcher<HistoryEntry, string | FullHistory>({
    async run(entries) {
      const isFull = (await total?.isFull()) ?? false
      const users = await insertWithMonth(db, entries, isFull ? NO_ROOM : quota)
      const written = new Map(users.map((user) => [user.userId, user]))
      const passedOver = entries.map(({ userId }) => userId).filter((userId) => !written.has(userId))
      const locked = passedOver.length > 0 ? await findAccounts(db, passedOver) : new Set()
      return entries.map(({ id, userId, bytes }) => {
        const user = written.get(userId)
        if (!user) return locked.has(userId) ? new AccountLocked() : accountDeleted()
        outcomes[user.kept ? 'kept' : 'full']++
        if (!user.kept) return isFull ? FULL_SERVICE : FULL_ACCOUNT
        user.items++
        user.bytes += bytes
        total?.add(bytes)
        if (user.items > quota.items || user.bytes > quota.bytes) shorten(userId)
        return id
      })
    },
    concurrency: 1,
    batch: BATCH_ENTRIES,
    failsAll: isDatabaseUnavailable,
    bounds: {
      bytesOf: ({ bytes }) => bytes + REQUEST_BYTES,
      batchBytes: BATCH_BYTES,
      waitingBytes: WAITING_BYTES,
      ownerOf: ({ userId }) => userId,
      refusal: overloaded,
    },
  })
}

/** A month without a partition gets one. */
async function insertWithMonth(db: Db, entries: HistoryEntry[], quota: HistoryQuota): Promise<Written[]> {
  try {
    return await insertAdvisories(db, entries, quota)
  } catch (error) {
    if (readErrorCode(error) !== CHECK_VIOLATION) throw error
    const [last] = entries.map(({ id }) => id).toSorted((a, b) => (a < b ? 1 : -1))
    await createMonths(db, last as string)
    return insertAdvisories(db, entries, quota)
  }
}

class AccountLocked extends ApiError {
  constructor() {
    super('DATABASE_UNAVAILABLE', 'The account is locked at present; try again later.')
  }
}

function createEntry(
  record: AdvisoryRecord,
  { templateId, subjectId }: ItemSource,
  id: string,
): HistoryEntry {
  const { userId, cropCode } = record
  const request = JSON.stringify(record.request)
  const answer = typeof record.answer === 'string' ? record.answer : JSON.stringify(record.answer)
  const bytes = Buffer.byteLength(request) + Buffer.byteLength(answer)
  return { templateId, subjectId, id, userId, cropCode, request, answer, bytes }
}

const MEGABYTE = 1_000_000

export function readQuota({ HISTORY_USER_MB, HISTORY_USER_ITEMS, HISTORY_FULL }: Config): HistoryQuota {
  return { bytes: HISTORY_USER_MB * MEGABYTE, items: HISTORY_USER_ITEMS, full: HISTORY_FULL }
}

/** Undefined without a limit. */
export function readTotalLimit({ HISTORY_TOTAL_MB }: Config): number | undefined {
  return HISTORY_TOTAL_MB === undefined ? undefined : HISTORY_TOTAL_MB * MEGABYTE
}
