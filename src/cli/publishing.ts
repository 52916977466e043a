import { InvalidArgumentError, Option } from 'commander'
import {
  type ChangeRow,
  type Comparison,
  compareReleases,
  computingAlone,
  DEFAULT_THRESHOLD,
} from '#src/advice/comparison/compare.ts'
import {
  changeSize,
  formatChange,
  layerName,
  relativeChange,
  worstRows,
} from '#src/advice/comparison/figures.ts'
import { CHECK_NAMES, type CheckName, type ReleaseIssue } from '#src/catalog/release-checks.ts'
import {
  findPredecessor,
  findPublished,
  findRelease,
  type ReleaseRow,
  requireComplete,
} from '#src/catalog/release-queries.ts'
import type { Database } from '#src/data/database.ts'
import { inTransaction } from '#src/data/sql.ts'
import { ApiError, OperatorError, ReplacedMeanwhile } from '#src/errors.ts'
import { type Leniency, refusingChecks } from '#src/ingest/checks/index.ts'
import { type Publishing, publishChecked } from '#src/ingest/publish.ts'
import { shortNumber } from '#src/lib/round.ts'
import { conditionMember } from '#src/lookup/layers.ts'
import { changeText, formatNumber } from './table.ts'
import { progressLine, say } from './terminal.ts'

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

export interface ComparingOptions {
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

export async function compareForOperator(
  database: Database,
  before: ReleaseRow,
  after: ReleaseRow,
  { level, threshold, exact = false }: ComparingOptions,
): Promise<Comparison> {
  return compareReleases(
    await computingAlone(database),
    database.reader,
    before,
    after,
    { level, threshold, exact },
    progressLine('comparing'),
  ).catch(refuse)
}

function refuse(error: unknown): never {
  if (error instanceof ReplacedMeanwhile) {
    throw new OperatorError('A release or an area was deleted meanwhile: compare them again.')
  }
  if (!(error instanceof ApiError) || error.status >= 500) throw error
  // Parameters of requests are options and codes here.
  throw new OperatorError(error.message.replace(/^level /, '--level ').replace(/^b .*?: /, ''))
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
  const beyond = comparison.rows.filter((row) => changeSize(row) > maxChange)
  if (beyond.length === 0) return undefined
  const [worst] = worstRows(comparison.rows, 1) as [ChangeRow]
  const areas = new Set(beyond.map(({ area }) => area)).size
  return {
    change: {
      before: before.code,
      max_change_percent: 100 * maxChange,
      level: comparison.level,
      areas: comparison.areas,
      areas_beyond: areas,
      worst: {
        code: worst.area?.code,
        name: worst.area?.name,
        input: worst.layer.input,
        scenario: worst.layer.scenario,
        ...conditionMember(worst.layer),
        ...formatChange(worst),
      },
    },
    sentence: `${code} is not published: ${describeExcess(comparison, areas, worst, maxChange)} from ${before.code}. \`agro releases diff ${code}\` says more; without --max-change it is published.`,
  }
}

function describeExcess({ level, areas }: Comparison, beyond: number, worst: ChangeRow, maxChange: number) {
  const { area, layer, change } = worst
  const extent =
    level === null ? 'in all that the two cover' : `in ${beyond} of ${areas} areas of level ${level}`
  const { mean_before, mean_after } = formatChange(worst)
  const where = level === null ? '' : ` in ${area?.name} (${area?.code})`
  return `${extent} a mean changes by more than ${shortNumber(100 * maxChange)} %, most${where}, where ${layerName(layer)} goes from ${formatNumber(mean_before)} to ${formatNumber(mean_after)} ${layer.unit} (${changeText(relativeChange(change))}),`
}
