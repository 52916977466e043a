import type pg from 'pg'
import { codeOf, messageOf } from '#src/lib/caught.ts'
import { createProbe, type Probe } from './probe.ts'
import type { Reading } from './reading.ts'
import { createReplayLag, type ReplayLag } from './replay-lag.ts'
import { createReplayed } from './replayed.ts'
import { createReads, type ReadCounts, StrayConnectionError } from './replica-reads.ts'

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

export interface ReplicaOptions {
  /** The replica's URL, and its pool for requests. */
  url: string
  pool: pg.Pool
  /** The writer's, for what is read there instead. */
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
    failure = messageOf(error) || codeOf(error) || 'it does not answer'
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
    if (!REFUSED.test(codeOf(error) ?? '')) lag.unknown()
  }
}
