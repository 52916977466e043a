import { InvalidArgumentError, Option } from 'commander'
import { MAX_LEVEL } from '#schemas/areas.ts'
import type { Database } from '#src/database/client.ts'
import { ReplacedMeanwhile } from '#src/domains/advisory/lookup/replaced.ts'
import {
  DEFAULT_THRESHOLD,
  TooManyAreas,
  usualLevel,
  whyIncomparable,
} from '#src/domains/advisory/polygon/changes/comparable.ts'
import { type Comparison, compareReleases } from '#src/domains/advisory/polygon/changes/compare.ts'
import { computingAlone } from '#src/domains/advisory/polygon/changes/computing-alone.ts'
import { findLevels } from '#src/domains/advisory/polygon/changes/queries.ts'
import type { ReleaseRow } from '#src/domains/releases/queries.ts'
import { noAreas, OperatorError } from '#src/errors.ts'
import { progressLine } from './progress.ts'

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
