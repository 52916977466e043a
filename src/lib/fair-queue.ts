import { createFairLine, type Party } from './fair-line.ts'

export type { Party } from './fair-line.ts'

export interface FairQueueLimits {
  /** So many tasks run at the same time. */
  running: number
  /** So many of them for one caller; without it, as many as there may be. */
  runningEach?: number
  /** So many more wait. */
  waiting: number
}

/** Runs tasks a few at a time. Those who have many waiting wait for themselves, and not others for them. */
export interface FairQueue {
  /**
   * Runs a task when its turn comes.
   *
   * @param signal takes the task out again, with its reason, while it waits
   * @throws what the queue refuses with, where too many wait: whoever has most waiting loses the newest
   */
  run<Result>(party: Party, task: () => Promise<Result>, signal?: AbortSignal): Promise<Result>
  /**
   * The same for work that does not end where it begins: waits for the turn, and answers with what gives the
   * place back. Called again, that does nothing.
   */
  enter(party: Party, signal?: AbortSignal): Promise<() => void>
  /** How many tasks wait. */
  waiting(): number
}

interface Entry {
  start(): void
  refuse(error: unknown): void
}

/**
 * Makes a queue in which networks take turns, and within each of them its callers: one task each (round robin).
 *
 * @param refusal makes what a task is refused with where too many wait
 */
export function createFairQueue(limits: FairQueueLimits, refusal: () => Error): FairQueue {
  const { running: most, runningEach = most, waiting: mostWaiting } = limits
  const line = createFairLine<Entry>()
  const runningOf = new Map<string, number>()
  let running = 0

  const mayRunOneMore = (_: Entry, party: Party) => (runningOf.get(keyOf(party)) ?? 0) < runningEach

  function startNext(): void {
    while (running < most) {
      const turn = line.take(mayRunOneMore)
      if (!turn) return
      begin(turn.party)
      turn.item.start()
    }
  }

  function begin(party: Party): void {
    running++
    const key = keyOf(party)
    runningOf.set(key, (runningOf.get(key) ?? 0) + 1)
  }

  function end(party: Party): void {
    running--
    const key = keyOf(party)
    const left = (runningOf.get(key) ?? 0) - 1
    if (left > 0) runningOf.set(key, left)
    else runningOf.delete(key)
    startNext()
  }

  function turnOf(party: Party, signal: AbortSignal | undefined): Promise<void> {
    return new Promise((resolve, reject) => {
      const leave = () => {
        line.remove(party, entry)
        reject(signal?.reason)
      }
      const entry: Entry = {
        start: () => {
          signal?.removeEventListener('abort', leave)
          resolve()
        },
        refuse: (error) => {
          signal?.removeEventListener('abort', leave)
          reject(error)
        },
      }
      signal?.addEventListener('abort', leave, { once: true })
      line.add(party, entry)
      startNext()
      // Whoever has most makes room; that may be the one that has just come.
      if (line.size() > mostWaiting) line.takeNewestOfMost()?.refuse(refusal())
    })
  }

  async function enter(party: Party, signal?: AbortSignal): Promise<() => void> {
    signal?.throwIfAborted()
    await turnOf(party, signal)
    let inside = true
    return () => {
      if (inside) end(party)
      inside = false
    }
  }

  return {
    async run(party, task, signal) {
      const leave = await enter(party, signal)
      try {
        return await task()
      } finally {
        leave()
      }
    },
    enter,
    waiting: line.size,
  }
}

function keyOf({ network, caller }: Party): string {
  return `${network}\n${caller}`
}
