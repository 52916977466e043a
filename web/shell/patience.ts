import { ApiFailure } from './api.ts'

/** How often what is refused for now is asked again. */
const ATTEMPTS = 5

/** Before the first of them, in milliseconds; before each further one it is twice as long. */
const FIRST_WAIT = 1000

/** However long the service says. */
const LONGEST_WAIT = 60_000

interface Retries {
  /** Which of its answers are for now; 0 is none. */
  statuses?: number[]
  wait?: (milliseconds: number) => Promise<unknown>
}

/** Asks again where the service refuses for now, later each time, and as late as it says. */
export async function patiently<T>(
  work: () => Promise<T>,
  { statuses = [503], wait = pause }: Retries = {},
): Promise<T> {
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

function pause(milliseconds: number) {
  return new Promise((resolve) => setTimeout(resolve, milliseconds))
}
