import type { Socket } from 'node:net'
import { setTimeout } from 'node:timers/promises'
import { type Expression, type RawBuilder, sql } from 'kysely'
import type pg from 'pg'
import type { Database } from './database.ts'
import { inTransaction } from './sql.ts'
import type { Db, Trx } from './tables.ts'

/** Short beside the work of others. */
const LOOK_EVERY_MS = 250

/** Keep-alive: both sides notice a lost network within a minute. */
const SILENCE_MS = 30_000

/** The database notices a lost machine within a minute, not after two hours. Set for the transaction, as PgBouncer needs it. */
const KEEP_ALIVE = `
  set_config('tcp_keepalives_idle', '30', true),
  set_config('tcp_keepalives_interval', '10', true),
  set_config('tcp_keepalives_count', '3', true)`

interface WorkLock {
  /** Aborts where the lock is lost with its connection: then others may begin the same work. */
  lost: AbortSignal
  unlock(): void
}

interface Waiting {
  /** A second lock, which many may share. */
  shared?: number | undefined
  /** Called once, where another process has one of the locks. */
  onWait?: (isForShared: boolean) => void
  /** Ends the waiting. */
  signal?: AbortSignal
}

/**
 * Waits for a lock among the processes of a server; the embedded database has one process. The lock is that of an idle
 * transaction, as PgBouncer needs it, which keeps no dead rows.
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
      // A wait inside the database would keep dead rows.
      await client.query('rollback')
      await setTimeout(LOOK_EVERY_MS, undefined, { signal })
    }
    return { lost: lost.signal, unlock }
  } catch (error) {
    unlock()
    throw signal?.aborted ? signal.reason : error
  }
}

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

/** Works in a transaction; gives undefined at once where another process has the lock. */
export async function doAlone<Result>(
  db: Db,
  lock: number,
  work: (trx: Trx) => Promise<Result>,
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
