import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { formatError, readErrorCode } from '#src/lib/promises.ts'
import { createReads, type ReadCounts, type Reading, StrayConnectionError } from './replica-reads.ts'

/** A connection of its own for a question that is asked again and again, which says in time whether there is an answer. */
interface Probe {
  /** Asks for one row; where none comes in time, the connection is cut, and the next question has a new one. */
  ask<Row>(statement: string): Promise<Row>
  /** Has the next question go over a new connection. */
  renew(): void
  close(): void
}

/** An answer takes a millisecond, and a new connection some ten. */
const DEADLINE_MS = 400

function createProbe(url: string): Probe {
  let client: pg.Client | undefined
  let closed = false

  function cut(): void {
    client?.connection.stream.destroy()
    client = undefined
  }

  async function answerTo<Row>(statement: string): Promise<Row> {
    if (closed) throw new Error('the probe is closed')
    if (!client) {
      client = new pg.Client({ connectionString: url, application_name: 'agro-advisory probe' })
      client.on('error', () => {})
      await client.connect()
    }
    return (await client.query(statement)).rows[0]
  }

  return {
    async ask<Row>(statement: string) {
      let deadline: NodeJS.Timeout | undefined
      const late = new Promise<never>((_, reject) => {
        deadline = setTimeout(() => {
          // Where this process was busy, the answer may be there and unread: it is read before this is said.
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
    renew: cut,
    close() {
      closed = true
      cut()
    },
  }
}

/** How far a primary has written its log, or a replica has replayed it, in bytes. */
type LogPosition = number

/**
 * Finds out how old what a replica answers may be, from positions in the log alone: everything that was
 * committed on the primary when it told a position is on the replica once that has replayed it. That is exact
 * while the primary is idle, when the time of the last transaction that was replayed grows old, and where the
 * replica gets nothing any more, when it has replayed all that it knows of.
 */
interface ReplayLag {
  /** The primary had written so far, or further, at a time on the clock of `performance.now()`. */
  written(at: number, position: LogPosition): void
  /** The primary does not say how far it has written. */
  unknown(): void
  /** The replica has replayed so far; says whether that is all that the primary has told of. */
  replayed(position: LogPosition): boolean
  /** Another replica takes the place of the one before: what that has replayed says nothing of it. */
  another(): void
  /** How old what the replica answers may be, at most; infinite where it has replayed nothing that is known. */
  milliseconds(now: number): number
  /**
   * Whether that is within the bound. While the primary does not answer, nobody else knows better: then the
   * replica is, if it has replayed all that the primary has told of.
   */
  isBounded(now: number): boolean
}

export function createReplayLag(maxMs: number): ReplayLag {
  /** What the primary has told, the oldest first; of no use when it is older than the bound. */
  let told: { at: number; position: LogPosition }[] = []
  let newest: { at: number; position: LogPosition } | undefined
  let upToDateAt = Number.NEGATIVE_INFINITY
  let primaryAnswers = false

  return {
    written(at, position) {
      primaryAnswers = true
      newest = { at, position }
      told = [...told.filter((one) => at - one.at <= maxMs), newest]
    },
    unknown() {
      primaryAnswers = false
    },
    replayed(position) {
      const next = told.findIndex((one) => one.position > position)
      const done = next === -1 ? told : told.slice(0, next)
      upToDateAt = done.at(-1)?.at ?? upToDateAt
      told = next === -1 ? [] : told.slice(next)
      return next === -1
    },
    another() {
      upToDateAt = Number.NEGATIVE_INFINITY
      told = newest ? [newest] : []
    },
    milliseconds: (now) => now - upToDateAt,
    isBounded: (now) => now - upToDateAt <= maxMs || (!primaryAnswers && told.length === 0),
  }
}

/** Hears how far a replica has replayed, and knows which one that is: behind a balancer, connections lead to several. */
interface Replayed {
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
function createReplayed(url: string, lag: ReplayLag, onAnother: () => void): Replayed {
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
        await sleep(wait, undefined, { ref: false })
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

/** What a replica is there for now. */
interface ReplicaState {
  /** Reads go there while it is `used`, and else to the writer: while it is `behind`, or `unavailable`. */
  name: 'used' | 'behind' | 'unavailable'
  /** How old what it answers may be, at most; null where that is not known, as of a server that is no replica. */
  lagMs: number | null
  /** Why it is unavailable, for operators. */
  reason?: string
}

/** A replica that reads may go to, looked after in the background. */
export interface Replica {
  state(): ReplicaState
  /** Is told each time that the name of the state changes, and at once where it is not `used`. */
  onChange(listener: (state: ReplicaState) => void): void
  beginReading(): Reading
  /** For what the replica lacks: by the connections to the writer that take its place. */
  beginReadingAtPrimary(): Reading
  /** What has been read so far by readings that may be there. */
  counts: Readonly<ReadCounts>
  /**
   * Refuses a connection that leads to another replica than the one that is looked after, whose lag is known; then that
   * is looked for anew, where new connections lead.
   *
   * @throws {StrayConnectionError} where it does
   */
  admit(client: pg.ClientBase): Promise<void>
  close(): void
}

interface ReplicaOptions {
  /** The replica's URL, and its pool for requests. */
  url: string
  pool: pg.Pool
  /** The writer's pool, for reads that cannot use the replica. */
  writerUrl: string
  writerPool: pg.Pool
  /** A replica whose answers may be older is not read from. */
  maxLagMs: number
}

/** Twice a second: with the deadline of an answer, a replica that hangs is left within a second. */
const LOOK_EVERY_MS = 500

/** SQLSTATEs of a server that takes no more connections, or not this one. */
const REFUSED = /^(28|53)/

const WRITTEN = `select pg_wal_lsn_diff(pg_current_wal_flush_lsn(), '0/0') as position`

/**
 * Looks after a replica: reads go there while it answers and is not too far behind, and otherwise to the
 * writer. One that fails is left at once, one that hangs within a second; what was being read there is read
 * again on the writer. Each look asks how it is, and it is used again when it is well.
 */
export function createReplica(options: ReplicaOptions): Replica {
  const primary = createProbe(options.writerUrl)
  const lag = createReplayLag(options.maxLagMs)
  const replayed = createReplayed(options.url, lag, () => {
    reads.cut(new StrayConnectionError('another replica answers'))
  })
  const changes = createTeller(state)
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

  function fail(error: unknown): void {
    failure = formatError(error) || readErrorCode(error) || 'it does not answer'
    failedAt = performance.now()
    changes.tell()
  }

  async function look(): Promise<void> {
    const begun = performance.now()
    await hearWritten(primary, lag, begun)
    if (closed) return
    try {
      await replayed.hear(begun + LOOK_EVERY_MS, () => {
        // What has failed meanwhile may not be mended.
        if (failedAt < begun) failure = undefined
        changes.tell()
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
    async isUsed() {
      await firstLook
      return state().name === 'used'
    },
    fail,
  })

  return {
    state,
    onChange: changes.onChange,
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

/** Tells of each change of a state's name. */
function createTeller(state: () => ReplicaState) {
  const listeners: ((state: ReplicaState) => void)[] = []
  let told: ReplicaState['name'] = 'used'
  return {
    tell() {
      const current = state()
      if (current.name === told) return
      told = current.name
      for (const listener of listeners) listener(current)
    },
    onChange(listener: (state: ReplicaState) => void) {
      listeners.push(listener)
      if (told !== 'used') listener(state())
    },
  }
}

/** Asks the primary how far it has written. */
async function hearWritten(primary: Probe, lag: ReplayLag, begun: number): Promise<void> {
  try {
    const { position } = await primary.ask<{ position: string }>(WRITTEN)
    lag.written(begun, Number(position))
  } catch (error) {
    // Who refuses a connection is there, and others may write: then the bound holds.
    if (!REFUSED.test(readErrorCode(error) ?? '')) lag.unknown()
  }
}
