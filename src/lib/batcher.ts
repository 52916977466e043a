export interface BatcherOptions<Item, Result> {
  /** Answers items together: one result for each, in their order. An error is the answer to its item alone. */
  run(items: Item[]): Promise<(Result | Error)[]>
  /** So many runs may be under way at the same time. */
  concurrency: number
  /** So many items go into one run at most. */
  batch: number
  /** Whether an error has nothing to do with the items, so that asking again for fewer would not help. */
  failsAll(error: unknown): boolean
  /** Bounds for items that may be large; without it, any number of them may wait. */
  bounds?: BatcherBounds<Item>
}

export interface BatcherBounds<Item> {
  bytesOf(item: Item): number
  /** So many bytes go into one run at most; what is larger goes alone. */
  batchBytes: number
  /** What may wait, not counting what is under way. */
  waitingItems: number
  waitingBytes: number
  /** What an item is refused with where it may not wait. */
  refusal(): Error
}

interface Waiting<Item, Result> {
  item: Item
  bytes: number
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
export function createBatcher<Item, Result>({
  run,
  concurrency,
  batch,
  failsAll,
  bounds,
}: BatcherOptions<Item, Result>): (item: Item) => Promise<Result> {
  let waiting: Waiting<Item, Result>[] = []
  let waitingBytes = 0
  let running = 0
  let scheduled = false

  function schedule(): void {
    if (scheduled || running >= concurrency || waiting.length === 0) return
    scheduled = true
    // Requests that the event loop reads in the same turn go together.
    setImmediate(() => {
      scheduled = false
      const next = takeBatch()
      running++
      void answer(next).finally(() => {
        running--
        schedule()
      })
      schedule()
    })
  }

  function takeBatch(): Waiting<Item, Result>[] {
    const count = bounds ? countWithin(bounds.batchBytes) : batch
    const next = waiting.slice(0, count)
    waiting = waiting.slice(count)
    for (const { bytes } of next) waitingBytes -= bytes
    return next
  }

  function countWithin(batchBytes: number): number {
    let bytes = 0
    const tooMany = waiting.findIndex((entry, index) => {
      bytes += entry.bytes
      return index === batch || (index > 0 && bytes > batchBytes)
    })
    return tooMany === -1 ? waiting.length : tooMany
  }

  async function answer(asked: Waiting<Item, Result>[]): Promise<void> {
    let results: (Result | Error)[]
    try {
      results = await run(asked.map(({ item }) => item))
    } catch (error) {
      if (asked.length === 1 || failsAll(error)) {
        for (const { reject } of asked) reject(error)
        return
      }
      const half = Math.ceil(asked.length / 2)
      await answer(asked.slice(0, half))
      await answer(asked.slice(half))
      return
    }
    asked.forEach(({ resolve, reject }, index) => {
      const result = results[index] as Result | Error
      if (result instanceof Error) reject(result)
      else resolve(result)
    })
  }

  return (item) =>
    new Promise((resolve, reject) => {
      const bytes = bounds ? bounds.bytesOf(item) : 0
      if (bounds && (waiting.length >= bounds.waitingItems || waitingBytes + bytes > bounds.waitingBytes)) {
        reject(bounds.refusal())
        return
      }
      waiting.push({ item, bytes, resolve, reject })
      waitingBytes += bytes
      schedule()
    })
}
