/** Tells of what may happen thousands of times in a second: when it begins, and then now and then how often it did. */
export interface Recurrences {
  /** Counts one; whether it is the first, of which the caller tells. */
  isFirst(what: string): boolean
  /** Tells of what was not told of yet. */
  close(): void
}

/**
 * @param tell is told once in a while what has gone on happening, and how often. What has not happened again in
 * that time is over: it may begin anew
 * @param everyMs how long a while is
 */
export function createRecurrences(
  tell: (what: string, times: number) => void,
  everyMs = 60_000,
): Recurrences {
  const untold = new Map<string, number>()
  let timer: NodeJS.Timeout | undefined

  function tellAll(): void {
    for (const [what, times] of untold) {
      if (times > 0) tell(what, times)
      if (times > 0) untold.set(what, 0)
      else untold.delete(what)
    }
    if (untold.size === 0) stop()
  }

  function stop(): void {
    clearInterval(timer)
    timer = undefined
  }

  return {
    isFirst(what) {
      const times = untold.get(what)
      untold.set(what, times === undefined ? 0 : times + 1)
      timer ??= setInterval(tellAll, everyMs).unref()
      return times === undefined
    },
    close() {
      tellAll()
      stop()
    },
  }
}
