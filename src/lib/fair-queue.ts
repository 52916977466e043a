import { createFairLine, type FairLine, type Party } from './fair-line.ts'

export interface FairQueueLimits {
  /** So many tasks run at the same time. */
  running: number
  /** So many of them for one caller; without it, as many as there may be. */
  runningEach?: number
  /** So many of them for all callers of one network; without it, as many as there may be. */
  runningEachNetwork?: number
  /** So many more wait. */
  waiting: number
}

/** How full a queue is, and how many it has refused so far. */
export interface QueueState {
  running: number
  waiting: number
  refused: number
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
  state(): QueueState
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
  const { running: most, runningEach = most, runningEachNetwork = most, waiting: mostWaiting } = limits
  const line = createFairLine<Entry>()
  const runningOf = new Map<string, number>()
  const runningIn = new Map<string, number>()
  let running = 0
  let refused = 0

  const mayRunOneMore = (_: Entry, party: Party) =>
    (runningOf.get(keyOf(party)) ?? 0) < runningEach &&
    (runningIn.get(party.network) ?? 0) < runningEachNetwork

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
    countUp(runningOf, keyOf(party))
    countUp(runningIn, party.network)
  }

  function end(party: Party): void {
    running--
    countDown(runningOf, keyOf(party))
    countDown(runningIn, party.network)
    startNext()
  }

  function refuseNewest(): void {
    refused++
    line.takeNewestOfMost()?.refuse(refusal())
  }

  function turnOf(party: Party, signal: AbortSignal | undefined): Promise<void> {
    const turn = standIn(line, party, signal)
    startNext()
    // Whoever has most makes room; that may be the one that has just come.
    if (line.size() > mostWaiting) refuseNewest()
    return turn
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
    state: () => ({ running, waiting: line.size(), refused }),
  }
}

/** Joins the end of a line, until one is started, is refused or leaves. */
function standIn(line: FairLine<Entry>, party: Party, signal: AbortSignal | undefined): Promise<void> {
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
  })
}

function keyOf({ network, caller }: Party): string {
  return `${network}\n${caller}`
}

function countUp(counts: Map<string, number>, key: string): void {
  counts.set(key, (counts.get(key) ?? 0) + 1)
}

function countDown(counts: Map<string, number>, key: string): void {
  const left = (counts.get(key) ?? 0) - 1
  if (left > 0) counts.set(key, left)
  else counts.delete(key)
}
