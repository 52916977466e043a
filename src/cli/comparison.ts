import { InvalidArgumentError, Option } from 'commander'
import { MAX_LEVEL } from '#schemas/areas.ts'
import {
  type Comparison,
  compareReleases,
  computingAlone,
  DEFAULT_THRESHOLD,
  TooManyAreas,
  usualLevel,
  whyIncomparable,
} from '#src/advice/comparison/compare.ts'
import {
  areaRows,
  type ChangeRow,
  figuresOf,
  layerName,
  relativeChange,
  sizeOf,
  worstRows,
} from '#src/advice/comparison/figures.ts'
import { findLevels } from '#src/advice/comparison/queries.ts'
import {
  findPredecessor,
  findPublished,
  findRelease,
  type ReleaseRow,
  requireComplete,
} from '#src/catalog/release-queries.ts'
import type { Database } from '#src/data/client.ts'
import { CHECK_NAMES, type CheckName, type Finding } from '#src/data/rights.ts'
import { inTransaction } from '#src/data/sql.ts'
import { noAreas, OperatorError } from '#src/errors.ts'
import { type Leniency, refusingChecks } from '#src/ingest/checks/judgement.ts'
import { type Publishing, publishChecked } from '#src/ingest/publish.ts'
import { shortNumber } from '#src/lib/round.ts'
import { ReplacedMeanwhile } from '#src/lookup/releases.ts'
import { progressLine } from './progress.ts'
import { changeText, numberText } from './table.ts'
import { say } from './terminal.ts'

export const STRICT_OPTION = ['--strict', 'refuse it for notes as well as errors'] as const

/** Lets an operator allow what checks refuse. */
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

/** Says what checks have found, each finding in a line. */
export function sayFindings(findings: readonly Finding[]): void {
  for (const { check, level, sentence, allowed } of findings) {
    say(allowed ? 'allowed' : level, `${sentence} (${check})`)
  }
}

/** What to do about a release that is loaded and may not be published. */
export function notPublished(code: string, findings: readonly Finding[]): OperatorError {
  const allow = refusingChecks(findings).join()
  return new OperatorError(
    `${code} is not published: \`agro releases publish ${code} --allow ${allow}\` publishes it all the same, \`agro releases delete ${code}\` deletes it.`,
    { code: 'CHECKS' },
  )
}

/** How an operator wants releases compared. */
export interface ComparingOptions {
  level?: number
  /** As a part. */
  threshold: number
  exact?: boolean
}

export function levelOption(): Option {
  return new Option(
    '--level <number>',
    'areas of this level; the finest that is loaded, down to 2, when left out',
  ).argParser((text) => {
    if (/^\d$/.test(text) && Number(text) <= MAX_LEVEL) return Number(text)
    throw new InvalidArgumentError(`It must be from 0 to ${MAX_LEVEL}.`)
  })
}

export function thresholdOption(): Option {
  return new Option('--threshold <percent>', 'by how much a value has to differ to count as changed')
    .argParser(readPercent)
    .default(DEFAULT_THRESHOLD, `${100 * DEFAULT_THRESHOLD}%`)
}

/** Reads a percentage, `25%` or `25`, as a part. */
export function readPercent(text: string): number {
  const percent = Number(/^(\d+(?:\.\d+)?)\s*%?$/.exec(text.trim())?.[1] ?? Number.NaN)
  if (Number.isFinite(percent)) return percent / 100
  throw new InvalidArgumentError('It must be a percentage, such as 25%.')
}

/**
 * Compares two releases for an operator.
 *
 * @throws {OperatorError} where they cannot be compared, or no areas of the level are loaded, or too many
 */
export async function compareForOperator(
  database: Database,
  before: ReleaseRow,
  after: ReleaseRow,
  { level, threshold, exact = false }: ComparingOptions,
): Promise<Comparison> {
  const incomparable = whyIncomparable(before, after)
  if (incomparable) throw new OperatorError(incomparable)
  const { name, levels } = await findLevels(database.reader, after.countryCode)
  if (level !== undefined && !levels.includes(level)) {
    throw new OperatorError(noAreas({ name, levels }, level).message)
  }
  return compareReleases(
    computingAlone(database),
    database.reader,
    { before: before.id, after: after.id, country: { code: after.countryCode, name } },
    { level: level ?? usualLevel(levels), threshold, exact },
    progressLine('comparing'),
  ).catch(refuse)
}

/** @throws {OperatorError} where that is too much, or something is no longer what it was when it was found */
function refuse(error: unknown): never {
  if (error instanceof TooManyAreas) throw new OperatorError(`--level ${error.rule}.`)
  if (!(error instanceof ReplacedMeanwhile)) throw error
  throw new OperatorError('A release or an area was deleted meanwhile: compare them again.')
}

/** Has a release published only if it changes little. */
export function maxChangeOption(): Option {
  return new Option(
    '--max-change <percent>',
    'publish it only if the mean of no layer changes by more in any area',
  ).argParser(readPercent)
}

/** What keeps a release from being published that changes too much. */
export interface ExcessiveChange {
  /** What it was compared with. */
  before: string
  max_change_percent: number
  level: number | null
  areas: number
  /** In so many of them a mean changes by more. */
  areas_beyond: number
  worst: object
}

export type LimitedPublishing = Publishing & { change?: ExcessiveChange; sentence?: string }

/**
 * Publishes a complete release, unless the checks refuse it or it changes too much.
 *
 * @param leniency what is allowed to it
 * @param maxChange by which part of itself a mean may change; undefined for any
 * @param signal ends it before it is published
 * @throws {OperatorError} where there is no such release, or something else is published meanwhile
 */
export async function publishWithin(
  database: Database,
  code: string,
  leniency: Leniency,
  maxChange: number | undefined,
  signal?: AbortSignal,
): Promise<LimitedPublishing> {
  const { writer } = database
  if (maxChange === undefined) return inTransaction(writer, (trx) => publishChecked(trx, code, leniency))
  await requireComplete(writer, code)
  try {
    return await publishCompared(database, code, leniency, maxChange, signal)
  } catch (error) {
    if (await findRelease(writer, code)) throw error
    throw new OperatorError(`${code} was deleted while it was compared, and is not published.`)
  }
}

async function publishCompared(
  database: Database,
  code: string,
  leniency: Leniency,
  maxChange: number,
  signal: AbortSignal | undefined,
): Promise<LimitedPublishing> {
  const { writer } = database
  const release = await requireComplete(writer, code)
  const expected = (await findPublished(writer, release))?.code
  const excess = await excessOf(database, code, maxChange)
  if (excess) return { code, published: false, replaced: undefined, findings: [], ...excess }
  return inTransaction(writer, async (trx) => {
    const done = await publishChecked(trx, code, leniency)
    signal?.throwIfAborted()
    if (done.replaced === undefined || done.replaced === expected) return done
    throw new OperatorError(`${done.replaced} was published meanwhile: compare ${code} with that.`)
  })
}

async function excessOf(database: Database, code: string, maxChange: number) {
  const after = await requireComplete(database.writer, code)
  const predecessor = after.publishedAt ? undefined : await findPredecessor(database.writer, after)
  if (!predecessor) return undefined
  const before = predecessor.release
  const comparison = await compareForOperator(database, before, after, { threshold: DEFAULT_THRESHOLD })
  const beyond = areaRows(comparison).filter((row) => sizeOf(row) > maxChange)
  if (beyond.length === 0) return undefined
  const [worst] = worstRows(comparison, 1) as [ChangeRow]
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
        ...figuresOf(worst.layer, worst.found),
      },
    },
    sentence: `${code} is not published: ${sentenceOf(comparison, areas, worst, maxChange)} from ${before.code}. \`agro releases diff ${code}\` says more; without --max-change it is published.`,
  }
}

function sentenceOf(
  { level, areas }: Comparison,
  beyond: number,
  worst: ChangeRow,
  maxChange: number,
): string {
  const places =
    level === null ? 'in all that the two cover' : `in ${beyond} of ${areas.length} areas of level ${level}`
  const { mean_before, mean_after } = figuresOf(worst.layer, worst.found)
  const where = level === null ? '' : ` in ${worst.area?.name} (${worst.area?.code})`
  return `${places} a mean changes by more than ${shortNumber(100 * maxChange)} %, most${where}, where ${layerName(worst.layer)} goes from ${numberText(mean_before)} to ${numberText(mean_after)} ${worst.layer.unit} (${changeText(relativeChange(worst.found.change))}),`
}
