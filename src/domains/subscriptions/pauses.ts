/**
 * After how many seconds something is tried again, each time later than the time before: 24 hours in all. The last attempt
 * is followed by none.
 */
const PAUSES = [5, 30, 120, 600, 1800, 3600, 7200, 14_400, 28_800, 29_845]

/** By what part a pause may be shorter or longer, so that what failed together does not come back together. */
const JITTER = 0.1

/**
 * The seconds until the next attempt; undefined where there is none.
 *
 * @param attempts how many there have been
 * @param random from 0 to 1
 */
export function pauseAfter(attempts: number, random: number): number | undefined {
  const pause = PAUSES[attempts - 1]
  return pause === undefined ? undefined : pause * (1 + JITTER * (2 * random - 1))
}
