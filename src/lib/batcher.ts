import { addTo } from './limiter.ts'

export interface BatcherOptions<Item, Result> {
  /** Gives one result for each item, in their order; an error is for its item alone. */
  run(items: Item[]): Promise<(Result | Error)[]>
  /** Runs at the same time. */
  concurrency: number
  /** Items of a run. */
  batch: number
  /** Whether an error does not depend on the items, so that smaller runs would fail too. */
  failsAll(error: unknown): boolean
  /** Items of the same key share one result. */
  keyOf?(item: Item): unknown
  /** For items without keys that may be large. */
  bounds?: BatcherBounds<Item>
}

interface BatcherBounds<Item> {
  /** Of an item and its request. */
  bytesOf(item: Item): number
  /** Bytes of a run; a larger item has a run of its own. */
  batchBytes: number
  /** Bytes that wait; an owner has half of them at most. */
  waitingBytes: number
  ownerOf(item: Item): string
  /** Makes the error of an item beyond the bounds. */
  refusal(): Error
}

export type Batcher<Item, Result> = ReturnType<typeof createBatcher<Item, Result>>

export type BatcherState = ReturnType<Batcher<unknown, unknown>['state']>

interface Waiting<Item, Result> {
  item: Item
  /** On the clock of `performance.now()`. */
  since: number
  answer: Promise<Result>
  resolve(result: Result): void
  reject(error: unknown): void
}

/** Gathers items during a run for the next one. A failed run is repeated in halves until the item that fails is alone. */
export function createBatcher<Item, Result>(options: BatcherOptions<Item, Result>) {
  const { run, concurrency, batch, failsAll, keyOf, bounds } = options
  const room = bounds && createRoom(bounds)
  const waiting: Waiting<Item, Result>[] = []
  /** By their keys, until they are answered. */
  const byKey = new Map<unknown, Promise<Result>>()
  /** `running` at this moment; `waitedMs` is the sum of all waits. */
  const counts = { running: 0, runs: 0, items: 0, waitedMs: 0, refused: 0 }
  let scheduled = false

  function schedule(): void {
    if (scheduled || counts.running >= concurrency || waiting.length === 0) return
    scheduled = true
    // Requests of the same round of the event loop go together.
    setImmediate(() => {
      scheduled = false
      counts.running++
      counts.runs++
      void answer(takeBatch()).finally(() => {
        counts.running--
        schedule()
      })
      schedule()
    })
  }

  function takeBatch(): Waiting<Item, Result>[] {
    const next = waiting.splice(0, room ? room.countFitting(waiting, batch) : batch)
    const now = performance.now()
    for (const { item, since } of next) {
      room?.add(item, -1)
      counts.waitedMs += now - since
    }
    counts.items += next.length
    return next
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

  function ask(item: Item): Promise<Result> {
    const key = keyOf?.(item)
    const shared = keyOf && byKey.get(key)
    if (shared) return shared
    if (room?.isFullFor(item)) {
      counts.refused++
      return Promise.reject(bounds?.refusal())
    }
    const entry = createEntry<Item, Result>(item)
    if (keyOf) {
      byKey.set(key, entry.answer)
      const forget = () => byKey.delete(key)
      entry.answer.then(forget, forget)
    }
    room?.add(item, 1)
    waiting.push(entry)
    schedule()
    return entry.answer
  }
  const state = () => ({ ...counts, waiting: waiting.length, waitingBytes: room?.bytes() ?? 0 })
  return Object.assign(ask, { state })
}

function createRoom<Item>({ bytesOf, batchBytes, waitingBytes, ownerOf }: BatcherBounds<Item>) {
  const ofOwners = new Map<string, number>()
  let bytes = 0
  return {
    bytes: () => bytes,
    isFullFor(item: Item): boolean {
      const more = bytesOf(item)
      const ofOwner = ofOwners.get(ownerOf(item)) ?? 0
      return bytes + more > waitingBytes || ofOwner + more > waitingBytes / 2
    },
    add(item: Item, sign: 1 | -1): void {
      const more = sign * bytesOf(item)
      bytes += more
      addTo(ofOwners, ownerOf(item), more)
    },
    /** The items at the begin of a queue that go into one run: one at least. */
    countFitting(waiting: readonly { item: Item }[], batch: number): number {
      let left = batchBytes
      const end = waiting.findIndex(({ item }, index) => {
        left -= bytesOf(item)
        return index === batch || (left < 0 && index > 0)
      })
      return end === -1 ? waiting.length : end
    },
  }
}

function createEntry<Item, Result>(item: Item): Waiting<Item, Result> {
  let resolve!: (result: Result) => void
  let reject!: (error: unknown) => void
  const answer = new Promise<Result>((onResult, onError) => {
    resolve = onResult
    reject = onError
  })
  return { item, since: performance.now(), answer, resolve, reject }
}
