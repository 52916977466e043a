import { formatError, readErrorCode } from '#src/lib/promises.ts'

/** Node's codes of connections that cannot be made or have broken. */
const CONNECTION_CODES =
  /^(ECONNREFUSED|ECONNRESET|ECONNABORTED|EPIPE|ENOTFOUND|EAI_AGAIN|ETIMEDOUT|EHOSTUNREACH|EHOSTDOWN|ENETUNREACH|ENETDOWN)$/

/**
 * SQLSTATEs: connection exceptions, refused credentials, no such database, a replica that had to cancel the query
 * to keep up, insufficient resources (no disk space, memory or connection is left), a database that is closed to
 * connections, locks that are not to be had in
 * time, statements that take too long or are cancelled, shutdown and start-up of the server, a transaction that was
 * idle for too long, and files that cannot be read or written.
 */
const UNAVAILABLE_STATES = /^(08...|28...|3D000|53...|55000|55P03|57014|57P0[1-5]|25P0[34]|58...)$/

/** SQLSTATE of what refers to a row that is not there. */
export const FOREIGN_KEY_VIOLATION = '23503'

/** SQLSTATE of a lock that did not come in time. */
const LOCK_NOT_AVAILABLE = '55P03'

/** A deadlock, and what a transaction cannot be put in order with others for: nothing is left of either. */
const UNDONE_STATES = /^(40P01|40001)$/

const DISK_FULL = '53100'

/** The server is read-only (a replica, or one set so), or its disk is full. */
const READ_ONLY_STATES = /^(25006|53100)$/

/** What pg, its pool and our own deadline say, which have no code. */
const CONNECTION_MESSAGES =
  /^(Connection terminated|timeout exceeded when trying to connect|timeout expired|Client (has encountered|was closed)|no answer within|the embedded database (ended|is closed|could not be started))/

/** Whether an error means that the database did not answer, rather than that it said no. */
export function isDatabaseUnavailable(error: unknown): error is Error {
  if (!(error instanceof Error)) return false
  const code = readErrorCode(error)
  if (code === undefined) return CONNECTION_MESSAGES.test(error.message)
  return (
    CONNECTION_CODES.test(code) ||
    UNAVAILABLE_STATES.test(code) ||
    isUndone(error) ||
    isDatabaseReadOnly(error) ||
    CONNECTION_MESSAGES.test(error.message)
  )
}

/** Whether a statement or a transaction has been undone for the sake of others: it may be tried again at once. */
export function isUndone(error: unknown): boolean {
  return UNDONE_STATES.test(readErrorCode(error) ?? '')
}

/** Whether an error means that the database can store nothing; it may still be read. */
export function isDatabaseReadOnly(error: unknown): boolean {
  return READ_ONLY_STATES.test(readErrorCode(error) ?? '')
}

/** Whether an error means that there is no room left on the disk of the database. */
export function isDiskFull(error: unknown): boolean {
  return readErrorCode(error) === DISK_FULL
}

/** Whether another transaction held a lock for the whole wait: a retry may succeed. */
export function isLockNotAvailable(error: unknown): boolean {
  return readErrorCode(error) === LOCK_NOT_AVAILABLE
}

/** SQLSTATEs: a page of a table that is not what was written, and an index that does not fit its table. */
const DATA_CORRUPTED = 'XX001'
const INDEX_CORRUPTED = 'XX002'

/**
 * What an operator is told where the files of the database are damaged: what is, and what to do, in a sentence.
 * Undefined for all other errors. It does not go away by itself, so clients are told of a failure and not to wait.
 */
export function describeDamage(error: unknown): string | undefined {
  const code = readErrorCode(error)
  const damage = `The files of the database are damaged (${formatError(error)})`
  if (code === DATA_CORRUPTED) return `${damage}: stop the service, and put back a backup.`
  if (code === INDEX_CORRUPTED) return `${damage}: reindex, or put back a backup.`
  return undefined
}

/** Where something is read: on a replica, and on the primary, which is the same where there is no replica. */
export interface FailureSources<Source> {
  reader: Source
  readerAtPrimary: Source
}

/**
 * Finds something of releases, and asks the primary for what is not there, which is null: the release may have been
 * deleted, or a replica may not have it yet that the primary, or another replica, has told of.
 */
export async function findAlsoAtPrimary<Source, Item, Found>(
  { reader, readerAtPrimary }: FailureSources<Source>,
  items: Item[],
  find: (source: Source, items: Item[]) => Promise<(Found | null)[]>,
): Promise<(Found | null)[]> {
  const found = await find(reader, items)
  if (reader === readerAtPrimary) return found
  const lacking = items.filter((_, index) => found[index] === null)
  if (lacking.length === 0) return found
  const rest = await find(readerAtPrimary, lacking).catch((error) => {
    // The published releases are looked up again, and may do without it.
    if (isDatabaseUnavailable(error)) return lacking.map(() => null)
    throw error
  })
  let next = 0
  return found.map((one) => (one === null ? (rest[next++] as Found | null) : one))
}
