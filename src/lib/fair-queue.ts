/** Who wants something done. What comes from one network has one turn among the networks, whoever asks there. */
export interface Party {
  network: string
  /** Who asks within the network, such as the id of a user. */
  caller: string
}

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
  // Whoever has had a turn goes to the end: a map keeps the order in which keys were set.
  const networks = new Map<string, Map<string, Entry[]>>()
  const runningOf = new Map<string, number>()
  let running = 0
  let waiting = 0

  function add({ network, caller }: Party, entry: Entry): void {
    const callers = networks.get(network) ?? new Map<string, Entry[]>()
    networks.set(network, callers)
    const line = callers.get(caller) ?? []
    callers.set(caller, line)
    line.push(entry)
    waiting++
  }

  function remove({ network, caller }: Party, entry: Entry): void {
    const callers = networks.get(network)
    const line = callers?.get(caller)
    const at = line?.indexOf(entry) ?? -1
    if (!callers || !line || at === -1) return
    line.splice(at, 1)
    waiting--
    if (line.length === 0) callers.delete(caller)
    if (callers.size === 0) networks.delete(network)
  }

  /** Whose turn it is: the first caller of the first network that may run one more. */
  function next(): { party: Party; entry: Entry } | undefined {
    for (const [network, callers] of networks) {
      for (const [caller, [entry]] of callers) {
        const party = { network, caller }
        if (entry && (runningOf.get(keyOf(party)) ?? 0) < runningEach) return { party, entry }
      }
    }
    return undefined
  }

  function startNext(): void {
    while (running < most) {
      const turn = next()
      if (!turn) return
      const { party, entry } = turn
      remove(party, entry)
      toTheEnd(networks, party.network, (callers) => toTheEnd(callers, party.caller))
      begin(party)
      entry.start()
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

  /** Makes room by refusing the newest task of whoever has most; that may be the one that has just come. */
  function refuseOneTooMany(): void {
    if (waiting <= mostWaiting) return
    const [network, callers] = longest(networks, countOf)
    const [caller, line] = longest(callers, ({ length }) => length)
    const entry = line.at(-1) as Entry
    remove({ network, caller }, entry)
    entry.refuse(refusal())
  }

  function turnOf(party: Party, signal: AbortSignal | undefined): Promise<void> {
    return new Promise((resolve, reject) => {
      const leave = () => {
        remove(party, entry)
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
      add(party, entry)
      startNext()
      refuseOneTooMany()
    })
  }

  return {
    async run(party, task, signal) {
      signal?.throwIfAborted()
      await turnOf(party, signal)
      try {
        return await task()
      } finally {
        end(party)
      }
    },
    waiting: () => waiting,
  }
}

function keyOf({ network, caller }: Party): string {
  return `${network}\n${caller}`
}

/** Moves a key to the end of the order, where it is still there. */
function toTheEnd<Value>(map: Map<string, Value>, key: string, inner?: (value: Value) => void): void {
  const value = map.get(key)
  if (value === undefined) return
  map.delete(key)
  map.set(key, value)
  inner?.(value)
}

function countOf(callers: Map<string, Entry[]>): number {
  let count = 0
  for (const { length } of callers.values()) count += length
  return count
}

function longest<Value>(map: Map<string, Value>, lengthOf: (value: Value) => number): [string, Value] {
  let found: [string, Value] | undefined
  let most = -1
  for (const entry of map) {
    const length = lengthOf(entry[1])
    // Among equals the one that came last: it has waited least.
    if (length >= most) [found, most] = [entry, length]
  }
  return found as [string, Value]
}
