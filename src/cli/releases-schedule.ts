import { Command } from 'commander'
import type { Transaction } from 'kysely'
import {
  refusePast,
  requireUnpublished,
  scheduleRelease,
  unscheduleRelease,
} from '#src/catalog/schedule-queries.ts'
import type { CheckName, Finding } from '#src/data/rights.ts'
import { inTransaction } from '#src/data/sql.ts'
import type { Tables } from '#src/data/tables.ts'
import { OperatorError } from '#src/errors.ts'
import { inspectAgain } from '#src/ingest/checks/index.ts'
import { type Leniency, refusingChecks } from '#src/ingest/checks/judgement.ts'
import { allowOption, STRICT_OPTION, sayFindings } from './comparison.ts'
import { withDatabase } from './database.ts'
import { readTime, timeText } from './table.ts'
import { JSON_OPTION, type Output, print, refuse, withExamples } from './terminal.ts'

interface ScheduleOptions extends Output {
  at: Date
  allow: CheckName[]
  strict?: boolean
}

export const scheduleCommand = new Command('schedule')
  .description(
    'Schedule the publication of a complete release. The checks run now and again at that time; a refused release stays unpublished.',
  )
  .argument('<release>', 'its code')
  .requiredOption(
    '--at <time>',
    'the time, for example 2026-12-01T06:00Z; a date means its start in UTC',
    readTime,
  )
  .addOption(allowOption())
  .option(...STRICT_OPTION)
  .option(...JSON_OPTION)
  .action((code: string, { at, allow, strict, ...output }: ScheduleOptions) =>
    withDatabase(async ({ writer }) => {
      await refusePast(writer, at)
      const findings = await inTransaction(writer, (trx) => scheduleChecked(trx, code, at, { allow, strict }))
      sayFindings(findings)
      const refusing = refusingChecks(findings)
      if (refusing.length > 0) {
        const sentence = `${code} is not scheduled: mend it, or schedule it with --allow ${refusing.join()}.`
        refuse(
          output,
          { scheduled: null, publishAt: null, findings },
          new OperatorError(sentence, { code: 'CHECKS' }),
        )
      }
      print(
        output,
        { scheduled: code, publishAt: at, findings },
        `${code} is to be published at ${timeText(at)} UTC by the services that run then.`,
      )
    }),
  )
withExamples(
  scheduleCommand,
  'agro releases schedule yield-eth-wheat-2026-12-v1 --at 2026-12-01T06:00Z',
  'agro releases schedule yield-eth-wheat-2026-12-v1 --at 2026-12-01T06:00Z --allow range',
)

/** @returns the findings of the checks */
export async function scheduleChecked(
  trx: Transaction<Tables>,
  code: string,
  publishAt: Date,
  leniency: Leniency,
): Promise<Finding[]> {
  await requireUnpublished(trx, code)
  const findings = await inspectAgain(trx, code, leniency)
  if (refusingChecks(findings).length === 0) {
    const { allow, strict = false } = leniency
    await scheduleRelease(trx, code, { publishAt, allowed: [...allow], strict })
  }
  return findings
}

export const unscheduleCommand = new Command('unschedule')
  .description('Cancel a scheduled publication, or clear its refusal.')
  .argument('<release>', 'its code')
  .option(...JSON_OPTION)
  .action((code: string, output: Output) =>
    withDatabase(async ({ writer }) => {
      await inTransaction(writer, (trx) => unscheduleRelease(trx, code))
      print(output, { unscheduled: code }, `${code} is not scheduled any more.`)
    }),
  )
withExamples(unscheduleCommand, 'agro releases unschedule yield-eth-wheat-2026-12-v1')
