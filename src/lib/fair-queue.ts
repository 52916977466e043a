/** Who wants something done. What comes from one network has one turn among the networks, whoever asks there. */
export interface ClientKey {
  network: string
  /** Who asks within the network, such as the id of a user. */
  caller: string
}

/** Whose work it is where nobody has to be told from others. */
export const EVERYBODY: ClientKey = { network: '', caller: '' }

/**
 * Whose work it is where many may ask for the same, and where it has a place meanwhile that others wait for: one at the
 * database, or the only one there is. In the line of whoever asked first it would wait behind all else that they have
 * waiting, and others for the place. All that is named so has a turn together, as a network has.
 */
export function sharedWork(name: string): ClientKey {
  return { ...EVERYBODY, caller: name }
}

/** A client key, and what of it is next. */
interface Turn<Item> {
  clientKey: ClientKey
  item: Item
}

/** What waits, by those whom it is for. Networks take turns, and within each of them its callers: one item each. */
interface FairLine<Item> {
  /** How many items wait. */
  size(): number
  add(clientKey: ClientKey, item: Item): void
  /**
   * Takes the item whose turn it is.
   *
   * @param may whether an item may go now; of each caller only the first one is asked about
   */
  take(may?: (item: Item, clientKey: ClientKey) => boolean): Turn<Item> | undefined
  /** Takes an item out of the line of its client key; false where it is not there any more. */
  remove(clientKey: ClientKey, item: Item): boolean
  /** Takes the newest item of whoever has most: of the network, and within it of the caller. */
  takeNewestOfMost(): Item | undefined
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
 * Makes an empty line.
 *
 * @param weightOf what counts where it matters who has most: by default how many items
 */
export function createFairLine<Item>(weightOf: (item: Item) => number = () => 1): FairLine<Item> {
  // Whoever has had a turn goes to the end: a map keeps the order in which keys were set.
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

  function remove(clientKey: ClientKey, item: Item): boolean {
    const network = networks.get(clientKey.network)
    const caller = network?.callers.get(clientKey.caller)
    const at = caller?.items.indexOf(item) ?? -1
    if (!network || !caller || at === -1) return false
    const weight = weightOf(item)
    caller.items.splice(at, 1)
    caller.weight -= weight
    network.weight -= weight
    size--
    if (caller.items.length === 0) network.callers.delete(clientKey.caller)
    if (network.callers.size === 0) networks.delete(clientKey.network)
    return true
  }

  function next(may: (item: Item, clientKey: ClientKey) => boolean): Turn<Item> | undefined {
    for (const [network, { callers }] of networks) {
      for (const [caller, { items }] of callers) {
        const clientKey = { network, caller }
        const item = items[0] as Item
        if (may(item, clientKey)) return { clientKey, item }
      }
    }
    return undefined
  }

  return {
    size: () => size,
    add,
    take(may = () => true) {
      const turn = next(may)
      if (!turn) return undefined
      const { clientKey, item } = turn
      remove(clientKey, item)
      toTheEnd(networks, clientKey.network)
      const network = networks.get(clientKey.network)
      if (network) toTheEnd(network.callers, clientKey.caller)
      return turn
    },
    remove,
    takeNewestOfMost() {
      const most = heaviest(networks)
      if (!most) return undefined
      const [network, { callers }] = most
      // Whoever has nothing waiting is not in the line.
      const [caller, { items }] = heaviest(callers) as [string, Caller<Item>]
      const item = items.at(-1) as Item
      remove({ network, caller }, item)
      return item
    },
  }
}

/** Moves a key to the end of the order, where it is still there, and others are. */
function toTheEnd<Value>(map: Map<string, Value>, key: string): void {
  if (map.size < 2) return
  const value = map.get(key)
  if (value === undefined) return
  map.delete(key)
  map.set(key, value)
}

function heaviest<Value extends { weight: number }>(map: Map<string, Value>): [string, Value] | undefined {
  let found: [string, Value] | undefined
  for (const entry of map) {
    // Among equals the one that came last: it has waited least.
    if (!found || entry[1].weight >= found[1].weight) found = entry
  }
  return found
}

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
  run<Result>(clientKey: ClientKey, task: () => Promise<Result>, signal?: AbortSignal): Promise<Result>
  /**
   * The same for work that does not end where it begins: waits for the turn, and answers with what gives the
   * place back. Called again, that does nothing.
   */
  enter(clientKey: ClientKey, signal?: AbortSignal): Promise<() => void>
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

  const mayRunOneMore = (_: Entry, clientKey: ClientKey) =>
    (runningOf.get(keyOf(clientKey)) ?? 0) < runningEach &&
    (runningIn.get(clientKey.network) ?? 0) < runningEachNetwork

  function startNext(): void {
    while (running < most) {
      const turn = line.take(mayRunOneMore)
      if (!turn) return
      begin(turn.clientKey)
      turn.item.start()
    }
  }

  function begin(clientKey: ClientKey): void {
    running++
    countUp(runningOf, keyOf(clientKey))
    countUp(runningIn, clientKey.network)
  }

  function end(clientKey: ClientKey): void {
    running--
    countDown(runningOf, keyOf(clientKey))
    countDown(runningIn, clientKey.network)
    startNext()
  }

  function refuseNewest(): void {
    refused++
    line.takeNewestOfMost()?.refuse(refusal())
  }

  function turnOf(clientKey: ClientKey, signal: AbortSignal | undefined): Promise<void> {
    const turn = standIn(line, clientKey, signal)
    startNext()
    // Whoever has most makes room; that may be the one that has just come.
    if (line.size() > mostWaiting) refuseNewest()
    return turn
  }

  async function enter(clientKey: ClientKey, signal?: AbortSignal): Promise<() => void> {
    signal?.throwIfAborted()
    await turnOf(clientKey, signal)
    let inside = true
    return () => {
      if (inside) end(clientKey)
      inside = false
    }
  }

  return {
    async run(clientKey, task, signal) {
      const leave = await enter(clientKey, signal)
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
function standIn(
  line: FairLine<Entry>,
  clientKey: ClientKey,
  signal: AbortSignal | undefined,
): Promise<void> {
  return new Promise((resolve, reject) => {
    const leave = () => {
      line.remove(clientKey, entry)
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
    line.add(clientKey, entry)
  })
}

function keyOf({ network, caller }: ClientKey): string {
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

/** Bounds how many tasks are under way. Where there are too many, whoever has most of them loses the newest. */
export interface FairRoom {
  /**
   * Does a task at once.
   *
   * @throws what the room refuses with, now or while the task is under way
   */
  run<Result>(clientKey: ClientKey, task: () => Promise<Result>): Promise<Result>
  /** Nothing waits here: what there is room for has begun. */
  state(): QueueState
}

/**
 * Makes a room for so many tasks.
 *
 * @param refusal makes what a task is refused with
 */
export function createFairRoom(limit: number, refusal: () => Error): FairRoom {
  const inside = createFairLine<(error: Error) => void>()
  let refused = 0
  return {
    run: (clientKey, task) =>
      new Promise((resolve, reject) => {
        inside.add(clientKey, reject)
        const refuse = inside.size() > limit ? inside.takeNewestOfMost() : undefined
        if (refuse) refused++
        refuse?.(refusal())
        if (refuse === reject) return
        task()
          .finally(() => inside.remove(clientKey, reject))
          .then(resolve, reject)
      }),
    state: () => ({ running: inside.size(), waiting: 0, refused }),
  }
}
