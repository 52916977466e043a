import { ApiError } from '#src/errors.ts'
import type { Threshold, WatchedValue } from '#src/extensions/fields/schemas.ts'
import { conditionMember } from '#src/lookup/conditions.ts'

export interface ValueChange {
  input: string | null
  scenario: string | null
  condition?: string
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

/** Null selects all. */
export interface WatchedLayers {
  input: string | null
  scenario: string | null
}

export function selectWatched<Layer extends WatchedLayers>(
  values: readonly Layer[],
  { input, scenario }: WatchedLayers,
): Layer[] {
  return values.filter(
    (value) =>
      (input === null || value.input === input) && (scenario === null || value.scenario === scenario),
  )
}

/** @throws {ApiError} INVALID_PARAMETERS where none of the layers is selected, with the names that there are */
export function refuseUnknownLayer(layers: readonly WatchedLayers[], watched: WatchedLayers): void {
  if (selectWatched(layers, watched).length > 0) return
  const { input } = watched
  const field = input !== null && !layers.some((layer) => layer.input === input) ? 'input' : 'scenario'
  const names = [...new Set(layers.map((layer) => layer[field]))].filter((name) => name !== null)
  if (names.length === 0) throw ApiError.invalid(field, 'must be left out: the product has none')
  throw ApiError.invalid(field, `must be one of ${names.join(', ')}, or left out`, names)
}

/** Changes over a threshold. A value that comes or goes has changed, whatever the threshold. */
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

/** Smaller changes keep their old value, so that small steps add up. */
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

export function compareValues(value: WatchedValue, before: number | null, after: number | null): ValueChange {
  const change = before === null || after === null ? null : decimal(after - before)
  const change_percent = change === null || !before ? null : decimal((100 * change) / Math.abs(before))
  const { input, scenario } = value
  return { input, scenario, ...conditionMember(value), before, after, change, change_percent }
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
