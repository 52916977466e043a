/** Numbers from 0 to below 1 that look random and are the same for the same seed (mulberry32). */
export function randomNumbers(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

/** Draws places from 0 to below `count`, each as likely as any other. */
export function uniformPlaces(count: number, random: () => number): () => number {
  return () => Math.floor(random() * count)
}

/**
 * Draws places from 0 to below `count` by Zipf's law with exponent 1: the n-th is asked for a n-th as
 * often as the first, as with towns and web pages.
 */
export function zipfPlaces(count: number, random: () => number): () => number {
  const cumulative = new Float64Array(count)
  let sum = 0
  for (let index = 0; index < count; index++) {
    sum += 1 / (index + 1)
    cumulative[index] = sum
  }
  return () => {
    const drawn = random() * sum
    let low = 0
    let high = count - 1
    while (low < high) {
      const middle = (low + high) >> 1
      if ((cumulative[middle] as number) > drawn) high = middle
      else low = middle + 1
    }
    return low
  }
}
