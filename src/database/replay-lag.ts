/** How far a primary has written its log, or a replica has replayed it, in bytes. */
export type LogPosition = number

/**
 * Finds out how old what a replica answers may be, from positions in the log alone: everything that was
 * committed on the primary when it told a position is on the replica once that has replayed it. That is exact
 * while the primary is idle, when the time of the last transaction that was replayed grows old, and where the
 * replica gets nothing any more, when it has replayed all that it knows of.
 */
export interface ReplayLag {
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
