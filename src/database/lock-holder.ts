import { setTimeout } from 'node:timers/promises'
import { type Kysely, sql } from 'kysely'
import type { Tables } from './tables.ts'

/** Short beside the time that a lock is waited for. */
const LOOK_EVERY_MS = 100

interface Holder {
  pid: number
  role: string
  application: string
  /** When its transaction began; null for those whose sessions we may not look into. */
  since: string | null
}

/** Sees whom a process of the database waits for. */
export interface HolderWatch {
  /** Who held what was waited for last, in words. */
  name(): string
  stop(): Promise<void>
}

/** Watches a process from another connection: the one that waits cannot say whom it waits for. */
export function watchHolder(db: Kysely<Tables>, pid: number): HolderWatch {
  const stopped = new AbortController()
  let holder: Holder | undefined

  async function watch(): Promise<void> {
    while (!stopped.signal.aborted) {
      await setTimeout(LOOK_EVERY_MS, undefined, { signal: stopped.signal })
      holder = (await findHolder(db, pid)) ?? holder
    }
  }

  // That nobody can be named is no reason to fail.
  const watching = watch().catch(() => {})
  return {
    name: () => (holder ? nameOf(holder) : 'another session'),
    stop() {
      stopped.abort()
      return watching
    },
  }
}

async function findHolder(db: Kysely<Tables>, pid: number): Promise<Holder | undefined> {
  const { rows } = await sql<Holder>`
    select
      pid,
      usename as role,
      application_name as application,
      to_char(xact_start at time zone 'UTC', 'YYYY-MM-DD HH24:MI:SS') as since
    from pg_stat_activity
    where pid = any(pg_blocking_pids(${pid}))
    order by xact_start
    limit 1`.execute(db)
  return rows[0]
}

function nameOf({ pid, role, application, since }: Holder): string {
  const details = [application, `role ${role}`, since && `in a transaction since ${since} UTC`].filter(
    Boolean,
  )
  return `process ${pid} (${details.join(', ')})`
}
