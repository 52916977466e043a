/** Places for attempts: what takes longer than its lease holds none any more. */
export interface Places {
  free(): number
  /**
   * @param freed is called once, when the attempt or its lease has ended
   * @returns ends the attempt
   */
  take(freed: () => void): () => void
}

export function createPlaces(count: number, leaseMs: number): Places {
  const taken = new Set<NodeJS.Timeout>()
  return {
    free: () => count - taken.size,
    take(freed) {
      const end = () => {
        clearTimeout(lease)
        if (taken.delete(lease)) freed()
      }
      const lease = setTimeout(end, leaseMs).unref()
      taken.add(lease)
      return end
    },
  }
}
