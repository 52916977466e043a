import type { Kysely } from 'kysely'
import type { Tables } from '#src/data/tables.ts'
import type { App } from '#src/http/app.ts'
import { MINUTE_MS } from '#src/http/jobs.ts'
import type { LogFailure } from '#src/http/plugins/failure-log.ts'
import { cacheLastValue } from '#src/lib/cache.ts'
import { type DueOutcome, type DueRelease, publishesSynthetic } from './release-queries.ts'
import { findTimeToNext, type PublishDue, publishNextDue } from './schedule-queries.ts'

/** A release that is published so much later than it was to be has waited for a service. */
const LATE_MS = 2 * MINUTE_MS

/**
 * Publishes releases at their time, in one process at a time. A release that is scheduled for less than a minute ahead may
 * be a minute late. A release that fails waits until the next look.
 */
export function publishOnSchedule(app: App, publish: PublishDue): void {
  const { writer, patientWriter } = app.database
  let failedInThisLook: number[] = []

  async function publishNext(): Promise<boolean | number> {
    const failed = failedInThisLook
    // However the look ends, the next one tries them again.
    failedInThisLook = []
    const time = await findTimeToNext(writer, failed)
    if (time === undefined) return false
    if (time > 0) return time
    const trial = await publishNextDue(patientWriter, publish, failed)
    if (!trial) return false
    if ('failure' in trial) {
      const { code } = trial.due
      app.logFailure(trial.failure, `the scheduled release ${code} could not be published yet`)
      failedInThisLook = [...failed, trial.id]
    } else {
      tell(app, trial.due, trial.outcome)
      failedInThisLook = failed
    }
    return true
  }

  app.jobs.add('publish-scheduled', publishNext)
}

function tell({ log }: App, { code, publishAt, scheduledBy }: DueRelease, outcome: DueOutcome): void {
  const line = { release: code, publish_at: publishAt, scheduled_by: scheduledBy, ...outcome }
  if ('refusal' in outcome) log.error(line, 'a scheduled release is not published: the checks refuse it')
  else if (Date.now() - publishAt.getTime() < LATE_MS) log.info(line, 'a scheduled release is published')
  else log.warn(line, 'a scheduled release is published late: it has waited for a service and its database')
}

/**
 * Makes what tells the page of the documentation whether synthetic values are published: without a database
 * what was last known, or that none are, since none are answered then.
 */
export function createSyntheticNotice(
  db: Kysely<Tables>,
  maxAgeMs: number,
  logFailure: LogFailure,
): () => Promise<boolean> {
  return cacheLastValue<boolean>('synthetic notice', {
    load: () => publishesSynthetic(db),
    initial: () => false,
    ttlMs: maxAgeMs,
    warn: (error) => logFailure(error, 'whether synthetic values are published may be old'),
  })
}
