import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { isObservable, type ProductDefinition } from '#schemas/products/define.ts'
import { PRODUCTS } from '#schemas/products/index.ts'
import { lockReleases, type ReleaseRow, requireComplete } from '#src/catalog/release-queries.ts'
import { type CommandAnswer, command, levelOption, lookInDatabase, withDatabase } from '#src/cli/command.ts'
import { formatTable } from '#src/cli/table.ts'
import { type Output, pathNamed, say } from '#src/cli/terminal.ts'
import { recordOperation } from '#src/data/audit-queries.ts'
import type { Database } from '#src/data/database.ts'
import { inTransaction } from '#src/data/sql.ts'
import { createTileStores } from '#src/data/tiles/stores.ts'
import { OperatorError, ReplacedMeanwhile } from '#src/errors.ts'
import { readNumber } from '#src/http/parameters.ts'
import { decodeFile } from '#src/ingest/other-formats.ts'
import { countLineEnds, findTableForm, readCsv, withDecimalPoint } from '#src/lib/csv.ts'
import { formatDay } from '#src/lib/dates.ts'
import { formatError } from '#src/lib/promises.ts'
import { shortNumber } from '#src/lib/round.ts'
import { describeEntry, type EntryCertainty, figuresOfPoint } from '#src/lookup/certainty.ts'
import { conditionError } from '#src/lookup/conditions.ts'
import { assembleValues } from '#src/lookup/entries.ts'
import type { Position } from '#src/lookup/layers.ts'
import { createPixelReader } from '#src/lookup/pixels.ts'
import { findReleases } from '#src/lookup/queries.ts'
import { createNumbering } from '#src/lookup/releases.ts'
import { addSkill, listSkill } from './queries.ts'
import { SCORECARD_DEFAULTS, type Scorecard } from './schemas.ts'
import { describeScorecard, gatherBatches, gatherObservations } from './scorecard.ts'
import { type Observation, SMALLEST_GROUP } from './scorecard-queries.ts'
import { readSeason, type Seen, TERCILES } from './scores.ts'

interface RowError {
  line: number
  error: string
}

/** A row of a file. The columns `scenario`, the season that it was, and `condition` may be absent or empty. */
type FileRow = Pick<Observation, 'lat' | 'lng'> & Seen & { condition?: string | undefined }

/** Other columns are ignored. @throws {OperatorError} for a file without these columns */
export function readObservations(text: string, key: string, maximum: number) {
  const { delimiter } = findTableForm(text)
  const [header, ...records] = readRecords(text)
  const names = (header?.record ?? []).map((name) => name.trim())
  const columns = [
    { name: 'lat', least: -90, most: 90 },
    { name: 'lng', least: -180, most: 180 },
    { name: key, least: 0, most: maximum },
  ]
  const missing = columns.flatMap(({ name }) => (names.includes(name) ? [] : [name]))
  if (missing.length > 0) throw new OperatorError(`The observations have no column ${missing.join(', ')}.`)
  const rows: FileRow[] = []
  const errors: RowError[] = []
  for (const { record, line } of records) {
    const cellOf = (name: string) => record[names.indexOf(name)]?.trim() ?? ''
    const cells = columns.map(({ name }) => cellOf(name))
    const numbers = cells.map((cell) => readNumber(withDecimalPoint(cell, delimiter)))
    const isWithin = ({ least, most }: (typeof columns)[number], value: number | string | undefined) =>
      typeof value === 'number' && value >= least && value <= most
    const wrong = columns.findIndex((column, index) => !isWithin(column, numbers[index]))
    const column = columns[wrong]
    if (column) {
      const { name, least, most } = column
      const error = `${name} must be a number from ${least} to ${most}, and is "${cells[wrong]}"`
      errors.push({ line, error })
      continue
    }
    const [season, condition] = [cellOf('scenario'), cellOf('condition')]
    if (season !== '' && readSeason(season) === undefined) {
      errors.push({ line, error: `scenario must be one of ${TERCILES.join(', ')}, and is "${season}"` })
      continue
    }
    const [lat, lng, observed] = numbers as [number, number, number]
    rows.push({ lat, lng, observed, season: season || undefined, condition: condition || undefined })
  }
  return { rows, errors }
}

function readRecords(text: string): { record: string[]; line: number }[] {
  const found: { record: string[]; line: number }[] = []
  let [line, counted] = [1, 0]
  try {
    for (const { cells, end } of readCsv(text)) {
      line += countLineEnds(text, counted, end)
      counted = end
      found.push({ record: cells, line })
    }
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
      'CSV with the columns lat, lng and an observation such as yield_kg_ha, perhaps also scenario (what the season was) and condition (such as foot slope); invalid rows are listed and skipped',
    ],
    ['--keep', 'add new observations to the sums of the country and its areas of level 1, for answers'],
    levelOption(),
  ],
  help: `
Bias is the mean of predicted minus observed, RMSE the root of the mean square of these differences, MAE the
mean of their sizes, and RANK the correlation of the ranks (Spearman), equal values having the mean of theirs.
WITHIN is the share of observations in the range of the most likely scenario, BRIER and RPSS score its odds.
Groups of fewer than 5 accounts, or with more than half from one, are not shown, where each row of a file counts
as one, nor are areas that would give them away.`,
  examples: [
    'agro scorecard yield-eth-wheat-2026-07-v1',
    'agro scorecard yield-eth-wheat-2026-07-v1 --observations trials.csv --level 1 --json',
  ],
  run({ keep = false, ...options }: Output & ScorecardOptions & { keep?: boolean }, code: string) {
    const open = keep ? withDatabase<CommandAnswer> : lookInDatabase<CommandAnswer>
    return open((database) => answerScorecard(database, code, options, keep))
  },
})

interface ScorecardOptions {
  observations?: string
  level?: number
}

async function answerScorecard(
  database: Database,
  code: string,
  { observations: file, level = SCORECARD_DEFAULTS.level }: ScorecardOptions,
  keep: boolean,
): Promise<CommandAnswer> {
  const { writer } = database
  const release = await requireComplete(writer, code)
  const product = PRODUCTS.of(release.product)
  if (!isObservable(product)) {
    throw new OperatorError(`Product ${product.code} has no observations: ${code} has no scorecard.`)
  }
  if (keep && release.synthetic) {
    throw new OperatorError(`${code} is demonstration data: no skill is kept of it.`)
  }
  const { given, errors } =
    file === undefined
      ? { given: [], errors: [] }
      : await readFileObservations(database, release, product, file)
  const gathered = await gatherObservations(writer, release, product, level, given)
  if (keep) await storeSkill(database, release, product, given)
  const card = describeScorecard(release, product, level, gathered, await listSkill(writer, release.id))
  return [{ ...card, row_errors: errors }, cardText(card, errors)]
}

/** Adds what everybody may know of new observations to the stored sums, and records it. @throws {OperatorError} where that is nothing */
async function storeSkill(
  { writer }: Database,
  release: ReleaseRow,
  product: ProductDefinition,
  given: readonly Observation[],
): Promise<void> {
  await inTransaction(writer, async (trx) => {
    await lockReleases(trx)
    const { id, code } = await requireComplete(trx, release.code)
    const batches = await gatherBatches(trx, { ...release, id }, product, given)
    if (batches.length === 0) {
      const now = new Date()
      const next = formatDay(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + 1))
      throw new OperatorError(
        `Nothing of ${code} is kept: its new observations are of fewer than ${SMALLEST_GROUP} accounts, or most are of one. Feedback counts from the first day of the next month on, here ${next}, and accounts of a month or more.`,
      )
    }
    for (const batch of batches) await addSkill(trx, id, batch)
    const observations = new Set(batches.flatMap(({ keys }) => keys)).size
    const areas = new Set(batches.map(({ sums }) => sums.area_code)).size
    await recordOperation(trx, { kind: 'skill_kept', detail: { release: code, areas, observations } })
  })
}

/** Observations that are looked up at a time. */
const PIECE = 5000

interface ReleaseValue extends EntryCertainty {
  scenario: string | null
  condition: string | null
  value: number
}

/**
 * The layers with a value at each position, of its condition where that is known; none for a condition that the release
 * does not have.
 *
 * @throws {ReplacedMeanwhile} where the release was deleted
 */
async function valuesInRelease(
  database: Database,
  product: ProductDefinition,
  releaseId: number,
  places: readonly (Position & { condition: string | undefined })[],
): Promise<ReleaseValue[][]> {
  const [found] = await findReleases(database.writer, [releaseId])
  if (!found) throw new ReplacedMeanwhile()
  const release = createNumbering()(found, product)
  const tiles = await createTileStores(database)
  const pixels = createPixelReader(database, tiles, { cacheBytes: 0, concurrency: 1 })
  const { certainty } = release
  const readValues = async ({ condition, ...position }: (typeof places)[number]): Promise<ReleaseValue[]> => {
    if (conditionError(release, condition)) return []
    const stored = release.coverages.map((coverage) => pixels.read(coverage, position))
    const found = assembleValues(release, await Promise.all(stored), condition) ?? []
    const figures = figuresOfPoint(found)
    return release.layers.flatMap(({ scenario, condition }, index) => {
      const value = found[index] ?? Number.NaN
      if (Number.isNaN(value)) return []
      return [{ scenario, condition, value, ...(certainty && describeEntry(certainty, index, figures)) }]
    })
  }
  const values: ReleaseValue[][] = []
  for (let from = 0; from < places.length; from += PIECE) {
    values.push(...(await Promise.all(places.slice(from, from + PIECE).map(readValues))))
  }
  return values
}

async function readFileObservations(
  database: Database,
  release: ReleaseRow,
  product: ProductDefinition,
  file: string,
): Promise<{ given: Observation[]; errors: RowError[] }> {
  const bytes = await readFile(pathNamed(file)).catch((error) => {
    throw new OperatorError(`${file} cannot be read: ${formatError(error)}.`)
  })
  const text = decodeFile(bytes, { source: file }, (note) => say('note', note))
  const { key, maximum } = product.observed as NonNullable<ProductDefinition['observed']>
  const { rows, errors } = readObservations(text, key, maximum)
  const places = rows.map(({ lat, lng, condition }) => ({ latitude: lat, longitude: lng, condition }))
  const values = await valuesInRelease(database, product, release.id, places)
  const times = new Map<string, number>()
  // The values are of the condition.
  const given = rows.map(({ condition, ...row }, index) => {
    const text = JSON.stringify([row, condition])
    const time = (times.get(text) ?? 0) + 1
    times.set(text, time)
    return {
      ...row,
      key: createHash('sha256').update(`${text} ${time}`).digest('hex'),
      predictions: (values[index] ?? []).map(({ value, ...layer }) => ({ ...layer, predicted: value })),
    }
  })
  return { given, errors }
}

const HEAD = ['SCENARIO', 'NUMBER', 'BIAS', 'RMSE', 'MAE', 'RANK']

function cardText(card: Scorecard, errors: readonly RowError[]): string {
  const { release, unit, level, from_feedback, from_messages, from_file, without_value } = card
  const { scenarios, districts, odds, skill, kept, withheld_groups, smallest_group } = card
  const { count, mean } = card.message_ratings
  const named = ['AREA', 'NAME']
  return [
    `${release}: ${from_feedback} observations of feedback, ${from_messages} by message, ${from_file} of a file; ${without_value} where it has no value. In ${unit}.`,
    ...(mean === null ? [] : [`${count} answers by message are rated ${mean.toFixed(1)} of 5.`]),
    '',
    scenarios.length > 0
      ? formatTable(HEAD, scenarios.map(cells))
      : `They are of fewer than ${smallest_group} accounts: nothing is shown.`,
    ...part(`Areas of level ${level}:`, [...named, ...HEAD], districts, (row) => [
      ...[row.code, row.name],
      ...cells(row),
    ]),
    ...(odds ? ['', `Odds of ${odds.count}: ${oddsText(odds)}`] : []),
    ...part(
      'Odds, and how often it came so:',
      ['SCENARIO', 'TERM', ...BINS],
      odds?.reliability ?? [],
      binCells,
    ),
    ...part(
      `The most likely scenario in areas of level ${level}:`,
      [...named, ...SKILL_HEAD],
      skill,
      (row) => [row.code, row.name, ...skillCells(row)],
    ),
    ...part('Kept with the release:', ['AREA', ...SKILL_HEAD, 'AT'], kept, (row) => [
      ...[row.code, ...skillCells(row)],
      row.kept_at,
    ]),
    ...(withheld_groups > 0
      ? ['', `${withheld_groups} groups of areas are too small to be shown, or would give away one that is.`]
      : []),
    ...(errors.length > 0 ? ['', 'Rows that were left out:'] : []),
    ...errors.map(({ line, error }) => `line ${line}: ${error}.`),
  ].join('\n')
}

/** A table under a title; nothing without rows. */
function part<Row>(title: string, head: string[], rows: readonly Row[], cellsOf: (row: Row) => string[]) {
  return rows.length > 0 ? ['', title, formatTable(head, rows.map(cellsOf))] : []
}

const SKILL_HEAD = ['NUMBER', 'BIAS', 'MAE', 'WITHIN', 'BRIER', 'RPSS']

type OddsScore = NonNullable<Scorecard['odds']>

function oddsText({ brier, rps, rpss, told }: OddsScore): string {
  const scores = `Brier score ${brier.toFixed(3)}, RPS ${rps.toFixed(3)}, RPSS ${rpss.toFixed(3)}`
  return `${scores}. The file has told ${told} seasons, the nearest value the others.`
}

const BINS = Array.from({ length: 10 }, (_, bin) => `${10 * bin}-${10 * bin + 10} %`)

function binCells({ scenario, term, bins }: OddsScore['reliability'][number]): string[] {
  const share = ({ count, observed }: (typeof bins)[number]) =>
    observed === null ? `(${count})` : `${(100 * observed).toFixed(0)} % (${count})`
  return [scenario, term.toFixed(4), ...bins.map((bin) => (bin.count === 0 ? '' : share(bin)))]
}

function skillCells(row: Omit<Scorecard['skill'][number], 'code' | 'name'>): string[] {
  const score = (value: number | null) => (value === null ? '' : value.toFixed(3))
  return [
    String(row.n),
    ...[row.bias, row.mae].map(shortNumber),
    row.within ? `${(100 * row.within.share).toFixed(0)} % (${row.within.count})` : '',
    ...[row.brier, row.rpss].map(score),
  ]
}

function cells({ scenario, count, rank_correlation: rank, ...scores }: Scorecard['scenarios'][number]) {
  return [
    scenario ?? '',
    String(count),
    ...[scores.bias, scores.rmse, scores.mae].map(shortNumber),
    rank === null ? 'none' : rank.toFixed(3),
  ]
}
