import { type ClientKey, createClientQueue, EVERYBODY } from './fair-queue.ts'

export interface BatcherOptions<Item, Result> {
  /** Gives one result for each item, in their order; an error is for its item alone. */
  run(items: Item[]): Promise<(Result | Error)[]>
  /** Runs at the same time. */
  concurrency: number
  /** Items of a run. */
  batch: number
  /** Whether an error does not depend on the items, so that smaller runs would fail too. */
  failsAll(error: unknown): boolean
  /** Items of the same key share one result. Each client has a slot in the queue for it, and the first one counts. */
  keyOf?(item: Item): unknown
  /** For items without keys that may be large. */
  bounds?: BatcherBounds<Item>
}

interface BatcherBounds<Item> {
  bytesOf(item: Item): number
  /** Bytes of a run; a larger item has a run of its own. */
  batchBytes: number
  waitingItems: number
  waitingBytes: number
  /** Makes the error of the newest item of the client with most bytes, where too many wait. */
  refusal(): Error
}

export interface Batcher<Item, Result> {
  (item: Item, clientKey?: ClientKey): Promise<Result>
  state(): BatcherState
}

export interface BatcherState {
  waiting: number
  /** 0 without bounds. */
  waitingBytes: number
  /** Runs at this moment. */
  running: number
  runs: number
  /** Items of all runs, and the sum of their waits. */
  items: number
  waitedMs: number
  refused: number
}

interface Waiting<Item, Result> {
  item: Item
  bytes: number
  /** On the clock of `performance.now()`. */
  since: number
  /** Clients with a slot in the queue for it. */
  clientKeys: ClientKey[]
  /** Whether a run has it: its other slots are void. */
  taken: boolean
  answer: Promise<Result>
  resolve(result: Result): void
  reject(error: unknown): void
}

/**
 * Gathers items during a run for the next one; a single item does not wait. A failed run is repeated in halves until the
 * item that fails is alone.
 */
export function createBatcher<Item, Result>(options: BatcherOptions<Item, Result>): Batcher<Item, Result> {
  const { run, concurrency, failsAll } = options
  const waiting = createWaitingItems(options)
  let running = 0
  let runs = 0
  let scheduled = false

  function schedule(): void {
    if (scheduled || running >= concurrency || waiting.isEmpty()) return
    scheduled = true
    // Requests of the same turn of the event loop go together.
    setImmediate(() => {
      scheduled = false
      const next = waiting.takeBatch()
      if (next.length === 0) return
      running++
      runs++
      void answer(next).finally(() => {
        running--
        schedule()
      })
      schedule()
    })
  }

  async function answer(entries: Waiting<Item, Result>[]): Promise<void> {
    let results: (Result | Error)[]
    try {
      results = await run(entries.map(({ item }) => item))
    } catch (error) {
      if (entries.length === 1 || failsAll(error)) {
        for (const { reject } of entries) reject(error)
        return
      }
      const half = Math.ceil(entries.length / 2)
      await answer(entries.slice(0, half))
      await answer(entries.slice(half))
      return
    }
    entries.forEach(({ resolve, reject }, index) => {
      const result = results[index] as Result | Error
      if (result instanceof Error) reject(result)
      else resolve(result)
    })
  }

  function ask(item: Item, clientKey = EVERYBODY): Promise<Result> {
    const answered = waiting.add(item, clientKey)
    schedule()
    return answered
  }
  return Object.assign(ask, { state: () => ({ ...waiting.state(), running, runs }) })
}

function createWaitingItems<Item, Result>({ batch, keyOf, bounds }: BatcherOptions<Item, Result>) {
  type Entry = Waiting<Item, Result>
  const queue = createClientQueue<Entry>(({ bytes }) => bytes)
  /** By their keys, until they are answered. */
  const byKey = new Map<unknown, Entry>()
  let waitingBytes = 0
  let items = 0
  let waitedMs = 0
  let refused = 0

  function findOrCreateEntry(item: Item): Entry {
    const key = keyOf?.(item)
    const shared = keyOf && byKey.get(key)
    if (shared) return shared
    const entry = createEntry<Item, Result>(item, bounds ? bounds.bytesOf(item) : 1)
    if (keyOf) {
      byKey.set(key, entry)
      const forget = () => byKey.delete(key)
      entry.answer.then(forget, forget)
    }
    waitingBytes += entry.bytes
    return entry
  }

  function refuseTooMany({ waitingItems, waitingBytes: mostBytes, refusal }: BatcherBounds<Item>): void {
    while (queue.size() > waitingItems || waitingBytes > mostBytes) {
      const newest = queue.takeNewestOfMost() as Entry
      waitingBytes -= newest.bytes
      refused++
      newest.reject(refusal())
    }
  }

  return {
    isEmpty: () => queue.size() === 0,
    state: () => ({
      waiting: queue.size(),
      waitingBytes: bounds ? waitingBytes : 0,
      items,
      waitedMs,
      refused,
    }),
    add(item: Item, clientKey: ClientKey): Promise<Result> {
      const entry = findOrCreateEntry(item)
      if (!entry.taken && !entry.clientKeys.some((other) => isSame(other, clientKey))) {
        entry.clientKeys.push(clientKey)
        queue.add(clientKey, entry)
        if (bounds) refuseTooMany(bounds)
      }
      return entry.answer
    },
    /** Empty where all slots are void. */
    takeBatch(): Entry[] {
      const next: Entry[] = []
      let bytesLeft = bounds ? bounds.batchBytes : Number.POSITIVE_INFINITY
      const fits = ({ bytes }: Entry) => next.length === 0 || bytes <= bytesLeft
      while (next.length < batch) {
        const entry = queue.take(fits)?.item
        if (!entry) break
        if (entry.taken) continue
        entry.taken = true
        bytesLeft -= entry.bytes
        waitingBytes -= entry.bytes
        next.push(entry)
      }
      const now = performance.now()
      for (const { since } of next) waitedMs += now - since
      items += next.length
      return next
    },
  }
}

function createEntry<Item, Result>(item: Item, bytes: number): Waiting<Item, Result> {
  let resolve!: (result: Result) => void
  let reject!: (error: unknown) => void
  const answer = new Promise<Result>((onResult, onError) => {
    resolve = onResult
    reject = onError
  })
  return { item, bytes, since: performance.now(), clientKeys: [], taken: false, answer, resolve, reject }
}

function isSame(one: ClientKey, other: ClientKey): boolean {
  return one.network === other.network && one.caller === other.caller
}
