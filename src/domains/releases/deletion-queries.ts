import { sql, type Transaction } from 'kysely'
import type { Tables } from '#src/database/tables.ts'
import { recordOperation } from '#src/domains/audit/queries.ts'
import { OperatorError } from '#src/errors.ts'
import { deleteRasters, lockReleases, type ReleaseRow, refuseRunning, requireRelease } from './queries.ts'
import { deleteSchedule, findSchedule, recordUnscheduled } from './schedule-queries.ts'

/** A release that may be deleted. */
interface Deletable extends ReleaseRow {
  /** Whether it is to be published at a time to come. */
  waits: boolean
}

/**
 * Deletes a release with its tiles. The row of a complete one stays, so that its code, which answers
 * have named, is never given to other values. While its rasters go, which takes time, others may be published.
 *
 * @param force deletes it even though it is published or scheduled
 * @param deleted is told which part of its rasters is gone, from 0 to 1
 * @throws {OperatorError} when the release is published or scheduled and `force` is not given, or it is being loaded
 */
export function deleteRelease(
  trx: Transaction<Tables>,
  code: string,
  force: boolean,
  deleted?: (part: number) => void,
): Promise<void> {
  return deleteWherePermitted(trx, () => requireDeletable(trx, code, force), deleted)
}

/**
 * Does so where a release may be deleted, by whatever rule.
 *
 * @param permit throws where it may not; it is asked before the rasters go, and under the lock of releases after that
 */
export async function deleteWherePermitted(
  trx: Transaction<Tables>,
  permit: () => Promise<Deletable>,
  deleted?: (part: number) => void,
): Promise<void> {
  const { id, code } = await permit()
  await deleteRasters(trx, id, deleted)
  await lockReleases(trx)
  // It may have been published or scheduled meanwhile: then all of it is still there.
  const { status, publishedAt, waits } = await permit()
  await trx.deleteFrom('publication').where('release_id', '=', id).execute()
  await trx
    .updateTable('publication')
    .set({ previous_release_id: null })
    .where('previous_release_id', '=', id)
    .execute()
  if (status === 'loading') {
    await trx.deleteFrom('release').where('id', '=', id).execute()
  } else {
    await deleteSchedule(trx, id)
    if (waits) await recordUnscheduled(trx, code)
    await trx
      .updateTable('release')
      .set({ status: 'deleted', deleted_at: sql<Date>`now()` })
      .where('id', '=', id)
      .execute()
    const detail = { release: code, published: publishedAt !== null }
    await recordOperation(trx, { kind: 'release_deleted', detail })
  }
}

/** @throws {OperatorError} where a release may not be deleted */
export async function requireDeletable(
  trx: Transaction<Tables>,
  code: string,
  force: boolean,
): Promise<Deletable> {
  const release = await requireRelease(trx, code)
  refuseRunning(release)
  if (release.publishedAt && !force) {
    throw new OperatorError(`${code} is published: roll it back or publish another first, or use --force.`)
  }
  const schedule = await findSchedule(trx, release.id)
  const waits = schedule !== undefined && schedule.refusedAt === null
  if (waits && !force) {
    throw new OperatorError(
      `${code} is to be published at ${schedule.publishAt.toISOString()}: take that back with \`agro releases unschedule ${code}\` first, or use --force.`,
    )
  }
  return { ...release, waits }
}
