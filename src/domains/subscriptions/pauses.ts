/**
 * After how many seconds something is tried again, each time later than the time before: 24 hours in all. The last attempt
 * is followed by none.
 */
const PAUSES = [5, 30, 120, 600, 1800, 3600, 7200, 14_400, 28_800, 29_845]

/** By what part a pause may be shorter or longer, so that what failed together does not come back together. */
const JITTER = 0.1

const DAY = 86_400

/** What is left of the day may be no more than moments. */
const SHORTEST = 60

/**
 * The seconds until the next attempt; undefined where there is none. Attempts that a process has begun and not ended, since
 * it was killed, count as well: none is the last one before something has failed for about a day.
 *
 * @param attempts how many there have been
 * @param failing for how many seconds they have failed
 * @param random from 0 to 1
 */
export function pauseAfter(attempts: number, failing: number, random: number): number | undefined {
  const varied = (pause: number) => pause * (1 + JITTER * (2 * random - 1))
  const pause = PAUSES[attempts - 1]
  if (pause !== undefined) return varied(pause)
  const left = DAY - failing
  if (left <= 0) return undefined
  return Math.max(SHORTEST, Math.min(varied(PAUSES.at(-1) as number), left))
}
