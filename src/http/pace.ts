/** How slow may be who we wait for. */
export interface PaceLimits {
  /** So many bytes a second at least, */
  bytesPerSecond: number
  /** as a mean over so long: nothing at all may come for as long as that. */
  windowMs: number
}

/** Judges by the bytes that have come how fast somebody is while we wait. */
export interface Pace {
  /**
   * Whether somebody has been too slow by now.
   *
   * @param waiting whether we have been waiting since the last call: times when we have not are nobody's slowness
   * @param bytes how many have come, in all
   */
  isTooSlow(waiting: boolean, bytes: number, now: number): boolean
}

/**
 * Makes what judges a pace. While we wait, what may still be missing shrinks by the slowest pace and grows again by
 * what comes: a sum that needs no list of times. Much that comes at once, as it does through the buffers of a
 * kernel, is no credit beyond the window.
 */
export function createPace({ bytesPerSecond, windowMs }: PaceLimits): Pace {
  const most = (bytesPerSecond * windowMs) / 1000
  let missing = most
  let last: { bytes: number; now: number } | undefined
  return {
    isTooSlow(waiting, bytes, now) {
      if (!waiting) {
        missing = most
        last = undefined
        return false
      }
      if (last) {
        missing -= (bytesPerSecond * (now - last.now)) / 1000
        missing = Math.min(most, missing + bytes - last.bytes)
      }
      last = { bytes, now }
      return missing < 0
    },
  }
}
