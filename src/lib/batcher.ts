export interface BatcherOptions<Item, Result> {
  /** Answers items together: one result for each, in their order. */
  run(items: Item[]): Promise<Result[]>
  /** So many runs may be under way at the same time. */
  concurrency: number
  /** So many items go into one run at most. */
  batch: number
  /** Whether an error has nothing to do with the items, so that asking again for fewer would not help. */
  failsAll(error: unknown): boolean
}

interface Waiting<Item, Result> {
  item: Item
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
}: BatcherOptions<Item, Result>): (item: Item) => Promise<Result> {
  let waiting: Waiting<Item, Result>[] = []
  let running = 0
  let scheduled = false

  function schedule(): void {
    if (scheduled || running >= concurrency || waiting.length === 0) return
    scheduled = true
    // Requests that the event loop reads in the same turn go together.
    setImmediate(() => {
      scheduled = false
      const next = waiting.slice(0, batch)
      waiting = waiting.slice(batch)
      running++
      void answer(next).finally(() => {
        running--
        schedule()
      })
      schedule()
    })
  }

  async function answer(asked: Waiting<Item, Result>[]): Promise<void> {
    let results: Result[]
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
    asked.forEach(({ resolve }, index) => {
      resolve(results[index] as Result)
    })
  }

  return (item) =>
    new Promise((resolve, reject) => {
      waiting.push({ item, resolve, reject })
      schedule()
    })
}
