import type { Kysely, Transaction } from 'kysely'
import type { Tables } from '#src/database/tables.ts'
import { recordOperation } from '#src/domains/audit/queries.ts'
import { OperatorError } from '#src/errors.ts'
import { lockReleases, requireRelease } from './queries.ts'

/** Whether a release is published and took the place of none that is still there. */
export async function isFirst(db: Kysely<Tables>, code: string): Promise<boolean> {
  const first = await db
    .selectFrom('publication')
    .innerJoin('release', 'release.id', 'publication.release_id')
    .select('release.id')
    .where('release.code', '=', code)
    .where('previous_release_id', 'is', null)
    .executeTakeFirst()
  return first !== undefined
}

/**
 * Withdraws a release that took the place of none: its series is as it was before. It stays, and can be published again.
 *
 * @throws {OperatorError} where it is not published, or took the place of one
 */
export async function withdrawRelease(trx: Transaction<Tables>, code: string): Promise<void> {
  await lockReleases(trx)
  const release = await requireRelease(trx, code)
  if (!(await isFirst(trx, code))) {
    throw new OperatorError(`${code} was published or rolled back meanwhile: nothing was done.`)
  }
  await trx.deleteFrom('publication').where('release_id', '=', release.id).execute()
  await recordOperation(trx, { kind: 'release_withdrawn', detail: { release: code } })
}
