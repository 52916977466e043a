import { formatError, readErrorCode } from '#src/lib/promises.ts'

/** Node's codes of connections that cannot be made or have broken. */
const CONNECTION_CODES =
  /^(ECONNREFUSED|ECONNRESET|ECONNABORTED|EPIPE|ENOTFOUND|EAI_AGAIN|ETIMEDOUT|EHOSTUNREACH|EHOSTDOWN|ENETUNREACH|ENETDOWN)$/

/**
 * SQLSTATEs: connection exceptions, refused credentials, no such database, insufficient resources (disk space, memory,
 * connections), a database closed to connections or to writes, locks not in time, statements too late or cancelled,
 * shutdown and start of the server, transactions idle for too long or undone, and files that cannot be read or written.
 */
const UNAVAILABLE_STATES =
  /^(08...|28...|3D000|53...|55000|55P03|57014|57P0[1-5]|25006|25P0[34]|40P01|40001|58...)$/

export const FOREIGN_KEY_VIOLATION = '23503'

const LOCK_NOT_AVAILABLE = '55P03'

/** A deadlock, and a failed serialization. */
const UNDONE_STATES = /^(40P01|40001)$/

const DISK_FULL = '53100'

/** The server is read-only (a replica, or one set so), or its disk is full. */
const READ_ONLY_STATES = /^(25006|53100)$/

/** Messages without a code: of pg, its pool and our deadline. */
const CONNECTION_MESSAGES =
  /^(Connection terminated|timeout exceeded when trying to connect|timeout expired|Client (has encountered|was closed)|no answer within|the embedded database (ended|is closed|could not be started))/

/** Whether the database did not answer, rather than refuse. */
export function isDatabaseUnavailable(error: unknown): error is Error {
  if (!(error instanceof Error)) return false
  const code = readErrorCode(error) ?? ''
  if (CONNECTION_CODES.test(code) || UNAVAILABLE_STATES.test(code)) return true
  return CONNECTION_MESSAGES.test(error.message)
}

/** Whether a statement or transaction was undone for others: it may run again at once. */
export function isUndone(error: unknown): boolean {
  return UNDONE_STATES.test(readErrorCode(error) ?? '')
}

/** Whether the database stores nothing; reads may succeed. */
export function isDatabaseReadOnly(error: unknown): boolean {
  return READ_ONLY_STATES.test(readErrorCode(error) ?? '')
}

export function isDiskFull(error: unknown): boolean {
  return readErrorCode(error) === DISK_FULL
}

/** Whether another transaction held a lock for the whole wait: a retry may succeed. */
export function isLockNotAvailable(error: unknown): boolean {
  return readErrorCode(error) === LOCK_NOT_AVAILABLE
}

/** A store of tiles does not answer, or lacks tiles that it should have; a later attempt may succeed. */
export class StorageUnavailable extends Error {
  override name = 'StorageUnavailable'
  /** Whether it has refused this request alone. */
  readonly hasAnswered: boolean

  constructor(
    message: string,
    { hasAnswered = false, ...options }: ErrorOptions & { hasAnswered?: boolean } = {},
  ) {
    super(message, options)
    this.hasAnswered = hasAnswered
  }
}

/** What to do about files that are damaged, of tables and of indexes. */
const REPAIRS: Record<string, string> = {
  XX001: 'stop the service, and put back a backup.',
  XX002: 'reindex, or put back a backup.',
}

/** A sentence for operators on damaged files, which stay damaged: clients need not wait. Undefined for other errors. */
export function describeDamage(error: unknown): string | undefined {
  const repair = REPAIRS[readErrorCode(error) ?? '']
  return repair && `The files of the database are damaged (${formatError(error)}): ${repair}`
}

/** A replica and the primary, or the same twice. */
export type FailureSources<Source> = Record<'reader' | 'readerAtPrimary', Source>

/** Finds items, and asks the primary for missing ones (null), which a replica may not have yet. */
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
    // The caller looks up the published releases again.
    if (isDatabaseUnavailable(error)) return lacking.map(() => null)
    throw error
  })
  let next = 0
  return found.map((one) => (one === null ? (rest[next++] as Found | null) : one))
}
