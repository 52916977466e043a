import { sql } from 'kysely'
import type { Database } from '#src/data/client.ts'

/** The clock is the database's: what happened is made to have happened earlier. */
export async function letPass({ writer }: Database, seconds: number): Promise<void> {
  await sql`
    update auth_throttle set
      first_failure_at = first_failure_at - make_interval(secs => ${seconds}),
      last_failure_at = last_failure_at - make_interval(secs => ${seconds}),
      blocked_until = blocked_until - make_interval(secs => ${seconds})`.execute(writer)
}

/** The longest delay in seconds that somebody has been given. */
export async function longestDelay({ writer }: Database): Promise<number> {
  const { rows } = await sql<{ seconds: number }>`
    select max(extract(epoch from blocked_until - last_failure_at))::float8 as seconds
    from auth_throttle`.execute(writer)
  return rows[0]?.seconds as number
}
