/** Numbers from 0 to 1 that are the same in each run (Park and Miller, 1988). */
export function createRandom(seed: number): () => number {
  let state = seed
  return () => {
    state = (state * 48271) % 2147483647
    return state / 2147483647
  }
}
