/**
 * Makes a reader of something that changes now and then: what it gives was loaded less than `maxAgeMs` ago,
 * for all who ask meanwhile by one call of `load`. With an age of 0 each call loads. A load that has failed
 * is not kept.
 */
export function createFreshValue<Value>(load: () => Promise<Value>, maxAgeMs: number): () => Promise<Value> {
  let latest: { begun: number; value: Promise<Value> } | undefined

  return () => {
    const now = performance.now()
    if (latest && now - latest.begun < maxAgeMs) return latest.value
    const loading = { begun: now, value: load() }
    latest = loading
    loading.value.catch(() => {
      if (latest === loading) latest = undefined
    })
    return loading.value
  }
}
