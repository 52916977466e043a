import { Command } from 'commander'
import type { Comparison } from '#src/advice/comparison/compare.ts'
import {
  type ChangeRow,
  comparisonBody,
  comparisonCsv,
  figuresOf,
  layerName,
  relativeChange,
  totalRows,
  WORST_AREAS,
  worstRows,
} from '#src/advice/comparison/figures.ts'
import { findPredecessor, type ReleaseRow, requireComplete } from '#src/catalog/release-queries.ts'
import { OperatorError } from '#src/errors.ts'
import { shortNumber } from '#src/lib/round.ts'
import { type ComparingOptions, compareForOperator, levelOption, thresholdOption } from './comparison.ts'
import { lookInDatabase } from './database.ts'
import { changeText, numberText, table } from './table.ts'
import { JSON_OPTION, type Output, print, withExamples } from './terminal.ts'

export const diffCommand = new Command('diff')
  .description('Show the changes from one release to another, area by area.')
  .argument('<release>', 'its code; with a second one, the release before')
  .argument(
    '[after]',
    'the release after; left out, <release> is compared with the one that it takes the place of',
  )
  .addOption(levelOption())
  .addOption(thresholdOption())
  .option('--exact', 'compare every pixel instead of summaries; slower')
  .option('--csv', 'answer in CSV: a row for each layer in each area')
  .option(...JSON_OPTION)
  .action((code: string, second: string | undefined, options: DiffOptions) =>
    lookInDatabase(async (database) => {
      const named = await requireComplete(database.writer, code)
      const { before, after, reason } = second
        ? { before: named, after: await requireComplete(database.writer, second), reason: undefined }
        : { ...(await predecessorOf(named)), after: named }
      const comparison = await compareForOperator(database, before, after, options)
      const codes = { before: before.code, after: after.code }
      const text = options.csv
        ? [...comparisonCsv(comparison)].join('').trimEnd()
        : comparisonText(codes, reason, comparison)
      print(options, comparisonBody(codes, comparison), text)

      async function predecessorOf(release: ReleaseRow) {
        const found = await findPredecessor(database.writer, release)
        if (found) return { before: found.release, reason: found.reason }
        throw new OperatorError(
          `There is nothing that ${code} takes the place of: name a release to compare it with.`,
        )
      }
    }),
  )
withExamples(
  diffCommand,
  'agro releases diff yield-eth-wheat-2026-08-v2',
  'agro releases diff yield-eth-wheat-2026-07-v1 yield-eth-wheat-2026-08-v2 --level 1 --exact',
  'agro releases diff yield-eth-wheat-2026-08-v2 --csv > changes.csv',
)

interface DiffOptions extends Output, ComparingOptions {
  csv?: boolean
}

function comparisonText(
  { before, after }: { before: string; after: string },
  reason: string | undefined,
  comparison: Comparison,
): string {
  const worst = worstRows(comparison, WORST_AREAS)
  return [
    `${after} against ${before}${reason ? `, ${reason}` : ''}`,
    placesText(comparison),
    '',
    table(
      ['LAYER', ...HEAD, 'GAINED', 'LOST', changedHead(comparison)],
      totalRows(comparison).map(totalCells),
    ),
    '',
    ...(worst.length > 0
      ? ['Where most changes:', table(['AREA', 'NAME', 'LAYER', ...HEAD], worst.map(areaCells))]
      : ['No mean changes anywhere.']),
  ].join('\n')
}

const HEAD = ['UNIT', 'BEFORE', 'AFTER', 'CHANGE', 'COVERED']

function placesText({ level, areas, exact }: Comparison): string {
  const places =
    level === null ? 'all that they cover: no areas are loaded' : `${areas.length} areas of level ${level}`
  return `${places}; ${exact ? 'every pixel looked at' : 'from summaries'}`
}

function changedHead({ threshold }: Comparison): string {
  return `CHANGED BY MORE THAN ${shortNumber(100 * threshold)} %`
}

function totalCells({ layer, found }: ChangeRow): string[] {
  const figures = figuresOf(layer, found)
  const { changed_percent, changed_percent_least, changed_percent_most } = figures
  const bounds =
    changed_percent_least === changed_percent_most
      ? ''
      : ` (${percent(changed_percent_least)} to ${percent(changed_percent_most)})`
  return [
    layerName(layer),
    ...figureCells({ layer, found }),
    percent(figures.gained_percent),
    percent(figures.lost_percent),
    percent(changed_percent) + bounds,
  ]
}

function areaCells({ area, layer, found }: ChangeRow): string[] {
  return [area?.code ?? '', area?.name ?? '', layerName(layer), ...figureCells({ layer, found })]
}

function figureCells({ layer, found }: Pick<ChangeRow, 'layer' | 'found'>): string[] {
  const figures = figuresOf(layer, found)
  return [
    layer.unit,
    numberText(figures.mean_before),
    numberText(figures.mean_after),
    changeText(relativeChange(found.change)),
    `${percent(figures.covered_before_percent)} -> ${percent(figures.covered_after_percent)}`,
  ]
}

function percent(value: number | null): string {
  return value === null ? 'unknown' : `${value.toFixed(1)} %`
}
