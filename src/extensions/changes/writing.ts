import type { ChangeRow, Comparison } from '#src/advice/comparison/compare.ts'
import { formatChange, worstRows } from '#src/advice/comparison/figures.ts'
import { type CsvValue, csvRow, type Writer } from '#src/http/formats.ts'
import { openText } from '#src/lib/json.ts'
import { round } from '#src/lib/round.ts'
import { conditionMember } from '#src/lookup/layers.ts'

/** Answers name so many areas with the largest changes. */
export const WORST_AREAS = 10

function layerMembers(row: ChangeRow) {
  const { input, scenario, unit } = row.layer
  return { input, scenario, ...conditionMember(row.layer), unit, ...formatChange(row) }
}

export function rowMembers(row: ChangeRow) {
  return { code: row.area?.code ?? '', name: row.area?.name ?? '', ...layerMembers(row) }
}

/** A comparison without its areas. */
export function summarize({ before, after, level, threshold, exact, layers, rows }: Comparison) {
  return {
    before,
    after,
    level,
    threshold_percent: round(100 * threshold, 4),
    exact,
    layers: layers.map(layerMembers),
    worst: worstRows(rows, WORST_AREAS).map(rowMembers),
  }
}

/** The writers of rows, by format. */
export const CHANGE_WRITERS = {
  json: (comparison: Comparison): Writer<ChangeRow> => ({
    opening: `${openText(JSON.stringify(summarize(comparison)))},"areas":[`,
    separator: ',',
    write: (row) => JSON.stringify(rowMembers(row)),
    closing: () => ']}',
  }),
  csv({ layers }: Comparison): Writer<ChangeRow> {
    // A release with conditions may have layers for all of them, too.
    const widest = layers.find(({ layer }) => layer.condition !== null) ?? layers[0]
    const columns = Object.keys(rowMembers(widest as ChangeRow))
    return {
      opening: csvRow(columns),
      separator: '',
      write(row) {
        const members: Record<string, CsvValue> = rowMembers(row)
        return csvRow(columns.map((column) => members[column] ?? null))
      },
      closing: () => '',
    }
  },
}
