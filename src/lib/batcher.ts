import { type ClientKey, createFairLine, EVERYBODY } from './fair-queue.ts'

export interface BatcherOptions<Item, Result> {
  /** Answers items together: one result for each, in their order. An error is the answer to its item alone. */
  run(items: Item[]): Promise<(Result | Error)[]>
  /** So many runs may be under way at the same time. */
  concurrency: number
  /** So many items go into one run at most. */
  batch: number
  /** Whether an error has nothing to do with the items, so that asking again for fewer would not help. */
  failsAll(error: unknown): boolean
  /**
   * What an item is about, where all who ask about the same are given one answer. Each has a place of its own
   * for it in the line, and the first whose turn comes has it asked for.
   */
  keyOf?(item: Item): unknown
  /** Bounds for items that may be large, which have no keys; without it, any number of them may wait. */
  bounds?: BatcherBounds<Item>
}

interface BatcherBounds<Item> {
  bytesOf(item: Item): number
  /** So many bytes go into one run at most; what is larger goes alone. */
  batchBytes: number
  /** What may wait, not counting what is under way. */
  waitingItems: number
  waitingBytes: number
  /** What an item is refused with where it may not wait: whoever has most bytes waiting loses the newest. */
  refusal(): Error
}

export interface Batcher<Item, Result> {
  /**
   * Answers an item.
   *
   * @param client key whom it is for: they take turns for the places in a run. Without it, all are one
   */
  (item: Item, clientKey?: ClientKey): Promise<Result>
  state(): BatcherState
}

/** What waits in a batcher, and what it has done so far. */
export interface BatcherState {
  waiting: number
  /** 0 where items have no sizes. */
  waitingBytes: number
  /** Runs under way. */
  running: number
  runs: number
  /** Items that have gone into runs, and how long they had waited for that, all together. */
  items: number
  waitedMs: number
  refused: number
}

interface Waiting<Item, Result> {
  item: Item
  bytes: number
  /** When it was asked for, on the clock of `performance.now()`. */
  since: number
  /** Those who have a place in the line for it. */
  clientKeys: ClientKey[]
  /** Whether it goes out, or has: the others' turns are nothing to it any more. */
  taken: boolean
  answer: Promise<Result>
  resolve(result: Result): void
  reject(error: unknown): void
}

/**
 * Makes a function that answers one item, and gathers those that are asked for while a run is under way
 * for the next one. An item alone waits for nobody.
 *
 * A run that fails is tried again in halves, until the item that it fails for is alone: its neighbours
 * are answered.
 */
export function createBatcher<Item, Result>(options: BatcherOptions<Item, Result>): Batcher<Item, Result> {
  const { run, concurrency, failsAll } = options
  const waiting = createWaitingRoom(options)
  let running = 0
  let runs = 0
  let scheduled = false

  function schedule(): void {
    if (scheduled || running >= concurrency || waiting.isEmpty()) return
    scheduled = true
    // Requests that the event loop reads in the same turn go together.
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

/** Where items wait until they are taken for a run. */
function createWaitingRoom<Item, Result>({ batch, keyOf, bounds }: BatcherOptions<Item, Result>) {
  type Entry = Waiting<Item, Result>
  const line = createFairLine<Entry>(({ bytes }) => bytes)
  /** By their keys, until they are answered. */
  const asked = new Map<unknown, Entry>()
  let waitingBytes = 0
  let items = 0
  let waitedMs = 0
  let refused = 0

  /** What is asked about the same already, or a new one. */
  function entryOf(item: Item): Entry {
    const key = keyOf?.(item)
    const known = keyOf && asked.get(key)
    if (known) return known
    const entry = newEntry<Item, Result>(item, bounds ? bounds.bytesOf(item) : 1)
    if (keyOf) {
      asked.set(key, entry)
      const forget = () => asked.delete(key)
      entry.answer.then(forget, forget)
    }
    waitingBytes += entry.bytes
    return entry
  }

  function refuseTooMany({ waitingItems, waitingBytes: mostBytes, refusal }: BatcherBounds<Item>): void {
    while (line.size() > waitingItems || waitingBytes > mostBytes) {
      const newest = line.takeNewestOfMost() as Entry
      waitingBytes -= newest.bytes
      refused++
      newest.reject(refusal())
    }
  }

  return {
    isEmpty: () => line.size() === 0,
    state: () => ({
      waiting: line.size(),
      waitingBytes: bounds ? waitingBytes : 0,
      items,
      waitedMs,
      refused,
    }),
    add(item: Item, clientKey: ClientKey): Promise<Result> {
      const entry = entryOf(item)
      if (!entry.taken && !entry.clientKeys.some((other) => isSame(other, clientKey))) {
        entry.clientKeys.push(clientKey)
        line.add(clientKey, entry)
        if (bounds) refuseTooMany(bounds)
      }
      return entry.answer
    },
    /** The items of the next run. There may be none: the turn of one may have come in another's line. */
    takeBatch(): Entry[] {
      const next: Entry[] = []
      let room = bounds ? bounds.batchBytes : Number.POSITIVE_INFINITY
      const fits = ({ bytes }: Entry) => next.length === 0 || bytes <= room
      while (next.length < batch) {
        const entry = line.take(fits)?.item
        if (!entry) break
        if (entry.taken) continue
        entry.taken = true
        room -= entry.bytes
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

function newEntry<Item, Result>(item: Item, bytes: number): Waiting<Item, Result> {
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
