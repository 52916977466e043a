import type { Database } from './client.ts'

/**
 * Lets one process at a time do something on a server, for which it waits. The embedded database has but
 * one process anyway.
 *
 * @returns gives the lock back
 */
export async function lockWork(database: Database, lock: number): Promise<() => void> {
  if (database.kind === 'embedded') return () => {}
  const client = await database.pool.connect()
  // Closing the connection gives the lock back.
  const unlock = () => client.release(true)
  await client.query('select pg_advisory_lock($1)', [lock]).catch((error) => {
    unlock()
    throw error
  })
  return unlock
}
