import { csvRow } from '#src/http/csv.ts'
import { round } from '#src/lib/round.ts'
import type { Comparison } from './compare.ts'
import { areaRows, type ChangeRow, FIGURE_KEYS, figuresOf, totalRows, worstRows } from './figures.ts'

/** Areas that are named as those that change most. */
export const WORST_AREAS = 10

/** Two releases by their codes. */
export interface ComparedCodes {
  before: string
  after: string
}

/** A comparison as JSON, as a whole. */
export function comparisonBody(codes: ComparedCodes, comparison: Comparison) {
  return { ...headOf(codes, comparison), areas: areaRows(comparison).map(rowMembers) }
}

/** A comparison as the text of JSON, row by row. */
export function* comparisonJson(codes: ComparedCodes, comparison: Comparison): Generator<string> {
  yield `${JSON.stringify(headOf(codes, comparison)).slice(0, -1)},"areas":[`
  let separator = ''
  for (const row of areaRows(comparison)) {
    yield separator + JSON.stringify(rowMembers(row))
    separator = ','
  }
  yield ']}'
}

function headOf({ before, after }: ComparedCodes, comparison: Comparison) {
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
  return { input, scenario, unit, ...figuresOf(layer, found) }
}

function rowMembers(row: ChangeRow) {
  return { code: row.area?.code ?? '', name: row.area?.name ?? '', ...layerMembers(row) }
}

/** The areas of a comparison as CSV: a row for each layer in each of them. */
export function* comparisonCsv(comparison: Comparison): Generator<string> {
  yield csvRow(['code', 'name', 'input', 'scenario', 'unit', ...FIGURE_KEYS])
  for (const { area, layer, found } of areaRows(comparison)) {
    const figures = figuresOf(layer, found)
    const { input, scenario, unit } = layer
    yield csvRow([
      area?.code ?? null,
      area?.name ?? null,
      input,
      scenario,
      unit,
      ...FIGURE_KEYS.map((key) => figures[key]),
    ])
  }
}
