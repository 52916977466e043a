import { type Kysely, sql, type Transaction } from 'kysely'
import type { Tables } from '#src/database/tables.ts'
import { deleteRelease, lockReleases } from './queries.ts'

/**
 * The releases that may go where of each series so many of those that are not published are kept, the newest: the rest of
 * them, but for what a publication would be rolled back to and what is still loading. In the order of their codes.
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
    order by code`.execute(db)
  return rows.map(({ code }) => code)
}

/**
 * Deletes a release that may go.
 *
 * @returns whether it was deleted: it may have been published or deleted since it was listed
 */
export async function pruneRelease(trx: Transaction<Tables>, code: string, keep: number): Promise<boolean> {
  await lockReleases(trx)
  if (!(await listPrunable(trx, keep)).includes(code)) return false
  await deleteRelease(trx, code, false)
  return true
}
