import type { Socket } from 'node:net'
import { setTimeout } from 'node:timers/promises'
import { type Expression, type Kysely, type RawBuilder, sql, type Transaction } from 'kysely'
import type pg from 'pg'
import type { Database } from './client.ts'
import { inTransaction } from './sql.ts'
import type { Tables } from './tables.ts'

/** Short beside the work that others do meanwhile. */
const LOOK_EVERY_MS = 250

/**
 * After so long a silence either side asks whether the other is still there, so that a lock that is lost to a network that
 * has gone away is noticed within a minute, as it is by the database.
 */
const SILENCE_MS = 30_000

/**
 * Has the database notice within a minute that a machine has gone away, and not after the two hours that systems take for
 * that by themselves. For the transaction, so that it holds behind PgBouncer, too.
 */
const KEEP_ALIVE = `
  set_config('tcp_keepalives_idle', '30', true),
  set_config('tcp_keepalives_interval', '10', true),
  set_config('tcp_keepalives_count', '3', true)`

/** A lock that is held for as long as some work goes on. */
interface WorkLock {
  /** Is aborted with the reason where the lock is lost with its connection: then others may begin the same. */
  lost: AbortSignal
  unlock(): void
}

interface Waiting {
  /** Another lock, which many may have at the same time, and nobody while somebody has it alone. */
  shared?: number | undefined
  /** Called once, where another process has the lock, or the shared one alone. */
  onWait?: (isForShared: boolean) => void
  /** Ends the waiting. */
  signal?: AbortSignal
}

/**
 * Lets one process at a time do something on a server, for which it waits. The embedded database has but
 * one process anyway.
 *
 * It is a lock of a transaction, so that it holds behind PgBouncer, too. That does nothing else, and keeps no dead row
 * from being cleaned up.
 */
export async function lockWork(
  database: Database,
  lock: number,
  { shared, onWait = () => {}, signal }: Waiting = {},
): Promise<WorkLock> {
  const lost = new AbortController()
  if (database.kind === 'embedded') return { lost: lost.signal, unlock: () => {} }
  const client = await database.pool.connect()
  const socket = client.connection.stream as Socket
  socket.setKeepAlive(true, SILENCE_MS)
  const lose = (error?: Error) => lost.abort(error ?? new Error('Connection terminated'))
  client.on('error', lose)
  client.on('end', lose)
  const unlock = () => {
    client.off('error', lose)
    client.off('end', lose)
    // Its transaction ends with the connection.
    client.release(true)
  }
  try {
    for (let attempt = 1; ; attempt++) {
      const held = await tryLock(client, lock, shared)
      if (held.alone && held.shared) break
      if (attempt === 1) onWait(held.alone)
      // The wait is outside of the database: a wait inside keeps dead rows from being cleaned up.
      await client.query('rollback')
      await setTimeout(LOOK_EVERY_MS, undefined, { signal })
    }
    return { lost: lost.signal, unlock }
  } catch (error) {
    unlock()
    throw signal?.aborted ? signal.reason : error
  }
}

/**
 * Begins a transaction that lives for as long as its connection, and takes the lock in it.
 */
async function tryLock(
  client: pg.PoolClient,
  lock: number,
  shared: number | undefined,
): Promise<{ alone: boolean; shared: boolean }> {
  await client.query(`
    begin read only;
    set local idle_in_transaction_session_timeout = 0`)
  // With a parameter it would have a portal, which stays open with its snapshot.
  const { rows } = await client.query(`
    select
      pg_try_advisory_xact_lock(${lock}) as alone,
      ${shared === undefined ? true : `pg_try_advisory_xact_lock_shared(${shared})`} as shared,
      ${KEEP_ALIVE}`)
  return rows[0]
}

/**
 * Does work in a transaction, unless another process does work with the same lock: then nobody waits, and there is no
 * result.
 */
export async function doAlone<Result>(
  db: Kysely<Tables>,
  lock: number,
  work: (trx: Transaction<Tables>) => Promise<Result>,
): Promise<Result | undefined> {
  return inTransaction(db, async (trx) => {
    const { rows } = await sql<{ alone: boolean }>`
      select pg_try_advisory_xact_lock(${sql.lit(lock)}) as alone, ${sql.raw(KEEP_ALIVE)}`.execute(trx)
    return rows[0]?.alone ? work(trx) : undefined
  })
}

/** The process of the database that holds a lock of {@link lockWork}, or null. */
export function findLockHolder(lock: Expression<number | null>): RawBuilder<number | null> {
  return sql`(
    select pid
    from pg_locks
    where locktype = 'advisory' and granted and objsubid = 1
      and classid::bigint = ${lock} >> 32 and objid::bigint = ${lock} & 4294967295
      and database = (select oid from pg_database where datname = current_database())
    limit 1
  )`
}
