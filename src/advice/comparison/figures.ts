import { type CsvValue, csvRow } from '#src/http/formats.ts'
import { round, roundAmount } from '#src/lib/round.ts'
import { conditionMember } from '#src/lookup/conditions.ts'
import type { Side } from '#src/raster/change.ts'
import {
  type ComparedArea,
  type ComparedLayer,
  type Comparison,
  type LayerComparison,
  sumAreas,
} from './compare.ts'

/** Decimals of percentages. */
const DECIMALS = 4

/** Percentages are of the area, but for `change_percent`, which is of the mean. */
export function formatChange({ decimals }: ComparedLayer, { total, change, pixelwise }: LayerComparison) {
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
export function relativeChange({
  before,
  after,
}: Pick<LayerComparison['change'], 'before' | 'after'>): number | null {
  const [old, now] = [computeMean(before), computeMean(after)]
  if (old === null) return null
  if (now === null) return Number.NEGATIVE_INFINITY
  if (Math.abs(now - old) <= NOISE * Math.abs(old)) return 0
  return old === 0 ? Math.sign(now) * Number.POSITIVE_INFINITY : (now - old) / Math.abs(old)
}

/** The change of a layer in an area, or in all areas without one. */
export interface ChangeRow {
  area: ComparedArea | null
  layer: ComparedLayer
  found: LayerComparison
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

export function totalRows(comparison: Comparison): ChangeRow[] {
  return comparison.layers.map((layer, index) => ({ area: null, layer, found: sumAreas(comparison, index) }))
}

export function areaRows({ layers, areas }: Comparison): ChangeRow[] {
  return areas.flatMap(({ area, layers: found }) =>
    layers.map((layer, index) => ({ area, layer, found: found[index] as LayerComparison })),
  )
}

/** The areas with the largest changes of a mean, each with that layer, without areas that do not change. */
export function worstRows(comparison: Comparison, most: number): ChangeRow[] {
  const worst = new Map<ComparedArea | null, ChangeRow>()
  for (const row of areaRows(comparison)) {
    const other = worst.get(row.area)
    if (!other || changeSize(row) > changeSize(other)) worst.set(row.area, row)
  }
  return [...worst.values()]
    .filter((row) => changeSize(row) > 0)
    .sort((a, b) => (changeSize(b) > changeSize(a) ? 1 : changeSize(b) < changeSize(a) ? -1 : 0))
    .slice(0, most)
}

/** The relative change of the mean, without its sign; 0 without values before. */
export function changeSize({ found }: Pick<ChangeRow, 'found'>): number {
  return Math.abs(relativeChange(found.change) ?? 0)
}

/** The answer names so many areas with the largest changes. */
export const WORST_AREAS = 10

type ComparedCodes = Record<'before' | 'after', string>

export function comparisonBody(codes: ComparedCodes, comparison: Comparison) {
  return { ...summarize(codes, comparison), areas: areaRows(comparison).map(rowMembers) }
}

/** A comparison as the text of JSON, row by row. */
export function* comparisonJson(codes: ComparedCodes, comparison: Comparison): Generator<string> {
  yield `${JSON.stringify(summarize(codes, comparison)).slice(0, -1)},"areas":[`
  let separator = ''
  for (const row of areaRows(comparison)) {
    yield separator + JSON.stringify(rowMembers(row))
    separator = ','
  }
  yield ']}'
}

function summarize({ before, after }: ComparedCodes, comparison: Comparison) {
  const { level, threshold, exact } = comparison
  return {
    before,
    after,
    level,
    threshold_percent: round(100 * threshold, 4),
    exact,
    layers: totalRows(comparison).map(layerMembers),
    worst: worstRows(comparison, WORST_AREAS).map(rowMembers),
  }
}

function layerMembers({ layer, found }: ChangeRow) {
  const { input, scenario, unit } = layer
  return { input, scenario, ...conditionMember(layer), unit, ...formatChange(layer, found) }
}

function rowMembers(row: ChangeRow) {
  return { code: row.area?.code ?? '', name: row.area?.name ?? '', ...layerMembers(row) }
}

export function* comparisonCsv(comparison: Comparison): Generator<string> {
  const rows = totalRows(comparison)
  // A release with conditions may have layers for all of them, too.
  const widest = rows.find(({ layer }) => layer.condition !== null) ?? rows[0]
  if (!widest) return
  const columns = Object.keys(rowMembers(widest))
  yield csvRow(columns)
  for (const row of areaRows(comparison)) {
    const members: Record<string, CsvValue> = rowMembers(row)
    yield csvRow(columns.map((column) => members[column] ?? null))
  }
}
