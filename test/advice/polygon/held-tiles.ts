import { sql, type Transaction } from 'kysely'
import type { Tables } from '#src/data/tables.ts'
import type { TestApp } from '#test/setup/app.ts'

/** Does something while nothing can be read of tiles. */
export async function whileHeld(
  { database }: TestApp,
  work: (trx: Transaction<Tables>) => Promise<void>,
): Promise<void> {
  await database.writer.transaction().execute(async (trx) => {
    await sql`lock table raster_tile in access exclusive mode`.execute(trx)
    await work(trx)
  })
}

/**
 * How many statements run on the server, without the one that counts them.
 *
 * @param text which they have in them; those that read tiles have this one
 */
export async function statementsRunning({ database }: TestApp, text = 'raster_tile'): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select count(*) from pg_stat_activity
    where state = 'active' and pid <> pg_backend_pid() and datname = current_database()
      and query like ${`%${text}%`}`.execute(database.writer)
  return rows[0]?.count as number
}
