import { InvalidArgumentError, Option } from 'commander'
import {
  type Comparison,
  compareReleases,
  computingAlone,
  DEFAULT_THRESHOLD,
  Incomparable,
} from '#src/advice/comparison/compare.ts'
import * as figures from '#src/advice/comparison/figures.ts'
import { CHECK_NAMES, type CheckName, type ReleaseIssue } from '#src/catalog/release-checks.ts'
import {
  findPredecessor,
  findPublished,
  findRelease,
  type ReleaseRow,
  requireComplete,
} from '#src/catalog/release-queries.ts'
import type { Database } from '#src/data/client.ts'
import { inTransaction } from '#src/data/sql.ts'
import { ApiError, OperatorError } from '#src/errors.ts'
import { type Leniency, refusingChecks } from '#src/ingest/checks/index.ts'
import { type Publishing, publishChecked } from '#src/ingest/publish.ts'
import { shortNumber } from '#src/lib/round.ts'
import { conditionMember } from '#src/lookup/conditions.ts'
import { ReplacedMeanwhile } from '#src/lookup/releases.ts'
import { command, levelOption } from './command.ts'
import { changeText, formatNumber, formatTable } from './table.ts'
import { type Output, progressLine, say } from './terminal.ts'

export const STRICT_OPTION = ['--strict', 'refuse it for notes as well as errors'] as const

export function allowOption(): Option {
  return new Option('--allow <checks>', `publish although these checks refuse it: ${CHECK_NAMES.join(', ')}`)
    .argParser(readChecks)
    .default([], 'none')
}

function readChecks(text: string, before: CheckName[]): CheckName[] {
  const named = text.split(',').map((name) => name.trim())
  const unknown = named.find((name) => !CHECK_NAMES.includes(name as CheckName))
  if (unknown !== undefined) {
    throw new InvalidArgumentError(`There is no check ${unknown}; there are ${CHECK_NAMES.join(', ')}.`)
  }
  return [...before, ...(named as CheckName[])]
}

export function printIssues(findings: readonly ReleaseIssue[]): void {
  for (const { check, level, sentence, allowed } of findings) {
    say(allowed ? 'allowed' : level, `${sentence} (${check})`)
  }
}

export function notPublished(code: string, findings: readonly ReleaseIssue[]): OperatorError {
  const allow = refusingChecks(findings).join()
  return new OperatorError(
    `${code} is not published: mend it and load it again (\`agro releases delete ${code}\` deletes this one). Where it is right as it is, \`agro releases publish ${code} --allow ${allow}\` publishes it.`,
    { code: 'CHECKS' },
  )
}

interface ComparingOptions {
  level?: number
  /** A share, not a percentage. */
  threshold: number
  exact?: boolean
}

/** `25%` or `25`, as a share. */
export function readPercent(text: string): number {
  const percent = Number(/^(\d+(?:\.\d+)?)\s*%?$/.exec(text.trim())?.[1] ?? Number.NaN)
  if (Number.isFinite(percent)) return percent / 100
  throw new InvalidArgumentError('It must be a percentage, such as 25%.')
}

async function compareForOperator(
  database: Database,
  before: ReleaseRow,
  after: ReleaseRow,
  { level, threshold, exact = false }: ComparingOptions,
): Promise<Comparison> {
  return compareReleases(
    computingAlone(database),
    database.reader,
    before,
    after,
    { level, threshold, exact },
    progressLine('comparing'),
  ).catch(refuse)
}

function refuse(error: unknown): never {
  if (error instanceof ApiError && error.code === 'NO_AREAS') throw new OperatorError(error.message)
  if (error instanceof Incomparable) {
    throw new OperatorError(`${error.field === 'level' ? '--level ' : ''}${error.rule}.`)
  }
  if (!(error instanceof ReplacedMeanwhile)) throw error
  throw new OperatorError('A release or an area was deleted meanwhile: compare them again.')
}

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
      ? { before: named, after: await requireComplete(database.writer, second), reason: undefined }
      : { ...(await requirePredecessor(database, named)), after: named }
    const comparison = await compareForOperator(database, before, after, options)
    const codes = { before: before.code, after: after.code }
    const text = options.csv
      ? [...figures.comparisonCsv(comparison)].join('').trimEnd()
      : comparisonText(codes, reason, comparison)
    return [figures.comparisonBody(codes, comparison), text]
  },
})

async function requirePredecessor({ writer }: Database, release: ReleaseRow) {
  const found = await findPredecessor(writer, release)
  if (found) return { before: found.release, reason: found.reason }
  throw new OperatorError(
    `There is nothing that ${release.code} takes the place of: name a release to compare it with.`,
  )
}

function comparisonText(
  { before, after }: { before: string; after: string },
  reason: string | undefined,
  comparison: Comparison,
): string {
  const worst = figures.worstRows(comparison, figures.WORST_AREAS)
  return [
    `${after} against ${before}${reason ? `, ${reason}` : ''}`,
    placesText(comparison),
    '',
    formatTable(
      [
        'LAYER',
        ...HEAD,
        'GAINED',
        'LOST',
        `CHANGED BY MORE THAN ${shortNumber(100 * comparison.threshold)} %`,
      ],
      figures.totalRows(comparison).map(totalCells),
    ),
    '',
    ...(worst.length > 0
      ? ['Where most changes:', formatTable(['AREA', 'NAME', 'LAYER', ...HEAD], worst.map(areaCells))]
      : ['No mean changes anywhere.']),
  ].join('\n')
}

const HEAD = ['UNIT', 'BEFORE', 'AFTER', 'CHANGE', 'COVERED']

function placesText({ level, areas, exact }: Comparison): string {
  const places =
    level === null ? 'all that they cover: no areas are loaded' : `${areas.length} areas of level ${level}`
  return `${places}; ${exact ? 'every pixel looked at' : 'from summaries'}`
}

function totalCells({ layer, found }: figures.ChangeRow): string[] {
  const change = figures.formatChange(layer, found)
  const { changed_percent, changed_percent_least, changed_percent_most } = change
  const bounds =
    changed_percent_least === changed_percent_most
      ? ''
      : ` (${percent(changed_percent_least)} to ${percent(changed_percent_most)})`
  return [
    figures.layerName(layer),
    ...figureCells({ layer, found }),
    percent(change.gained_percent),
    percent(change.lost_percent),
    percent(changed_percent) + bounds,
  ]
}

function areaCells({ area, layer, found }: figures.ChangeRow): string[] {
  return [area?.code ?? '', area?.name ?? '', figures.layerName(layer), ...figureCells({ layer, found })]
}

function figureCells({ layer, found }: Pick<figures.ChangeRow, 'layer' | 'found'>): string[] {
  const change = figures.formatChange(layer, found)
  return [
    layer.unit,
    formatNumber(change.mean_before),
    formatNumber(change.mean_after),
    changeText(figures.relativeChange(found.change)),
    `${percent(change.covered_before_percent)} -> ${percent(change.covered_after_percent)}`,
  ]
}

function percent(value: number | null): string {
  return value === null ? 'unknown' : `${value.toFixed(1)} %`
}

export function maxChangeOption(): Option {
  return new Option(
    '--max-change <percent>',
    'publish it only if the mean of no layer changes by more in any area',
  ).argParser(readPercent)
}

export type LimitedPublishing = Publishing & Partial<NonNullable<Awaited<ReturnType<typeof findExcess>>>>

/** @param maxChange the largest share by which a mean may change; undefined for any */
export async function publishWithin(
  database: Database,
  code: string,
  leniency: Leniency,
  maxChange: number | undefined,
  signal?: AbortSignal,
): Promise<LimitedPublishing> {
  const { writer } = database
  if (maxChange === undefined) return inTransaction(writer, (trx) => publishChecked(trx, code, leniency))
  const release = await requireComplete(writer, code)
  try {
    const expected = (await findPublished(writer, release))?.code
    const excess = await findExcess(database, release, maxChange)
    if (excess) return { code, published: false, replaced: undefined, findings: [], ...excess }
    return await inTransaction(writer, async (trx) => {
      const done = await publishChecked(trx, code, leniency)
      signal?.throwIfAborted()
      if (done.replaced === undefined || done.replaced === expected) return done
      throw new OperatorError(`${done.replaced} was published meanwhile: compare ${code} with that.`)
    })
  } catch (error) {
    if (await findRelease(writer, code)) throw error
    throw new OperatorError(`${code} was deleted while it was compared, and is not published.`)
  }
}

async function findExcess(database: Database, after: ReleaseRow, maxChange: number) {
  const predecessor = after.publishedAt ? undefined : await findPredecessor(database.writer, after)
  if (!predecessor) return undefined
  const { code } = after
  const before = predecessor.release
  const comparison = await compareForOperator(database, before, after, { threshold: DEFAULT_THRESHOLD })
  const beyond = figures.areaRows(comparison).filter((row) => figures.changeSize(row) > maxChange)
  if (beyond.length === 0) return undefined
  const [worst] = figures.worstRows(comparison, 1) as [figures.ChangeRow]
  const areas = new Set(beyond.map(({ area }) => area)).size
  return {
    change: {
      before: before.code,
      max_change_percent: 100 * maxChange,
      level: comparison.level,
      areas: comparison.areas.length,
      areas_beyond: areas,
      worst: {
        code: worst.area?.code,
        name: worst.area?.name,
        input: worst.layer.input,
        scenario: worst.layer.scenario,
        ...conditionMember(worst.layer),
        ...figures.formatChange(worst.layer, worst.found),
      },
    },
    sentence: `${code} is not published: ${describeExcess(comparison, areas, worst, maxChange)} from ${before.code}. \`agro releases diff ${code}\` says more; without --max-change it is published.`,
  }
}

function describeExcess(
  { level, areas }: Comparison,
  beyond: number,
  worst: figures.ChangeRow,
  maxChange: number,
) {
  const places =
    level === null ? 'in all that the two cover' : `in ${beyond} of ${areas.length} areas of level ${level}`
  const { mean_before, mean_after } = figures.formatChange(worst.layer, worst.found)
  const where = level === null ? '' : ` in ${worst.area?.name} (${worst.area?.code})`
  return `${places} a mean changes by more than ${shortNumber(100 * maxChange)} %, most${where}, where ${figures.layerName(worst.layer)} goes from ${formatNumber(mean_before)} to ${formatNumber(mean_after)} ${worst.layer.unit} (${changeText(figures.relativeChange(worst.found.change))}),`
}
