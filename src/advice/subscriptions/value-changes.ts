import type { Threshold, WatchedValue } from '#schemas/subscriptions.ts'

export interface ValueChange {
  input: string | null
  scenario: string | null
  /** Null without a value. */
  before: number | null
  /** Null without a value. */
  after: number | null
  /** After minus before; null where one of them is missing. */
  change: number | null
  /** The same in percent of the value before; null where that is 0 or one is missing. */
  change_percent: number | null
}

/** Differences of decimal values have no digits beyond these. */
const SIGNIFICANT_DIGITS = 12

/** The values of an input and a scenario, where null selects all. */
export function selectWatched(
  values: readonly WatchedValue[],
  { input, scenario }: { input: string | null; scenario: string | null },
): WatchedValue[] {
  return values.filter(
    (value) =>
      (input === null || value.input === input) && (scenario === null || value.scenario === scenario),
  )
}

/**
 * Finds the changes over a threshold, in the order of the current values; missing ones come last. A value that comes or
 * goes has changed, whatever the threshold.
 */
export function findChanges(
  threshold: Threshold,
  notified: readonly WatchedValue[],
  now: readonly WatchedValue[],
): ValueChange[] {
  const before = new Map(notified.map((value) => [keyOf(value), value.value]))
  const current = new Set(now.map(keyOf))
  const present = now.map((value) => compareValues(value, before.get(keyOf(value)) ?? null, value.value))
  const missing = notified
    .filter((value) => !current.has(keyOf(value)))
    .map((value) => compareValues(value, value.value, null))
  return [...present, ...missing].filter((change) => isOver(threshold, change))
}

/**
 * The notified values after a notification of changes. Smaller changes keep their old value, so that small steps add up.
 *
 * @param changes by `findChanges` of the others
 */
export function updateNotified(
  notified: readonly WatchedValue[],
  now: readonly WatchedValue[],
  changes: readonly ValueChange[],
): WatchedValue[] {
  const before = new Map(notified.map((value) => [keyOf(value), value]))
  const changed = new Set(changes.map(keyOf))
  return now.map((value) => (changed.has(keyOf(value)) ? value : (before.get(keyOf(value)) ?? value)))
}

const keyOf = ({ input, scenario }: Pick<WatchedValue, 'input' | 'scenario'>) =>
  JSON.stringify([input, scenario])

export function compareValues(
  { input, scenario }: WatchedValue,
  before: number | null,
  after: number | null,
): ValueChange {
  const change = before === null || after === null ? null : decimal(after - before)
  const change_percent = change === null || !before ? null : decimal((100 * change) / Math.abs(before))
  return { input, scenario, before, after, change, change_percent }
}

function decimal(value: number): number {
  return Number(value.toPrecision(SIGNIFICANT_DIGITS))
}

function isOver({ kind, value }: Threshold, { change, change_percent }: ValueChange): boolean {
  if (change === null) return true
  if (kind === 'absolute') return Math.abs(change) > value
  // Any change from 0 is over any percentage.
  return change_percent === null ? change !== 0 : Math.abs(change_percent) > value
}
