/** The first pause, and the longest: each is twice the one before. */
const FIRST_SECONDS = 60
const LONGEST_SECONDS = 3600

/** So many are remembered; of the others the pause is the first one again. */
const MOST = 10_000

/** What could not be done is tried again later each time, and so holds up others less and less. */
export interface Retries {
  /** After how many seconds it is tried again. */
  failed(id: string): number
  succeeded(id: string): void
}

export function createRetries(): Retries {
  const pauses = new Map<string, number>()
  return {
    failed(id) {
      const pause = Math.min(LONGEST_SECONDS, 2 * (pauses.get(id) ?? FIRST_SECONDS / 2))
      pauses.delete(id)
      pauses.set(id, pause)
      if (pauses.size > MOST) pauses.delete(pauses.keys().next().value as string)
      return pause
    },
    succeeded(id) {
      pauses.delete(id)
    },
  }
}
