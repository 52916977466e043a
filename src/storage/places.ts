/** So many may do something at a time; the others wait for a place, in the order in which they came. */
export interface Places {
  /** Whether who comes now has to wait. */
  areTaken(): boolean
  /**
   * Takes a place.
   *
   * @param signal ends the wait
   * @throws the reason of the signal, or what those who wait were told
   */
  take(signal: AbortSignal): Promise<void>
  /** Gives a place to who waits longest. */
  leave(): void
  /** Has all who wait end their wait. */
  refuse(reason: () => Error): void
}

interface Waiting {
  begin(): void
  fail(error: unknown): void
}

export function createPlaces(count: number): Places {
  const waiting = new Set<Waiting>()
  let taken = 0

  return {
    areTaken: () => taken >= count,
    take(signal) {
      if (taken < count) {
        taken++
        return Promise.resolve()
      }
      return new Promise((resolve, reject) => {
        const late = () => entry.fail(signal.reason)
        const end = () => {
          waiting.delete(entry)
          signal.removeEventListener('abort', late)
        }
        const entry: Waiting = {
          begin() {
            end()
            resolve()
          },
          fail(error) {
            end()
            reject(error)
          },
        }
        waiting.add(entry)
        signal.addEventListener('abort', late, { once: true })
      })
    },
    leave() {
      const [first] = waiting
      if (first) first.begin()
      else taken--
    },
    refuse(reason) {
      for (const { fail } of [...waiting]) fail(reason())
    },
  }
}
