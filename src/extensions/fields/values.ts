import type { Advice } from '#src/advice/polygon/answer.ts'
import { ApiError } from '#src/errors.ts'
import type { Threshold, ValueChange, WatchedValue } from '#src/extensions/changes/schemas.ts'
import { round } from '#src/lib/round.ts'
import type { ReleaseLabels } from '#src/lookup/entries.ts'
import { conditionMember } from '#src/lookup/layers.ts'

/** Differences of decimal values have no digits beyond these. */
const SIGNIFICANT_DIGITS = 12

/** Null selects all. */
export interface WatchedLayers {
  input: string | null
  scenario: string | null
}

/** The layers of a region that are compared, and by how much they change before that counts. */
export interface Watch extends WatchedLayers {
  threshold: Threshold
}

/**
 * The values of a region as its answer has them; layers without one are left out.
 *
 * @param values in the order of the layers, NaN for none
 */
export function listValues({ layers }: ReleaseLabels, values: readonly number[]): WatchedValue[] {
  return layers.flatMap((layer, index) => {
    const value = values[index] as number
    const { input, scenario, decimals } = layer
    if (Number.isNaN(value)) return []
    return [{ input, scenario, ...conditionMember(layer), value: round(value, decimals) }]
  })
}

/** The same of an area or a polygon; none without advice. */
export function listMeans(advice: Advice | null): WatchedValue[] {
  if (!advice) return []
  const means = advice.statistics.layers.map((layer) => layer?.mean ?? Number.NaN)
  return listValues(advice.release, means)
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

/** Changes of watched layers over the threshold. A value that comes or goes has changed, whatever the threshold. */
export function findChanges(
  watch: Watch,
  before: readonly WatchedValue[],
  after: readonly WatchedValue[],
): ValueChange[] {
  const [old, now] = [selectWatched(before, watch), selectWatched(after, watch)]
  const oldValues = new Map(old.map((value) => [keyOf(value), value.value]))
  const current = new Set(now.map(keyOf))
  return [
    ...now.map((value) => compareValues(value, oldValues.get(keyOf(value)) ?? null, value.value)),
    ...old
      .filter((value) => !current.has(keyOf(value)))
      .map((value) => compareValues(value, value.value, null)),
  ].filter((change) => isOver(watch.threshold, change))
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

const keyOf = ({ input, scenario }: WatchedLayers) => JSON.stringify([input, scenario])

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
