import { sql } from 'kysely'
import { recordOperation } from '#src/data/audit-queries.ts'
import { inTransaction } from '#src/data/sql.ts'
import type { Db, Tables, Trx } from '#src/data/tables.ts'
import { OperatorError } from '#src/errors.ts'
import {
  deleteRasters,
  lockReleases,
  type ReleaseRow,
  refuseRunning,
  requireRelease,
} from './release-queries.ts'
import { deleteSchedule, findSchedule, recordUnscheduled } from './schedule-queries.ts'

interface Deletable extends ReleaseRow {
  /** Whether it is to be published at a time to come. */
  waits: boolean
}

/** Tables of extensions that say something of releases, by `release_id`: it goes with the tiles. */
export const OF_RELEASES: (keyof Tables)[] = []

/** Deletes a release with its tiles. The row of a complete one stays: answers have named its code. */
export function deleteRelease(
  trx: Trx,
  code: string,
  force: boolean,
  deleted?: (part: number) => void,
): Promise<void> {
  return deleteWherePermitted(trx, () => requireDeletable(trx, code, force), deleted)
}

/** `permit` throws where it may not; it is called before the rasters go, and then under the lock of releases. */
async function deleteWherePermitted(
  trx: Trx,
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
    for (const table of OF_RELEASES) {
      await sql`delete from ${sql.table(table)} where release_id = ${id}`.execute(trx)
    }
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
export async function requireDeletable(trx: Trx, code: string, force: boolean): Promise<Deletable> {
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

/** Undoes the deletion of a release that is to stay. */
class NotPrunable extends OperatorError {}

/** The releases beyond the newest unpublished ones of their series. Real and synthetic ones count for themselves. */
export async function listPrunable(db: Db, keep: number): Promise<string[]> {
  const { rows } = await sql<{ code: string }>`
    select code
    from (
      select
        release.id,
        code,
        row_number() over (
          partition by product, country_code, crop_code, forecast_period, synthetic order by version desc
        ) as rank
      from release
      where status = 'ready' and not exists (select from publication where release_id = release.id)
    ) as unpublished
    where rank > ${keep}::integer
      and not exists (select from publication where previous_release_id = unpublished.id)
      and not exists (
        select from scheduled_publication where release_id = unpublished.id and refused_at is null
      )
    order by code`.execute(db)
  return rows.map(({ code }) => code)
}

/** Deletes a release; false where it was published or deleted since it was listed. */
export async function pruneRelease(
  db: Db,
  code: string,
  keep: number,
  deleted: (part: number) => void,
): Promise<boolean> {
  try {
    await inTransaction(db, (trx) => {
      const permit = async () => {
        if ((await listPrunable(trx, keep)).includes(code)) return requireDeletable(trx, code, false)
        throw new NotPrunable(`${code} is not to be pruned any more.`)
      }
      return deleteWherePermitted(trx, permit, deleted)
    })
    return true
  } catch (error) {
    if (error instanceof NotPrunable) return false
    throw error
  }
}

/** Whether a release is published and replaced none that is still there. */
export async function isFirst(db: Db, code: string): Promise<boolean> {
  const first = await db
    .selectFrom('publication')
    .innerJoin('release', 'release.id', 'publication.release_id')
    .select('release.id')
    .where('release.code', '=', code)
    .where('previous_release_id', 'is', null)
    .executeTakeFirst()
  return first !== undefined
}

/** Withdraws a release that replaced none. It stays, and can be published again. */
export async function withdrawRelease(trx: Trx, code: string): Promise<void> {
  await lockReleases(trx)
  const release = await requireRelease(trx, code)
  if (!(await isFirst(trx, code))) {
    throw new OperatorError(`${code} was published or rolled back meanwhile: nothing was done.`)
  }
  await trx.deleteFrom('publication').where('release_id', '=', release.id).execute()
  await recordOperation(trx, { kind: 'release_withdrawn', detail: { release: code } })
}
