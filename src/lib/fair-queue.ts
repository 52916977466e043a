/** Limits and queues count by it. All callers of one network have one share among the networks. */
export interface ClientKey {
  network: string
  /** Caller within the network, such as the id of a user. */
  caller: string
}

/** Work for which clients do not matter. */
export const EVERYBODY: ClientKey = { network: '', caller: '' }

/**
 * Client key of work that many clients share. With the key of the first client it would wait behind all other work of
 * that client, and the others with it.
 */
export function sharedWork(name: string): ClientKey {
  return { ...EVERYBODY, caller: name }
}

interface Queued<Item> {
  clientKey: ClientKey
  item: Item
}

interface Caller<Item> {
  items: Item[]
  weight: number
}

interface Network<Item> {
  callers: Map<string, Caller<Item>>
  weight: number
}

/**
 * Queue by client key: round robin of networks, and within each of them of its callers.
 *
 * @param weightOf 1 by default: the number of items counts
 */
export function createClientQueue<Item>(weightOf: (item: Item) => number = () => 1) {
  // In the order of the round robin: a map keeps the order of insertion.
  const networks = new Map<string, Network<Item>>()
  let size = 0

  function add(clientKey: ClientKey, item: Item): void {
    let network = networks.get(clientKey.network)
    if (!network) {
      network = { callers: new Map(), weight: 0 }
      networks.set(clientKey.network, network)
    }
    let caller = network.callers.get(clientKey.caller)
    if (!caller) {
      caller = { items: [], weight: 0 }
      network.callers.set(clientKey.caller, caller)
    }
    const weight = weightOf(item)
    caller.items.push(item)
    caller.weight += weight
    network.weight += weight
    size++
  }

  function remove(clientKey: ClientKey, item: Item): void {
    const network = networks.get(clientKey.network)
    const caller = network?.callers.get(clientKey.caller)
    const at = caller?.items.indexOf(item) ?? -1
    if (!network || !caller || at === -1) return
    const weight = weightOf(item)
    caller.items.splice(at, 1)
    caller.weight -= weight
    network.weight -= weight
    size--
    if (caller.items.length === 0) network.callers.delete(clientKey.caller)
    if (network.callers.size === 0) networks.delete(clientKey.network)
  }

  function find(mayLeave: (item: Item, clientKey: ClientKey) => boolean): Queued<Item> | undefined {
    for (const [network, { callers }] of networks) {
      for (const [caller, { items }] of callers) {
        const clientKey = { network, caller }
        const item = items[0] as Item
        if (mayLeave(item, clientKey)) return { clientKey, item }
      }
    }
    return undefined
  }

  return {
    size: () => size,
    add,
    /** @param mayLeave refuses the first item of a caller, and with it all others of that caller */
    take(mayLeave: (item: Item, clientKey: ClientKey) => boolean = () => true): Queued<Item> | undefined {
      const found = find(mayLeave)
      if (!found) return undefined
      const { clientKey, item } = found
      remove(clientKey, item)
      moveToEnd(networks, clientKey.network)
      const network = networks.get(clientKey.network)
      if (network) moveToEnd(network.callers, clientKey.caller)
      return found
    },
    remove,
    /** Takes the newest item of the caller with most weight in the network with most weight. */
    takeNewestOfMost(): Item | undefined {
      const most = heaviest(networks)
      if (!most) return undefined
      const [network, { callers }] = most
      // Callers without items are removed.
      const [caller, { items }] = heaviest(callers) as [string, Caller<Item>]
      const item = items.at(-1) as Item
      remove({ network, caller }, item)
      return item
    },
  }
}

function moveToEnd<Value>(map: Map<string, Value>, key: string): void {
  if (map.size < 2) return
  const value = map.get(key)
  if (value === undefined) return
  map.delete(key)
  map.set(key, value)
}

function heaviest<Value extends { weight: number }>(map: Map<string, Value>): [string, Value] | undefined {
  let found: [string, Value] | undefined
  for (const entry of map) {
    // The last of several has waited least.
    if (!found || entry[1].weight >= found[1].weight) found = entry
  }
  return found
}

/** Callbacks of a task that waits in a queue. */
export interface Waiter {
  start(): void
  refuse(error: unknown): void
}

/**
 * Waits in a queue until the waiter is started or refused.
 *
 * @param signal ends the wait with its reason
 */
export function waitIn(
  queue: ReturnType<typeof createClientQueue<Waiter>>,
  clientKey: ClientKey,
  signal?: AbortSignal,
): Promise<void> {
  return new Promise((resolve, reject) => {
    const abort = () => {
      queue.remove(clientKey, waiter)
      reject(signal?.reason)
    }
    const waiter: Waiter = {
      start() {
        signal?.removeEventListener('abort', abort)
        resolve()
      },
      refuse(error) {
        signal?.removeEventListener('abort', abort)
        reject(error)
      },
    }
    signal?.addEventListener('abort', abort, { once: true })
    queue.add(clientKey, waiter)
  })
}

export interface LimiterLimits {
  /** Tasks that run at the same time. */
  running: number
  /** Of one caller; `running` by default. */
  runningEach?: number
  /** Of all callers of one network; `running` by default. */
  runningEachNetwork?: number
  waiting: number
}

export interface QueueState {
  running: number
  waiting: number
  refused: number
}

export type Limiter = ReturnType<typeof createLimiter>

/** A limiter of running tasks; tasks without a permit wait in a queue by client key. */
export function createLimiter(limits: LimiterLimits, refusal: () => Error) {
  const { running: most, runningEach = most, runningEachNetwork = most, waiting: mostWaiting } = limits
  const queue = createClientQueue<Waiter>()
  const runningOf = new Map<string, number>()
  const runningIn = new Map<string, number>()
  let running = 0
  let refused = 0

  const mayStart = (_: Waiter, clientKey: ClientKey) =>
    (runningOf.get(keyOf(clientKey)) ?? 0) < runningEach &&
    (runningIn.get(clientKey.network) ?? 0) < runningEachNetwork

  function count(clientKey: ClientKey, by: 1 | -1): void {
    running += by
    addTo(runningOf, keyOf(clientKey), by)
    addTo(runningIn, clientKey.network, by)
  }

  function startNext(): void {
    while (running < most) {
      const next = queue.take(mayStart)
      if (!next) return
      count(next.clientKey, 1)
      next.item.start()
    }
  }

  /** Waits for a permit; gives its release, which may be called more than once. */
  async function enter(clientKey: ClientKey, signal?: AbortSignal): Promise<() => void> {
    signal?.throwIfAborted()
    const started = waitIn(queue, clientKey, signal)
    startNext()
    if (queue.size() > mostWaiting) {
      refused++
      queue.takeNewestOfMost()?.refuse(refusal())
    }
    await started
    let isReleased = false
    return () => {
      if (isReleased) return
      isReleased = true
      count(clientKey, -1)
      startNext()
    }
  }

  return {
    /**
     * Runs a task with a permit.
     *
     * @param signal ends the wait with its reason
     * @throws the refusal where too many wait: the client with most tasks loses the newest
     */
    async run<Result>(
      clientKey: ClientKey,
      task: () => Promise<Result>,
      signal?: AbortSignal,
    ): Promise<Result> {
      const release = await enter(clientKey, signal)
      try {
        return await task()
      } finally {
        release()
      }
    },
    enter,
    state: (): QueueState => ({ running, waiting: queue.size(), refused }),
  }
}

function keyOf({ network, caller }: ClientKey): string {
  return `${network}\n${caller}`
}

/** Adds to a sum by key; a sum of 0 is removed. */
export function addTo(sums: Map<string, number>, key: string, by: number): void {
  const sum = (sums.get(key) ?? 0) + by
  if (sum > 0) sums.set(key, sum)
  else sums.delete(key)
}

export type FairLimiter = ReturnType<typeof createFairLimiter>

/** A limiter without a queue: beyond the limit, the client with most running tasks loses the newest. */
export function createFairLimiter(limit: number, refusal: () => Error) {
  const running = createClientQueue<(error: Error) => void>()
  let refused = 0
  return {
    /** @throws the refusal, also while the task is running */
    run: <Result>(clientKey: ClientKey, task: () => Promise<Result>): Promise<Result> =>
      new Promise((resolve, reject) => {
        running.add(clientKey, reject)
        const refuse = running.size() > limit ? running.takeNewestOfMost() : undefined
        if (refuse) refused++
        refuse?.(refusal())
        if (refuse === reject) return
        task()
          .finally(() => running.remove(clientKey, reject))
          .then(resolve, reject)
      }),
    state: (): QueueState => ({ running: running.size(), waiting: 0, refused }),
  }
}
