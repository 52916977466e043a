import { readFile } from 'node:fs/promises'
import { SCORECARD_DEFAULTS, type Scorecard } from '#schemas/feedback.ts'
import type { ProductDefinition } from '#schemas/products/define.ts'
import { PRODUCTS } from '#schemas/products/index.ts'
import { type ReleaseRow, requireComplete } from '#src/catalog/release-queries.ts'
import type { Database } from '#src/data/client.ts'
import { OperatorError } from '#src/errors.ts'
import { computeScorecard, isObservable } from '#src/history/scorecard.ts'
import type { Observation } from '#src/history/scorecard-queries.ts'
import { readNumber } from '#src/http/parameters.ts'
import { countLineEnds, readCsv } from '#src/lib/csv.ts'
import { formatError } from '#src/lib/promises.ts'
import { shortNumber } from '#src/lib/round.ts'
import { valuesInRelease } from '#src/lookup/pixels.ts'
import { command } from './command.ts'
import { levelOption } from './comparison.ts'
import { formatTable } from './table.ts'
import { type Output, pathNamed } from './terminal.ts'

interface RowError {
  line: number
  error: string
}

/** Other columns are ignored. @throws {OperatorError} for a file without these columns */
export function readObservations(text: string, key: string, maximum: number) {
  const [header, ...records] = readRecords(text.replace(/^\ufeff/, ''))
  const names = (header?.record ?? []).map((name) => name.trim())
  const columns = [
    { name: 'lat', least: -90, most: 90 },
    { name: 'lng', least: -180, most: 180 },
    { name: key, least: 0, most: maximum },
  ]
  const missing = columns.flatMap(({ name }) => (names.includes(name) ? [] : [name]))
  if (missing.length > 0) throw new OperatorError(`The observations have no column ${missing.join(', ')}.`)
  const rows: { lat: number; lng: number; observed: number }[] = []
  const errors: RowError[] = []
  for (const { record, line } of records) {
    const cells = columns.map(({ name }) => record[names.indexOf(name)]?.trim() ?? '')
    const numbers = cells.map(readNumber)
    const isWithin = ({ least, most }: (typeof columns)[number], value: number | string | undefined) =>
      typeof value === 'number' && value >= least && value <= most
    const wrong = columns.findIndex((column, index) => !isWithin(column, numbers[index]))
    const column = columns[wrong]
    if (column) {
      const { name, least, most } = column
      errors.push({
        line,
        error: `${name} must be a number from ${least} to ${most}, and is "${cells[wrong]}"`,
      })
    } else {
      const [lat, lng, observed] = numbers as [number, number, number]
      rows.push({ lat, lng, observed })
    }
  }
  return { rows, errors }
}

function readRecords(text: string): { record: string[]; line: number }[] {
  const found: { record: string[]; line: number }[] = []
  let [line, counted] = [1, 0]
  try {
    readCsv(text, (record, end) => {
      line += countLineEnds(text, counted, end)
      counted = end
      found.push({ record, line })
      return true
    })
  } catch (error) {
    throw new OperatorError(`The observations are not CSV: ${formatError(error)}.`)
  }
  return found
}

export const scorecardCommand = command({
  usage: 'scorecard <release>',
  description: 'Compare the predictions of a release with observations, from feedback and a file.',
  parameters: ['its code'],
  options: [
    [
      '--observations <file>',
      'CSV with the columns lat, lng and an observation such as yield_kg_ha; invalid rows are listed and skipped',
    ],
    levelOption(),
  ],
  help: `
Bias is the mean of predicted minus observed, RMSE the root of the mean square of these differences, MAE the
mean of their sizes, and RANK the correlation of the ranks (Spearman), equal values having the mean of theirs.
Groups of fewer than 5 accounts are not shown, where each row of a file counts as one, nor are areas that would
give them away.`,
  examples: [
    'agro scorecard yield-eth-wheat-2026-07-v1',
    'agro scorecard yield-eth-wheat-2026-07-v1 --observations trials.csv --level 1 --json',
  ],
  async look(
    database,
    {
      observations: file,
      level = SCORECARD_DEFAULTS.level,
    }: Output & { observations?: string; level?: number },
    code: string,
  ) {
    const release = await requireComplete(database.writer, code)
    const product = PRODUCTS.of(release.product)
    if (!isObservable(product)) {
      throw new OperatorError(`Product ${product.code} has no observations: ${code} has no scorecard.`)
    }
    const { given, errors } =
      file === undefined
        ? { given: [], errors: [] }
        : await readFileObservations(database, release, product, file)
    const card = await computeScorecard(database.writer, release, product, level, given)
    return [{ ...card, row_errors: errors }, cardText(card, errors)]
  },
})

async function readFileObservations(
  database: Database,
  release: ReleaseRow,
  product: ProductDefinition,
  file: string,
): Promise<{ given: Observation[]; errors: RowError[] }> {
  const text = await readFile(pathNamed(file), 'utf8').catch((error) => {
    throw new OperatorError(`${file} cannot be read: ${formatError(error)}.`)
  })
  const { key, maximum } = product.observed as NonNullable<ProductDefinition['observed']>
  const { rows, errors } = readObservations(text, key, maximum)
  const positions = rows.map(({ lat, lng }) => ({ latitude: lat, longitude: lng }))
  const values = await valuesInRelease(database, product, release.id, positions)
  const given = rows.map((row, index) => ({
    ...row,
    predictions: (values[index] ?? []).map(({ scenario, value }) => ({ scenario, predicted: value })),
  }))
  return { given, errors }
}

const HEAD = ['SCENARIO', 'NUMBER', 'BIAS', 'RMSE', 'MAE', 'RANK']

function cardText(card: Scorecard, errors: readonly RowError[]): string {
  const { release, unit, level, from_feedback, from_file, without_value, smallest_group } = card
  return [
    `${release}: ${from_feedback} observations of feedback, ${from_file} of a file; ${without_value} where it has no value. In ${unit}.`,
    '',
    card.scenarios.length > 0
      ? formatTable(HEAD, card.scenarios.map(cells))
      : `They are of fewer than ${smallest_group} accounts: nothing is shown.`,
    ...(card.districts.length > 0
      ? [
          '',
          `Areas of level ${level}:`,
          formatTable(
            ['AREA', 'NAME', ...HEAD],
            card.districts.map((row) => [row.code, row.name, ...cells(row)]),
          ),
        ]
      : []),
    ...(card.withheld_groups > 0
      ? [
          '',
          `${card.withheld_groups} groups of areas are too small to be shown, or would give away one that is.`,
        ]
      : []),
    ...(errors.length > 0 ? ['', 'Rows that were left out:'] : []),
    ...errors.map(({ line, error }) => `line ${line}: ${error}.`),
  ].join('\n')
}

function cells({ scenario, count, rank_correlation: rank, ...scores }: Scorecard['scenarios'][number]) {
  return [
    scenario ?? '',
    String(count),
    ...[scores.bias, scores.rmse, scores.mae].map(shortNumber),
    rank === null ? 'none' : rank.toFixed(3),
  ]
}
