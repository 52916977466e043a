import type { Pair } from './figures.ts'

/** Groups of fewer accounts are not shown: they would tell of single farmers, and are chance. */
export const SMALLEST_GROUP = 5

/** What was observed together, and by whom. */
export interface Group {
  pairs: Pair[]
  /** Accounts; of what is given in a file, each row counts as one. */
  observers: Set<string>
}

export function newGroup(): Group {
  return { pairs: [], observers: new Set() }
}

export function addPair({ pairs, observers }: Group, pair: Pair, observer: string): void {
  pairs.push(pair)
  observers.add(observer)
}

/** Whether it tells of enough accounts. */
export function isLarge({ observers }: Group): boolean {
  return observers.size >= SMALLEST_GROUP
}

/**
 * The groups that may be shown beside all of them together: the large ones, less those of them, the smallest first, without
 * which what all have more than the ones shown would tell of too few.
 *
 * @param nowhere what is in all of them together and in no group
 */
export function shownAmong<G extends Group>(groups: readonly G[], nowhere: Group): G[] {
  const shown = groups.filter(isLarge).sort((a, b) => a.observers.size - b.observers.size)
  const hidden = new Set([nowhere, ...groups.filter((group) => !isLarge(group))].flatMap(observersOf))
  while (hidden.size > 0 && hidden.size < SMALLEST_GROUP) {
    const smallest = shown.shift()
    if (smallest === undefined) break
    for (const observer of smallest.observers) hidden.add(observer)
  }
  const left = new Set(shown)
  return groups.filter((group) => left.has(group))
}

const observersOf = ({ observers }: Group) => [...observers]
