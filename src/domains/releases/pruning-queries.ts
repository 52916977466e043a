import { type Kysely, sql } from 'kysely'
import type { Tables } from '#src/database/tables.ts'
import { inTransaction } from '#src/database/transaction.ts'
import { OperatorError } from '#src/errors.ts'
import { deleteWherePermitted, requireDeletable } from './deletion-queries.ts'

/** Undoes the deletion of a release that is to stay. */
class Kept extends OperatorError {}

/**
 * The releases that may go where of each series so many of those that are not published are kept, the newest: the rest of
 * them, but for what a publication would be rolled back to, what is to be published at a time to come and what is still
 * loading. In the order of their codes.
 *
 * Of a series, real and synthetic releases count for themselves.
 */
export async function listPrunable(db: Kysely<Tables>, keep: number): Promise<string[]> {
  const { rows } = await sql<{ code: string }>`
    select code
    from (
      select
        release.id,
        code,
        row_number() over (
          partition by product, country_code, crop_code, forecast_period, synthetic order by version desc
        ) as place
      from release
      where status = 'ready' and not exists (select from publication where release_id = release.id)
    ) as unpublished
    where place > ${keep}::integer
      and not exists (select from publication where previous_release_id = unpublished.id)
      and not exists (
        select from scheduled_publication where release_id = unpublished.id and refused_at is null
      )
    order by code`.execute(db)
  return rows.map(({ code }) => code)
}

/**
 * Deletes a release that may go. While its rasters go, others may be published.
 *
 * @param deleted is told which part of its rasters is gone, from 0 to 1
 * @returns whether it was deleted: it may have been published or deleted since it was listed, and then nothing of it is gone
 */
export async function pruneRelease(
  db: Kysely<Tables>,
  code: string,
  keep: number,
  deleted: (part: number) => void,
): Promise<boolean> {
  try {
    await inTransaction(db, (trx) => {
      const permit = async () => {
        if ((await listPrunable(trx, keep)).includes(code)) return requireDeletable(trx, code, false)
        throw new Kept(`${code} is not to be pruned any more.`)
      }
      return deleteWherePermitted(trx, permit, deleted)
    })
    return true
  } catch (error) {
    if (error instanceof Kept) return false
    throw error
  }
}
