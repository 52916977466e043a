import { Option } from 'commander'
import type { Database } from '#src/database/client.ts'
import { inTransaction } from '#src/database/transaction.ts'
import { DEFAULT_THRESHOLD } from '#src/domains/advisory/polygon/changes/comparable.ts'
import type { Comparison } from '#src/domains/advisory/polygon/changes/compare.ts'
import {
  areaRows,
  type ChangeRow,
  figuresOf,
  layerName,
  relativeChange,
  sizeOf,
  worstRows,
} from '#src/domains/advisory/polygon/changes/figures.ts'
import { findPredecessor } from '#src/domains/releases/predecessor-queries.ts'
import { findPublished, findRelease, requireComplete } from '#src/domains/releases/queries.ts'
import { OperatorError } from '#src/errors.ts'
import type { Leniency } from '#src/ingest/checks/judgement.ts'
import { type Publishing, publishChecked } from '#src/ingest/publish.ts'
import { shortNumber } from '#src/lib/round.ts'
import { changeText, numberText } from './change-texts.ts'
import { compareForOperator, readPercent } from './comparison.ts'

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
