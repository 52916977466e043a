import { round, roundAmount } from '#src/lib/round.ts'
import type { Change, Side } from '#src/raster/change.ts'
import type { ChangeRow } from './compare.ts'

/** Decimals of percentages. */
const DECIMALS = 4

/** Percentages are of the area, but for `change_percent`, which is of the mean. */
export function formatChange({ layer: { decimals }, total, change, pixelwise }: ChangeRow) {
  const { before, after, gained, lost, beyond } = change
  const [old, now] = [computeMean(before), computeMean(after)]
  const relative = relativeChange(change)
  const percent = (area: number) => roundAmount(total > 0 ? Math.min(100, (100 * area) / total) : 0)
  const comparable = (area: number) => (pixelwise ? percent(area) : null)
  return {
    mean_before: old === null ? null : round(old, decimals),
    mean_after: now === null ? null : round(now, decimals),
    change: old === null || now === null ? null : round(now - old, decimals),
    change_percent: relative === null || !Number.isFinite(relative) ? null : round(100 * relative, DECIMALS),
    covered_before_percent: percent(before.area),
    covered_after_percent: percent(after.area),
    gained_percent: comparable(gained.likely),
    lost_percent: comparable(lost.likely),
    changed_percent: comparable(beyond.likely),
    changed_percent_least: comparable(beyond.least),
    changed_percent_most: comparable(beyond.most),
  }
}

function computeMean({ area, sum }: Side): number | null {
  return area > 0 ? sum / area : null
}

/** Smaller relative changes of a mean are rounding. */
const NOISE = 1e-9

/** The relative change of a mean: infinite where all values are lost, or all were 0; null without values before. */
export function relativeChange({ before, after }: Pick<Change, 'before' | 'after'>): number | null {
  const [old, now] = [computeMean(before), computeMean(after)]
  if (old === null) return null
  if (now === null) return Number.NEGATIVE_INFINITY
  if (Math.abs(now - old) <= NOISE * Math.abs(old)) return 0
  return old === 0 ? Math.sign(now) * Number.POSITIVE_INFINITY : (now - old) / Math.abs(old)
}

interface NamedLayer {
  input: string | null
  scenario: string | null
  condition?: string | null
  role?: string | null
}

export function layerName({ input, scenario, condition, role }: NamedLayer): string {
  return [role, input, scenario, condition].filter(Boolean).join(', ') || 'values'
}

/** The areas with the largest changes of a mean, each with that layer, without areas that do not change. */
export function worstRows(rows: readonly ChangeRow[], most: number): ChangeRow[] {
  const worst = new Map<ChangeRow['area'], ChangeRow>()
  for (const row of rows) {
    const other = worst.get(row.area)
    if (!other || changeSize(row) > changeSize(other)) worst.set(row.area, row)
  }
  return [...worst.values()]
    .filter((row) => changeSize(row) > 0)
    .sort((a, b) => (changeSize(b) > changeSize(a) ? 1 : changeSize(b) < changeSize(a) ? -1 : 0))
    .slice(0, most)
}

/** The relative change of the mean, without its sign; 0 without values before. */
export function changeSize({ change }: ChangeRow): number {
  return Math.abs(relativeChange(change) ?? 0)
}
