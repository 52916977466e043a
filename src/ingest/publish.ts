import type { ReleaseIssue } from '#src/catalog/release-checks.ts'
import {
  type DueOutcome,
  type DueRelease,
  findPrevious,
  publishRelease,
  requireComplete,
  storeIssues,
} from '#src/catalog/release-queries.ts'
import { findTimeToPublication, publishNextDue } from '#src/catalog/schedule-queries.ts'
import type { Trx } from '#src/data/tables.ts'
import { OperatorError } from '#src/errors.ts'
import type { App } from '#src/http/app.ts'
import { MINUTE_MS } from '#src/lib/dates.ts'
import { allowedChecks, inspectAgain, type Leniency, refusalText, refusingChecks } from './checks/index.ts'

export interface Publishing {
  code: string
  /** Otherwise the findings say why. */
  published: boolean
  replaced: string | undefined
  findings: ReleaseIssue[]
}

/** @returns a refusal, or the replaced release */
export async function publishDue(
  trx: Trx,
  { code, allowed, strict, scheduledBy }: DueRelease,
): Promise<DueOutcome> {
  try {
    const leniency = { allow: allowed, strict }
    const { published, replaced, findings } = await publishChecked(trx, code, leniency, { scheduledBy })
    return published ? { replaced } : { refusal: refusalText(findings) }
  } catch (error) {
    if (error instanceof OperatorError) return { refusal: error.message }
    throw error
  }
}

export async function rollBackChecked(trx: Trx, code: string, leniency: Leniency): Promise<Publishing> {
  return publishChecked(trx, await findPrevious(trx, code), leniency, { returns: true })
}

export async function publishChecked(
  trx: Trx,
  code: string,
  leniency: Leniency,
  { returns, scheduledBy }: { returns?: boolean; scheduledBy?: string } = {},
): Promise<Publishing> {
  const { publishedAt } = await requireComplete(trx, code)
  if (publishedAt !== null) return { code, published: true, replaced: undefined, findings: [] }
  const findings = await inspectAgain(trx, code, leniency, { returns })
  if (refusingChecks(findings).length > 0) return { code, published: false, replaced: undefined, findings }
  await storeIssues(trx, code, findings)
  return {
    code,
    published: true,
    replaced: await publishRelease(trx, code, { allowed: allowedChecks(findings), scheduledBy, returns }),
    findings,
  }
}

/** A release that is published so much later than it was to be has waited for a service. */
const LATE_MS = 2 * MINUTE_MS

/**
 * Publishes releases at their time, in one process at a time. A release that is scheduled for less than a minute ahead may
 * be a minute late. A release that fails waits until the next look.
 */
export function publishOnSchedule(app: App): void {
  const { writer, patientWriter } = app.database
  let failedInThisLook: number[] = []

  async function publishNext(): Promise<boolean | number> {
    const failed = failedInThisLook
    // However the look ends, the next one tries them again.
    failedInThisLook = []
    const time = await findTimeToPublication(writer, failed)
    if (time === undefined) return false
    if (time > 0) return time
    const trial = await publishNextDue(patientWriter, publishDue, failed)
    if (!trial) return false
    if ('failure' in trial) {
      const { code } = trial.due
      app.logFailure(trial.failure, `the scheduled release ${code} was not published; will retry`)
      failedInThisLook = [...failed, trial.id]
    } else {
      logOutcome(app, trial.due, trial.outcome)
      failedInThisLook = failed
    }
    return true
  }

  app.jobs.add(
    'publish-scheduled',
    { atOnce: true, failure: 'scheduled releases were not published; will retry' },
    publishNext,
  )
}

function logOutcome({ log }: App, { code, publishAt, scheduledBy }: DueRelease, outcome: DueOutcome): void {
  const line = { release: code, publish_at: publishAt, scheduled_by: scheduledBy, ...outcome }
  if ('refusal' in outcome) log.error(line, 'a scheduled release is not published: the checks refuse it')
  else if (Date.now() - publishAt.getTime() < LATE_MS) log.info(line, 'a scheduled release is published')
  else log.warn(line, 'a scheduled release is published late: it has waited for a service and its database')
}
