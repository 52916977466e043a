import type { Pair } from './figures.ts'

/** Groups of fewer accounts are not shown: they would tell of single farmers, and are chance. */
export const SMALLEST_GROUP = 5

/** An area of a level. */
export interface District {
  code: string
  name: string
}

/** What was observed once. */
export interface Observed {
  pair: Pair
  /** An account; of what is given in a file, each row counts as one. */
  observer: string
  /** The areas that it lies in, by their levels from 0 on; undefined for none. */
  areas: readonly (District | undefined)[]
}

/** What was observed in an area. */
export interface DistrictGroup {
  district: District
  observed: Observed[]
}

/** Whether it tells of enough accounts. */
export function isLarge(observed: readonly Observed[]): boolean {
  return observersOf(observed).size >= SMALLEST_GROUP
}

/**
 * The areas of a level that may be shown beside all of them together and beside those of the levels above: however what is
 * shown is subtracted from each other, no fewer accounts are left than a group must have.
 *
 * What is observed is divided from level to level: into the areas that are shown, and what is left of each part. An area is
 * shown as a whole or not at all, so one that reaches into several parts is not.
 */
export function shownAt(level: number, all: readonly Observed[]): DistrictGroup[] {
  let parts: (readonly Observed[])[] = [all]
  let shown: DistrictGroup[] = []
  for (let at = 0; at <= level; at++) {
    const wholes = groupsAt(at, all)
    const divided = parts.map((part) => dividePart(part, wholes, at))
    shown = divided.flatMap((part) => part.shown)
    parts = divided.flatMap((part) => [...part.shown.map(({ observed }) => observed), part.rest])
  }
  return shown
}

/** What was observed in each area of a level, by the codes of the areas. */
export function groupsAt(level: number, all: readonly Observed[]): Map<string, DistrictGroup> {
  const groups = new Map<string, DistrictGroup>()
  for (const one of all) {
    const district = one.areas[level]
    if (!district) continue
    const group = groups.get(district.code)
    if (group) group.observed.push(one)
    else groups.set(district.code, { district, observed: [one] })
  }
  return groups
}

function dividePart(part: readonly Observed[], wholes: ReadonlyMap<string, DistrictGroup>, level: number) {
  const inPart = [...groupsAt(level, part).values()]
  const shown = shownAmong(
    inPart.filter(({ district, observed }) => wholes.get(district.code)?.observed.length === observed.length),
    part,
  )
  const told = new Set(shown.flatMap(({ observed }) => observed))
  return { shown, rest: part.filter((one) => !told.has(one)) }
}

/** The large ones, less those of them, the smallest first, without which the others of a part would be too few. */
function shownAmong(groups: readonly DistrictGroup[], part: readonly Observed[]): DistrictGroup[] {
  const sized = groups.map((group) => ({ group, observers: observersOf(group.observed) }))
  const shown = sized
    .filter(({ observers }) => observers.size >= SMALLEST_GROUP)
    .sort((a, b) => a.observers.size - b.observers.size)
  const told = new Set(shown.flatMap(({ group }) => group.observed))
  const hidden = observersOf(part.filter((one) => !told.has(one)))
  while (hidden.size > 0 && hidden.size < SMALLEST_GROUP) {
    const smallest = shown.shift()
    if (smallest === undefined) break
    for (const observer of smallest.observers) hidden.add(observer)
  }
  return shown.map(({ group }) => group)
}

function observersOf(observed: readonly Observed[]): Set<string> {
  return new Set(observed.map(({ observer }) => observer))
}
