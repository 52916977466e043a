import { Option } from 'commander'
import { type ChangeRow, type Comparison, DEFAULT_THRESHOLD } from '#src/advice/comparison/compare.ts'
import { formatChange, layerName, relativeChange, worstRows } from '#src/advice/comparison/figures.ts'
import { findPredecessor, type ReleaseRow, requireComplete } from '#src/catalog/release-queries.ts'
import { command, levelOption } from '#src/cli/command.ts'
import { type ComparingOptions, compareForOperator, readPercent } from '#src/cli/publishing.ts'
import { changeText, formatNumber, formatTable } from '#src/cli/table.ts'
import type { Output } from '#src/cli/terminal.ts'
import type { Database } from '#src/data/database.ts'
import { OperatorError } from '#src/errors.ts'
import { shortNumber } from '#src/lib/round.ts'
import { CHANGE_WRITERS, rowMembers, summarize, WORST_AREAS } from './writing.ts'

export const diffCommand = command({
  usage: 'diff <release> [after]',
  description: 'Show the changes from one release to another, area by area.',
  parameters: [
    'its code; with a second one, the release before',
    'the release after; left out, <release> is compared with the one that it takes the place of',
  ],
  options: [
    levelOption(),
    new Option('--threshold <percent>', 'by how much a value has to differ to count as changed')
      .argParser(readPercent)
      .default(DEFAULT_THRESHOLD, `${100 * DEFAULT_THRESHOLD}%`),
    ['--exact', 'compare every pixel instead of summaries; slower'],
    ['--csv', 'answer in CSV: a row for each layer in each area'],
  ],
  examples: [
    'agro releases diff yield-eth-wheat-2026-08-v2',
    'agro releases diff yield-eth-wheat-2026-07-v1 yield-eth-wheat-2026-08-v2 --level 1 --exact',
    'agro releases diff yield-eth-wheat-2026-08-v2 --csv > changes.csv',
  ],
  async look(
    database,
    options: Output & ComparingOptions & { csv?: boolean },
    code: string,
    second?: string,
  ) {
    const named = await requireComplete(database.writer, code)
    const { before, after, reason } = second
      ? { before: named, after: await requireComplete(database.writer, second), reason: '' }
      : { ...(await requirePredecessor(database, named)), after: named }
    const comparison = await compareForOperator(database, before, after, options)
    const { rows } = comparison
    const { opening, write } = CHANGE_WRITERS.csv(comparison)
    return [
      { ...summarize(comparison), areas: rows.map(rowMembers) },
      options.csv ? [opening, ...rows.map(write)].join('').trimEnd() : comparisonText(comparison, reason),
    ]
  },
})

async function requirePredecessor({ writer }: Database, release: ReleaseRow) {
  const found = await findPredecessor(writer, release)
  if (found) return { before: found.release, reason: `, ${found.reason}` }
  throw new OperatorError(
    `There is nothing that ${release.code} takes the place of: name a release to compare it with.`,
  )
}

function comparisonText(comparison: Comparison, reason: string): string {
  const { before, after, level, areas, exact, threshold, layers, rows } = comparison
  const places =
    level === null ? 'all that they cover: no areas are loaded' : `${areas} areas of level ${level}`
  const worst = worstRows(rows, WORST_AREAS)
  const changed = `CHANGED BY MORE THAN ${shortNumber(100 * threshold)} %`
  return [
    `${after} against ${before}${reason}`,
    `${places}; ${exact ? 'every pixel looked at' : 'from summaries'}`,
    '',
    formatTable([...HEAD, 'GAINED', 'LOST', changed], layers.map(totalCells)),
    '',
    ...(worst.length > 0
      ? ['Where most changes:', formatTable(['AREA', 'NAME', ...HEAD], worst.map(areaCells))]
      : ['No mean changes anywhere.']),
  ].join('\n')
}

const HEAD = ['LAYER', 'UNIT', 'BEFORE', 'AFTER', 'CHANGE', 'COVERED']

function totalCells(row: ChangeRow): string[] {
  const { gained_percent, lost_percent, changed_percent, ...bounds } = formatChange(row)
  const [least, most] = [bounds.changed_percent_least, bounds.changed_percent_most]
  const between = least === most ? '' : ` (${percent(least)} to ${percent(most)})`
  return [
    ...listCells(row),
    percent(gained_percent),
    percent(lost_percent),
    percent(changed_percent) + between,
  ]
}

function areaCells(row: ChangeRow): string[] {
  return [row.area?.code ?? '', row.area?.name ?? '', ...listCells(row)]
}

function listCells(row: ChangeRow): string[] {
  const change = formatChange(row)
  return [
    layerName(row.layer),
    row.layer.unit,
    formatNumber(change.mean_before),
    formatNumber(change.mean_after),
    changeText(relativeChange(row.change)),
    `${percent(change.covered_before_percent)} -> ${percent(change.covered_after_percent)}`,
  ]
}

function percent(value: number | null): string {
  return value === null ? 'unknown' : `${value.toFixed(1)} %`
}
