/** Limits and queues count by it. All callers of one network have one share among the networks. */
export interface ClientKey {
  network: string
  /** Caller within the network, such as the id of a user. */
  caller: string
}

/** For work of the service. */
export const EVERYBODY: ClientKey = { network: '', caller: '' }

/** For work that many clients share: with the key of the first client it would wait behind all other work of that client. */
export function sharedWork(name: string): ClientKey {
  return { ...EVERYBODY, caller: name }
}

interface Waiter {
  clientKey: ClientKey
  amount: number
  start(): void
  refuse(error: unknown): void
}

type Callers = Map<string, Waiter[]>

/** Round robin of networks, and within each of them of its callers. */
export function createClientQueue() {
  // In the order of the round robin: a map keeps the order of insertion.
  const networks = new Map<string, Callers>()
  let size = 0

  function remove(waiter: Waiter): void {
    const { network, caller } = waiter.clientKey
    const callers = networks.get(network)
    const waiters = callers?.get(caller)
    const at = waiters?.indexOf(waiter) ?? -1
    if (!callers || !waiters || at === -1) return
    waiters.splice(at, 1)
    size--
    if (waiters.length === 0) callers.delete(caller)
    if (callers.size === 0) networks.delete(network)
  }

  return {
    size: () => size,
    /** @param mayLeave refuses the first task of a caller, and with it all others of that caller */
    take(mayLeave: (waiter: Waiter) => boolean = () => true): Waiter | undefined {
      for (const [network, callers] of networks) {
        for (const [caller, waiters] of callers) {
          const [first] = waiters as [Waiter]
          if (!mayLeave(first)) continue
          remove(first)
          moveToEnd(callers, caller)
          moveToEnd(networks, network)
          return first
        }
      }
      return undefined
    },
    /** Takes the newest task of the caller with most tasks in the network with most. */
    takeNewestOfMost(): Waiter | undefined {
      const count = (callers: Callers) => [...callers.values()].reduce((sum, { length }) => sum + length, 0)
      const callers = findLargest(networks, count)
      const newest = callers && findLargest(callers, ({ length }) => length)?.at(-1)
      if (newest) remove(newest)
      return newest
    },
    /** @param signal ends the wait with its reason */
    wait(clientKey: ClientKey, signal?: AbortSignal, amount = 1): Promise<void> {
      return new Promise((resolve, reject) => {
        const leave = () => {
          remove(waiter)
          reject(signal?.reason)
        }
        const waiter: Waiter = {
          clientKey,
          amount,
          start() {
            signal?.removeEventListener('abort', leave)
            resolve()
          },
          refuse(error) {
            signal?.removeEventListener('abort', leave)
            reject(error)
          },
        }
        signal?.addEventListener('abort', leave, { once: true })
        const { network, caller } = clientKey
        const callers: Callers = networks.get(network) ?? new Map()
        const waiters = callers.get(caller) ?? []
        waiters.push(waiter)
        networks.set(network, callers.set(caller, waiters))
        size++
      })
    },
  }
}

function moveToEnd<Value>(map: Map<string, Value>, key: string): void {
  const value = map.get(key)
  if (value === undefined || !map.delete(key)) return
  map.set(key, value)
}

/** Of several, the last has waited least. */
function findLargest<Value>(map: Map<string, Value>, measure: (value: Value) => number): Value | undefined {
  return [...map.values()].sort((a, b) => measure(a) - measure(b)).at(-1)
}

export interface LimiterLimits {
  /** Tasks that run at the same time, or bytes that they hold. */
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

/** What a task holds; a released permit holds nothing more. */
export interface Permit {
  readonly amount: number
  /** Never waits: false where there is no room, or after the release. */
  growTo(amount: number): boolean
  release(): void
}

export type Limiter = ReturnType<typeof createLimiter>

/** Limits the tasks that run, or what they hold: in all, for a caller and for a network. Other tasks wait in a queue. */
export function createLimiter(limits: LimiterLimits, refusal: () => Error) {
  const queue = createClientQueue()
  const shares = createShares(limits)
  const { fits, count, total } = shares
  let refused = 0

  function startNext(): void {
    for (let next = queue.take(fits); next; next = queue.take(fits)) {
      count(next.clientKey, next.amount)
      next.start()
    }
  }

  /** @throws the refusal where too many wait: the client with most tasks loses the newest */
  async function wait(clientKey: ClientKey, amount: number, signal?: AbortSignal): Promise<void> {
    const started = queue.wait(clientKey, signal, amount)
    if (queue.size() > limits.waiting) {
      refused++
      queue.takeNewestOfMost()?.refuse(refusal())
    }
    await started
  }

  /** Undefined where it begins at once: most tasks need no promise for that. */
  function begin(clientKey: ClientKey, amount: number, signal?: AbortSignal): Promise<void> | undefined {
    signal?.throwIfAborted()
    if (!fits({ clientKey, amount })) return wait(clientKey, amount, signal)
    count(clientKey, amount)
    return undefined
  }

  function leave(clientKey: ClientKey, amount: number): void {
    count(clientKey, -amount)
    startNext()
  }

  /**
   * Waits for a permit.
   *
   * @param signal ends the wait with its reason
   * @throws the refusal where too many wait: the client with most tasks loses the newest
   */
  async function hold(clientKey: ClientKey, amount: number, signal?: AbortSignal): Promise<Permit> {
    await begin(clientKey, amount, signal)
    return createPermit(clientKey, amount, shares, leave)
  }

  /** Gives the release of a permit, which may be called more than once. */
  const enter = async (clientKey: ClientKey, signal?: AbortSignal) =>
    (await hold(clientKey, 1, signal)).release

  return {
    hold,
    enter,
    async run<Result>(
      clientKey: ClientKey,
      task: () => Promise<Result>,
      signal?: AbortSignal,
    ): Promise<Result> {
      const started = begin(clientKey, 1, signal)
      if (started) await started
      try {
        return await task()
      } finally {
        leave(clientKey, 1)
      }
    },
    state: (): QueueState => ({ running: total(), waiting: queue.size(), refused }),
  }
}

function createPermit(
  clientKey: ClientKey,
  amount: number,
  { fits, count }: ReturnType<typeof createShares>,
  leave: (clientKey: ClientKey, amount: number) => void,
): Permit {
  let held = amount
  let isReleased = false
  return {
    get amount() {
      return held
    },
    growTo(to) {
      const by = to - held
      if (by <= 0) return true
      if (isReleased || !fits({ clientKey, amount: by })) return false
      held = to
      count(clientKey, by)
      return true
    },
    release() {
      isReleased = true
      const before = held
      held = 0
      leave(clientKey, before)
    },
  }
}

function createShares({ running: most, runningEach = most, runningEachNetwork = most }: LimiterLimits) {
  const ofCallers = new Map<string, number>()
  const ofNetworks = new Map<string, number>()
  let running = 0
  return {
    total: () => running,
    fits: ({ clientKey: { network, caller }, amount }: Pick<Waiter, 'clientKey' | 'amount'>) =>
      running + amount <= most &&
      (ofCallers.get(caller) ?? 0) + amount <= runningEach &&
      (ofNetworks.get(network) ?? 0) + amount <= runningEachNetwork,
    count({ network, caller }: ClientKey, amount: number): void {
      running += amount
      addTo(ofCallers, caller, amount)
      addTo(ofNetworks, network, amount)
    },
  }
}

/** Adds to a sum by key; a sum of 0 is removed. */
export function addTo(sums: Map<string, number>, key: string, by: number): void {
  const sum = (sums.get(key) ?? 0) + by
  if (sum > 0) sums.set(key, sum)
  else sums.delete(key)
}

/** Waits until a long computation may go on; most often it returns at once. */
export type Pause = () => Promise<void>

export type SliceQueue = ReturnType<typeof createEventLoopQueue>

/**
 * Slices of the event loop: a short task waits for one slice of long ones at most.
 *
 * @param milliseconds time of all long computations in one round of the event loop
 */
export function createEventLoopQueue(milliseconds: number) {
  const queue = createClientQueue()
  const callbacks: (() => void)[] = []
  let ending = false
  /** End of the slice; undefined before the first computation of a round. */
  let until: number | undefined

  function isTimeLeft(): boolean {
    const now = performance.now()
    if (until !== undefined) return now < until
    until = now + milliseconds
    endSoon()
    return true
  }

  function endSoon(): void {
    if (ending) return
    ending = true
    setImmediate(() => {
      ending = false
      until = undefined
      for (const callback of callbacks.splice(0)) callback()
      goOn()
    })
  }

  function goOn(): void {
    if (queue.size() === 0 || !isTimeLeft()) return
    queue.take()?.start()
    // After its next pause or wait.
    queueMicrotask(() => process.nextTick(goOn))
  }

  return {
    /** Waits for a slice. The computation calls again before that has passed. */
    async next(clientKey: ClientKey, signal?: AbortSignal): Promise<void> {
      signal?.throwIfAborted()
      if (queue.size() === 0 && isTimeLeft()) return
      await queue.wait(clientKey, signal)
    },
    waiting: queue.size,
    /** Calls back at the end of this round of the event loop, before long computations go on. */
    atEnd(callback: () => void): void {
      callbacks.push(callback)
      endSoon()
    },
  }
}

/** Runs a few tasks at the same time; yields results, and a failure of `tasks`, in order. */
export async function* inOrder<Result>(
  tasks: AsyncIterable<() => Promise<Result>>,
  concurrency: number,
): AsyncGenerator<Result> {
  const running: Promise<Result>[] = []
  for await (const task of withFailureAsTask(tasks)) {
    const result = task()
    // Its failure is thrown in order, or not at all after an earlier one.
    result.catch(() => {})
    running.push(result)
    if (running.length === concurrency) yield running.shift() as Promise<Result>
  }
  yield* running
}

async function* withFailureAsTask<Result>(
  tasks: AsyncIterable<() => Promise<Result>>,
): AsyncGenerator<() => Promise<Result>> {
  try {
    yield* tasks
  } catch (error) {
    yield () => Promise.reject(error)
  }
}
