import { type Kysely, sql } from 'kysely'
import type { TileStoreName } from '#src/database/release-tables.ts'
import type { Tables } from '#src/database/tables.ts'
import { isoTime } from '#src/database/time.ts'

/** What has become of a release. */
export interface ReleaseState {
  id: number
  status: 'loading' | 'ready' | 'deleted'
  store: TileStoreName
  /** ISO time; null where it is there, or that was not recorded. */
  deletedAt: string | null
  /** When it was first published, and when it no longer was, as ISO times; null where it never was, and where it is. */
  publishedFrom: string | null
  publishedTo: string | null
}

/** @returns undefined where there never was such a release */
export async function findReleaseState(db: Kysely<Tables>, code: string): Promise<ReleaseState | undefined> {
  const { rows } = await sql<ReleaseState>`
    select
      release.id,
      status,
      tile_store as store,
      ${isoTime('deleted_at')} as "deletedAt",
      ${isoTime('period.published_from')} as "publishedFrom",
      ${isoTime('period.published_to')} as "publishedTo"
    from release
    cross join lateral (
      select
        min(published_from) as published_from,
        case when count(*) = count(published_to) then max(published_to) end as published_to
      from release_period
      where release_id = release.id
    ) as period
    where code = ${code}`.execute(db)
  return rows[0]
}
