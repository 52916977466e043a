import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { formatError, readErrorCode } from '#src/lib/promises.ts'
import type { ReplicaState } from './database.ts'
import { APPLICATION } from './pool.ts'
import { createReads, StrayConnectionError } from './replica-reads.ts'

/** An answer takes a millisecond, and a new connection some ten. */
const DEADLINE_MS = 400

type Probe = ReturnType<typeof createProbe>

/** A connection for a repeated question. A late answer cuts it, and the next question has a new one. */
function createProbe(url: string) {
  let client: pg.Client | undefined
  let closed = false

  function cut(): void {
    client?.connection.stream.destroy()
    client = undefined
  }

  async function answerTo<Row>(statement: string): Promise<Row> {
    if (closed) throw new Error('the probe is closed')
    if (!client) {
      client = new pg.Client({ connectionString: url, application_name: `${APPLICATION} probe` })
      client.on('error', () => {})
      await client.connect()
    }
    return (await client.query(statement)).rows[0]
  }

  return {
    /** Gives one row. */
    async ask<Row>(statement: string): Promise<Row> {
      let deadline: NodeJS.Timeout | undefined
      const late = new Promise<never>((_, reject) => {
        deadline = setTimeout(() => {
          // A busy process reads an answer that is there first.
          setImmediate(() => reject(new Error(`no answer within ${DEADLINE_MS} ms`)))
        }, DEADLINE_MS).unref()
      })
      try {
        return await Promise.race([answerTo<Row>(statement), late])
      } catch (error) {
        cut()
        throw error
      } finally {
        clearTimeout(deadline)
      }
    },
    /** The next question has a new connection. */
    renew: cut,
    close() {
      closed = true
      cut()
    },
  }
}

/** Position in the write-ahead log, in bytes. */
type LogPosition = number

type ReplayLag = ReturnType<typeof createReplayLag>

/**
 * Bounds the age of a replica's answers by positions in the log alone: a commit before the primary named a position is on
 * the replica once that has replayed it. That is exact while the primary is idle, where the last replayed transaction grows
 * old, and where the replica is cut off, which has replayed all that it has received.
 *
 * Times are on the clock of `performance.now()`.
 */
export function createReplayLag(maxMs: number) {
  /** Positions of the primary, the oldest first; older ones than the bound are of no use. */
  let positions: { at: number; position: LogPosition }[] = []
  let newest: { at: number; position: LogPosition } | undefined
  let upToDateAt = Number.NEGATIVE_INFINITY
  let primaryAnswers = false

  return {
    /** The primary had written so far, or further. */
    written(at: number, position: LogPosition): void {
      primaryAnswers = true
      newest = { at, position }
      positions = [...positions.filter((one) => at - one.at <= maxMs), newest]
    },
    /** The primary does not answer. */
    unknown(): void {
      primaryAnswers = false
    },
    /** The replica has replayed so far; true where that is all. */
    replayed(position: LogPosition): boolean {
      const next = positions.findIndex((one) => one.position > position)
      const done = next === -1 ? positions : positions.slice(0, next)
      upToDateAt = done.at(-1)?.at ?? upToDateAt
      positions = next === -1 ? [] : positions.slice(next)
      return next === -1
    },
    /** Another replica answers. */
    another(): void {
      upToDateAt = Number.NEGATIVE_INFINITY
      positions = newest ? [newest] : []
    },
    /** The most age of an answer; infinite where no position is replayed. */
    milliseconds: (now: number) => now - upToDateAt,
    /** Without an answer of the primary, a replica that has replayed all of its positions is as good as any. */
    isBounded: (now: number) => now - upToDateAt <= maxMs || (!primaryAnswers && positions.length === 0),
  }
}

/** The start of a server's process, which is not that of others. */
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

/** A replica gets a new position within some milliseconds: the pause doubles from here. */
const FIRST_WAIT_MS = 20

/** Follows the replay of a replica. Behind a balancer, connections lead to several. */
function createReplayed(url: string, lag: ReplayLag, onAnother: () => void) {
  const probe = createProbe(url)
  let recovering = false
  let server: string | undefined
  let isStray = false
  let closed = false

  /** Gives whether it has replayed all positions. */
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
    /** Whether it was a replica at its last answer. */
    isRecovering: () => recovering,
    /** Asks until it has replayed all positions, or the time is near; calls back after each answer. */
    async hear(until: number, heard: () => void): Promise<void> {
      if (isStray) probe.renew()
      isStray = false
      for (let wait = FIRST_WAIT_MS; ; wait *= 2) {
        const hasAll = await ask()
        heard()
        if (hasAll || closed || performance.now() + wait > until) return
        await sleep(wait, undefined, { ref: false })
      }
    },
    /** Refuses a connection to another replica, whose lag is unknown; the next probe goes where new connections lead. */
    async admit(client: pg.ClientBase): Promise<void> {
      const { rows } = await client.query<Pick<Answer, 'server'>>(SERVER)
      // A connection may be earlier than the first answer to a probe.
      server ??= rows[0]?.server
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

interface ReplicaOptions {
  /** The replica's URL and pool. */
  url: string
  pool: pg.Pool
  /** For reads instead of it. */
  writerUrl: string
  writerPool: pg.Pool
  /** An older replica is not used. */
  maxLagMs: number
}

/** With the deadline of an answer, a replica that hangs is left within a second. */
const LOOK_EVERY_MS = 500

/** SQLSTATEs of a refused connection. */
const REFUSED = /^(28|53)/

const WRITTEN = `select pg_wal_lsn_diff(pg_current_wal_flush_lsn(), '0/0') as position`

/**
 * Reads go to a replica while it answers and its lag is bounded, and otherwise to the writer. One that fails is left at
 * once, one that hangs within a second; the reads there run again on the writer. Each look may find it well again.
 */
export function createReplica(options: ReplicaOptions) {
  const primary = createProbe(options.writerUrl)
  const lag = createReplayLag(options.maxLagMs)
  const replayed = createReplayed(options.url, lag, () => {
    reads.cut(new StrayConnectionError('another replica answers'))
  })
  const listeners: ((state: ReplicaState) => void)[] = []
  let announced: ReplicaState['name'] = 'used'
  let failure: string | undefined
  let failedAt = Number.NEGATIVE_INFINITY
  let timer: NodeJS.Timeout | undefined
  let closed = false

  function state(): ReplicaState {
    const now = performance.now()
    const milliseconds = lag.milliseconds(now)
    const recovering = replayed.isRecovering()
    const lagMs = recovering && Number.isFinite(milliseconds) ? Math.round(milliseconds) : null
    if (failure !== undefined) return { name: 'unavailable', lagMs, reason: failure }
    return { name: recovering && !lag.isBounded(now) ? 'behind' : 'used', lagMs }
  }

  function announce(): void {
    const current = state()
    if (current.name === announced) return
    announced = current.name
    for (const listener of listeners) listener(current)
  }

  function fail(error: unknown): void {
    failure = formatError(error) || readErrorCode(error) || 'it does not answer'
    failedAt = performance.now()
    announce()
  }

  async function look(): Promise<void> {
    const begun = performance.now()
    await hearWritten(primary, lag, begun)
    if (closed) return
    try {
      await replayed.hear(begun + LOOK_EVERY_MS, () => {
        // A failure since then stays.
        if (failedAt < begun) failure = undefined
        announce()
      })
    } catch (error) {
      if (closed) return
      fail(error)
      reads.cut(error)
    }
    if (!closed) timer = setTimeout(look, Math.max(0, begun + LOOK_EVERY_MS - performance.now())).unref()
  }

  const firstLook = look()
  const reads = createReads({
    pool: options.pool,
    writerPool: options.writerPool,
    isUsed: () => firstLook.then(() => state().name === 'used'),
    fail,
  })

  return {
    state,
    /** Calls back at each change of the name, and now where it is not `used`. */
    onChange(listener: (state: ReplicaState) => void): void {
      listeners.push(listener)
      if (announced !== 'used') listener(state())
    },
    beginReading: reads.begin,
    beginReadingAtPrimary: reads.beginOnWriter,
    counts: reads.counts,
    admit: replayed.admit,
    close() {
      closed = true
      clearTimeout(timer)
      primary.close()
      replayed.close()
    },
  }
}

async function hearWritten(primary: Probe, lag: ReplayLag, begun: number): Promise<void> {
  try {
    const { position } = await primary.ask<{ position: string }>(WRITTEN)
    lag.written(begun, Number(position))
  } catch (error) {
    // A primary that refuses a connection may still take writes, and the bound holds.
    if (!REFUSED.test(readErrorCode(error) ?? '')) lag.unknown()
  }
}
