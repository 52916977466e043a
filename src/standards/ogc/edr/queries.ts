import { type Kysely, sql } from 'kysely'
import type { Tables } from '#src/data/tables.ts'
import type { Rectangle } from '../answers.ts'

/** What a release says of itself beside its values. */
export interface ReleaseFacts {
  id: number
  /** Of all its coverages, in decimal degrees. */
  extent: Rectangle
  source: string
  licence: string
}

/** Of some releases, those that have been deleted left out. */
export async function listReleaseFacts(db: Kysely<Tables>, ids: number[]): Promise<ReleaseFacts[]> {
  const { rows } = await sql<ReleaseFacts>`
    select
      release.id,
      json_build_array(min(west), min(south), max(east), max(north)) as extent,
      source,
      licence
    from release
    join coverage on coverage.release_id = release.id
    where release.id = any(${ids}::bigint[])
    group by release.id`.execute(db)
  return rows
}
