import type { ThresholdKind, WatchedValue } from '#schemas/subscriptions.ts'

/** What becomes of a layer at a place. */
export interface ValueChange {
  input: string | null
  scenario: string | null
  /** Null where there was no value. */
  before: number | null
  /** Null where there is none. */
  after: number | null
  /** After minus before; null where one of them is missing. */
  change: number | null
  /** The same in percent of the value before; null where that is 0 or one of them is missing. */
  change_percent: number | null
}

/** Differences of decimal values have no digits beyond these. */
const SIGNIFICANT_DIGITS = 12

/**
 * The values that somebody watches.
 *
 * @param input null for all
 * @param scenario null for all
 */
export function watchedAmong(
  values: readonly WatchedValue[],
  { input, scenario }: { input: string | null; scenario: string | null },
): WatchedValue[] {
  return values.filter(
    (value) =>
      (input === null || value.input === input) && (scenario === null || value.scenario === scenario),
  )
}

/**
 * What has changed by more than a threshold, in the order in which values are told now; those that are gone come last. A
 * value that comes or goes has changed, whatever the threshold.
 */
export function changesBeyond(
  threshold: { kind: ThresholdKind; value: number },
  told: readonly WatchedValue[],
  now: readonly WatchedValue[],
): ValueChange[] {
  const before = new Map(told.map((value) => [keyOf(value), value.value]))
  const kept = new Set(now.map(keyOf))
  const present = now.map((value) => changeOf(value, before.get(keyOf(value)) ?? null, value.value))
  const gone = told
    .filter((value) => !kept.has(keyOf(value)))
    .map((value) => changeOf(value, value.value, null))
  return [...present, ...gone].filter((change) => isBeyond(threshold, change))
}

/**
 * The values that were told last, once changes are told: of what has changed by less, still those of before, so that small
 * steps add up.
 *
 * @param changes what `changesBeyond` makes of the others
 */
export function toldAfter(
  told: readonly WatchedValue[],
  now: readonly WatchedValue[],
  changes: readonly ValueChange[],
): WatchedValue[] {
  const before = new Map(told.map((value) => [keyOf(value), value]))
  const changed = new Set(changes.map(keyOf))
  return now.map((value) => (changed.has(keyOf(value)) ? value : (before.get(keyOf(value)) ?? value)))
}

const keyOf = ({ input, scenario }: Pick<WatchedValue, 'input' | 'scenario'>) =>
  JSON.stringify([input, scenario])

function changeOf(
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

function isBeyond(
  { kind, value }: { kind: ThresholdKind; value: number },
  { change, change_percent }: ValueChange,
): boolean {
  if (change === null) return true
  if (kind === 'absolute') return Math.abs(change) > value
  // Of 0 anything is more than any part.
  return change_percent === null ? change !== 0 : Math.abs(change_percent) > value
}
