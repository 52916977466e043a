interface PendingCountsOptions<Count> {
  keyOf: (count: Count) => string
  merge: (sum: Count, count: Count) => void
  write: (counts: Count[]) => Promise<void>
  /** Distinct counts; more are dropped. */
  most?: number
}

/** Counts in memory that wait to be written; those of a failed write wait for the next one. */
export function createPendingCounts<Count>(options: PendingCountsOptions<Count>) {
  const { keyOf, merge, write, most = Number.POSITIVE_INFINITY } = options
  let pending = new Map<string, Count>()
  let writing: Promise<void> = Promise.resolve()

  function add(count: Count): void {
    const key = keyOf(count)
    const sum = pending.get(key)
    if (sum) merge(sum, count)
    else if (pending.size < most) pending.set(key, count)
  }

  async function writeAll(): Promise<void> {
    if (pending.size === 0) return
    const counts = [...pending.values()]
    pending = new Map()
    try {
      await write(counts)
    } catch (error) {
      // A failed write may have been done: counts are rather written twice than never.
      for (const count of counts) add(count)
      throw error
    }
  }

  return {
    add,
    flush(): Promise<void> {
      writing = writing.catch(() => {}).then(writeAll)
      return writing
    },
  }
}
