import { ApiFailure } from './api.ts'

/** How often what is refused for now is asked again. */
const ATTEMPTS = 5

/** Before the first of them, in milliseconds; before each further one it is twice as long. */
const FIRST_WAIT = 1000

/** However long the service says. */
const LONGEST_WAIT = 60_000

/**
 * Asks again where the service refuses for now, later each time, and as late as it says.
 *
 * @template T
 * @param {() => Promise<T>} work
 * @param {object} [how]
 * @param {number[]} [how.statuses] which of its answers are for now; 0 is none
 * @param {(milliseconds: number) => Promise<unknown>} [how.wait]
 * @returns {Promise<T>}
 */
export async function patiently(work, { statuses = [503], wait = pause } = {}) {
  for (let attempt = 1; ; attempt++) {
    try {
      return await work()
    } catch (error) {
      if (!(error instanceof ApiFailure) || !statuses.includes(error.status) || attempt === ATTEMPTS)
        throw error
      const least = FIRST_WAIT * 2 ** (attempt - 1)
      await wait(Math.min(Math.max(least, error.retryAfter * 1000), LONGEST_WAIT))
    }
  }
}

/** @param {number} milliseconds */
function pause(milliseconds) {
  return new Promise((resolve) => setTimeout(resolve, milliseconds))
}
