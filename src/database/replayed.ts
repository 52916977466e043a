import { setTimeout } from 'node:timers/promises'
import type pg from 'pg'
import { createProbe } from './probe.ts'
import type { ReplayLag } from './replay-lag.ts'
import { StrayConnectionError } from './replica-reads.ts'

/** Hears how far a replica has replayed, and knows which one that is: behind a balancer, connections lead to several. */
export interface Replayed {
  /** Whether it is a replica, as it said last. */
  isRecovering(): boolean
  /**
   * Asks until it has all that the primary has told of, or a time on the clock of `performance.now()` is near.
   *
   * @param heard is told after each answer
   */
  hear(until: number, heard: () => void): Promise<void>
  /** As `admit` of a replica. */
  admit(client: pg.ClientBase): Promise<void>
  close(): void
}

/** When a server's process was started, which no other one has in common with it. */
const SERVER = 'select pg_postmaster_start_time()::text as server'

const REPLAYED = `
  select recovering, case when recovering then pg_wal_lsn_diff(pg_last_wal_replay_lsn(), '0/0') end as position,
    pg_postmaster_start_time()::text as server
  from pg_is_in_recovery() as recovering`

interface Answer {
  recovering: boolean
  position: string | null
  server: string
}

/**
 * What the primary has just told takes a replica some milliseconds: it is asked again after as long, and then after
 * twice as long each time. What it answers would be as old as the look before otherwise.
 */
const FIRST_WAIT_MS = 20

/** @param onAnother is told when another replica answers than before */
export function createReplayed(url: string, lag: ReplayLag, onAnother: () => void): Replayed {
  const probe = createProbe(url)
  let recovering = false
  let server: string | undefined
  let isStray = false
  let closed = false

  /** @returns whether it has all that the primary has told of */
  async function ask(): Promise<boolean> {
    const answer = await probe.ask<Answer>(REPLAYED)
    if (server !== undefined && answer.server !== server) {
      lag.another()
      onAnother()
    }
    server = answer.server
    recovering = answer.recovering
    return !recovering || lag.replayed(Number(answer.position))
  }

  return {
    isRecovering: () => recovering,
    async hear(until, heard) {
      if (isStray) probe.renew()
      isStray = false
      for (let wait = FIRST_WAIT_MS; ; wait *= 2) {
        const hasAll = await ask()
        heard()
        if (hasAll || closed || performance.now() + wait > until) return
        await setTimeout(wait, undefined, { ref: false })
      }
    },
    async admit(client) {
      const { rows } = await client.query<Pick<Answer, 'server'>>(SERVER)
      if (rows[0]?.server === server) return
      isStray = true
      throw new StrayConnectionError('the connection leads to another replica')
    },
    close() {
      closed = true
      probe.close()
    },
  }
}
