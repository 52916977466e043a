import type { Extent } from './grid.ts'

/**
 * Cuts a ring off at the sides of a rectangle (Sutherland and Hodgman, 1974). Where it falls apart the
 * parts stay connected along the sides, there and back, which encloses nothing.
 *
 * @returns the ring itself where it lies inside, and an empty one where it lies outside
 */
export function clip(ring: Float64Array, { west, south, east, north }: Extent): Float64Array {
  let numbers: ArrayLike<number> = ring
  const sides: [axis: 0 | 1, sign: 1 | -1, limit: number][] = [
    [0, 1, west],
    [0, -1, -east],
    [1, 1, south],
    [1, -1, -north],
  ]
  for (const [axis, sign, limit] of sides) {
    const beyond = (at: number) => sign * (numbers[at + axis] as number) - limit
    let outside = false
    for (let at = 0; at < numbers.length && !outside; at += 2) outside = beyond(at) < 0
    if (!outside) continue
    const result: number[] = []
    for (let at = 0; at + 3 < numbers.length; at += 2) {
      const from = beyond(at)
      const to = beyond(at + 2)
      if (from >= 0) result.push(numbers[at] as number, numbers[at + 1] as number)
      if (from >= 0 === to >= 0) continue
      const part = from / (from - to)
      const crossing = [0, 1].map((side) => {
        const start = numbers[at + side] as number
        return side === axis ? sign * limit : start + part * ((numbers[at + 2 + side] as number) - start)
      })
      result.push(...crossing)
    }
    if (result.length === 0) return new Float64Array()
    numbers = [...result, result[0] as number, result[1] as number]
  }
  return numbers === ring ? ring : Float64Array.from(numbers)
}
