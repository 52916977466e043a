import type { Asked, What } from './load/plan.ts'

/**
 * How long whoever asks again and again waited for a right answer at most, of what was not answered at times: from a
 * request until the first answer to this one or one that was sent later. It is infinite where none came any more.
 */
export function longestStop(asked: Asked[], what: readonly What[]): number {
  return Math.max(0, ...what.map((one) => longestStopOf(asked.filter((other) => other.what === one))))
}

function longestStopOf(asked: Asked[]): number {
  let longest = 0
  let firstAnswer = Number.POSITIVE_INFINITY
  for (const { at, ms, status, wrong } of asked.toSorted((a, b) => b.at - a.at)) {
    // That the first of two is still worked on is no failure.
    if (status === 409) continue
    if (status >= 200 && status <= 299 && wrong === undefined) firstAnswer = Math.min(firstAnswer, at + ms)
    longest = Math.max(longest, firstAnswer - at)
  }
  return longest
}
