import type pg from 'pg'
import { codeOf, messageOf } from '#src/lib/caught.ts'
import { isDatabaseUnavailable } from './failures.ts'
import { createProbe, type Probe } from './probe.ts'
import type { Reading } from './reading.ts'
import { createReplayLag, type ReplayLag } from './replay-lag.ts'

/** What a replica is there for now. */
export interface ReplicaState {
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
  close(): void
}

export interface ReplicaOptions {
  /** The replica's URL, and its pool for requests. */
  url: string
  pool: pg.Pool
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

const REPLAYED = `
  select recovering, case when recovering then pg_wal_lsn_diff(pg_last_wal_replay_lsn(), '0/0') end as position
  from pg_is_in_recovery() as recovering`

/**
 * Looks after a replica: reads go there while it answers and is not too far behind, and otherwise to the
 * writer. One that fails is left at once, one that hangs within a second; what was being read there is read
 * again on the writer. Each look asks how it is, and it is used again when it is well.
 */
export function createReplica(options: ReplicaOptions): Replica {
  const primary = createProbe(options.writerUrl)
  const replica = createProbe(options.url)
  const lag = createReplayLag(options.maxLagMs)
  const listeners: ((state: ReplicaState) => void)[] = []
  let told: ReplicaState['name'] = 'used'
  let failure: string | undefined
  let failedAt = Number.NEGATIVE_INFINITY
  let recovering = false
  let timer: NodeJS.Timeout | undefined
  let closed = false

  function state(): ReplicaState {
    const now = performance.now()
    const milliseconds = lag.milliseconds(now)
    const lagMs = recovering && Number.isFinite(milliseconds) ? Math.round(milliseconds) : null
    if (failure !== undefined) return { name: 'unavailable', lagMs, reason: failure }
    return { name: recovering && !lag.isBounded(now) ? 'behind' : 'used', lagMs }
  }

  function tell(): void {
    const current = state()
    if (current.name === told) return
    told = current.name
    for (const listener of listeners) listener(current)
  }

  function fail(error: unknown): void {
    failure = messageOf(error) || codeOf(error) || 'it does not answer'
    failedAt = performance.now()
    tell()
  }

  async function look(): Promise<void> {
    const begun = performance.now()
    await hearWritten(primary, lag, begun)
    if (closed) return
    try {
      const answer = await replica.ask<{ recovering: boolean; position: string | null }>(REPLAYED)
      recovering = answer.recovering
      lag.replayed(Number(answer.position))
      // What has failed meanwhile may not be mended.
      if (failedAt < begun) failure = undefined
      tell()
    } catch (error) {
      if (closed) return
      fail(error)
      reads.cut(error as Error)
    }
    if (!closed) timer = setTimeout(look, Math.max(0, begun + LOOK_EVERY_MS - performance.now())).unref()
  }

  const firstLook = look()
  const reads = createReads(options, {
    async isUsed() {
      await firstLook
      return state().name === 'used'
    },
    fail,
  })

  return {
    state,
    onChange(listener) {
      listeners.push(listener)
      if (told !== 'used') listener(state())
    },
    beginReading: reads.begin,
    close() {
      closed = true
      clearTimeout(timer)
      primary.close()
      replica.close()
    },
  }
}

/** What is being read, on the replica or on the writer. */
function createReads(
  { pool, writerPool }: ReplicaOptions,
  { isUsed, fail }: { isUsed: () => Promise<boolean>; fail: (error: unknown) => void },
) {
  const connections = connectionsOf(pool)
  /** Ends the wait of all that is being read on the replica. */
  const underWay = new Set<(error: Error) => void>()

  function runThere<Result>(part: (pool: pg.Pool) => Promise<Result>): Promise<Result> {
    return new Promise((resolve, reject) => {
      underWay.add(reject)
      part(pool)
        .then(resolve, reject)
        .finally(() => underWay.delete(reject))
    })
  }

  return {
    begin(): Reading {
      let mayBeThere = true
      return {
        async run(part) {
          mayBeThere &&= await isUsed()
          if (!mayBeThere) return part(writerPool)
          try {
            return await runThere(part)
          } catch (error) {
            if (!mayBeOfReplica(error)) throw error
            if (isLost(error)) fail(error)
            mayBeThere = false
            return part(writerPool)
          }
        },
      }
    },

    /** Gives up all that is under way on the replica: it is begun anew on the writer. */
    cut(error: Error) {
      for (const end of underWay) end(error)
      for (const client of connections) client.connection.stream.destroy(error)
    },
  }
}

/** The open connections of a pool. */
function connectionsOf(pool: pg.Pool): Set<pg.Client> {
  const connections = new Set<pg.Client>()
  pool.on('connect', (client) => connections.add(client as unknown as pg.Client))
  pool.on('remove', (client) => connections.delete(client as unknown as pg.Client))
  return connections
}

const STATEMENT_TIMEOUT = '57014'

/**
 * SQLSTATEs of what a replica has for itself: conflicts of a statement with what is replayed, a schema that is
 * behind, resources that are used up, files that cannot be read.
 */
const OF_REPLICA = /^(40|42|53|55|58|XX00[12])/

/** Whether the writer may do what a replica has failed in. It would take as long for a statement that takes too long. */
function mayBeOfReplica(error: unknown): boolean {
  const code = codeOf(error)
  if (code === STATEMENT_TIMEOUT) return false
  return isDatabaseUnavailable(error) || (code !== undefined && OF_REPLICA.test(code))
}

/** Whether the replica is not there any more, rather than busy with something else. */
function isLost(error: unknown): boolean {
  return (
    !OF_REPLICA.test(codeOf(error) ?? '') && messageOf(error) !== 'timeout exceeded when trying to connect'
  )
}

/** Asks the primary how far it has written. */
async function hearWritten(primary: Probe, lag: ReplayLag, begun: number): Promise<void> {
  try {
    const { position } = await primary.ask<{ position: string }>(WRITTEN)
    lag.written(begun, Number(position))
  } catch (error) {
    // Who refuses a connection is there, and others may write: then the bound holds.
    if (!REFUSED.test(codeOf(error) ?? '')) lag.unknown()
  }
}
