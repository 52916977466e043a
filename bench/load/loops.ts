import { setTimeout } from 'node:timers/promises'

/** Requests that are sent again and again. */
export interface Loop {
  /** Waits for the answers under way. */
  stop(): Promise<void>
}

/** Asks from many clients at once, each again when it has its answer. */
export function keepAsking(clients: number, once: (client: number, call: number) => Promise<void>): Loop {
  let running = true
  const loops = Array.from({ length: clients }, async (_, client) => {
    for (let call = 0; running; call++) await once(client, call)
  })
  return {
    async stop() {
      running = false
      await Promise.all(loops)
    },
  }
}

/**
 * Asks at fixed times, whether or not earlier ones have been answered.
 *
 * @param times how often, where it is not stopped before
 */
export function askEvery(
  everyMs: number,
  once: () => Promise<void>,
  times = Number.POSITIVE_INFINITY,
): Loop & { ended: Promise<void> } {
  let running = true
  async function play(): Promise<void> {
    const underWay = new Set<Promise<void>>()
    const began = performance.now()
    for (let time = 1; running && time <= times; time++) {
      const asked = once().finally(() => underWay.delete(asked))
      underWay.add(asked)
      await setTimeout(Math.max(0, began + time * everyMs - performance.now()))
    }
    await Promise.all(underWay)
  }
  const ended = play()
  return {
    ended,
    async stop() {
      running = false
      await ended
    },
  }
}

/** Looks again and again whether something is true; false where it is not within a time. */
export async function until(
  isTrue: () => boolean | Promise<boolean>,
  withinMs: number,
  everyMs: number,
): Promise<boolean> {
  const late = performance.now() + withinMs
  while (!(await isTrue())) {
    if (performance.now() > late) return false
    await setTimeout(everyMs)
  }
  return true
}
