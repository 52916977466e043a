import { sql } from 'kysely'
import pg from 'pg'
import type { TestApp } from '#test/setup/app.ts'

/**
 * Does something while nothing can be read of a table, or until that is released. The connection is none of the
 * service, which would end it after STATEMENT_TIMEOUT_MS.
 */
export async function whileHeld<Result>(
  { testDatabase }: Pick<TestApp, 'testDatabase'>,
  work: (client: pg.Client) => Promise<Result>,
  table = 'raster_tile',
): Promise<Result> {
  const client = new pg.Client(testDatabase.environment.DATABASE_URL)
  await client.connect()
  try {
    await client.query(`begin; lock table ${table} in access exclusive mode`)
    const result = await work(client)
    await client.query('commit')
    return result
  } finally {
    await client.end()
  }
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
